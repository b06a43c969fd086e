import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { fileClock } from './adapters/clock/file.ts'
import { systemClock } from './adapters/clock/system.ts'
import { memoryCounters } from './adapters/counters/memory.ts'
import { diskFiles } from './adapters/files/disk.ts'
import { secretsUnder } from './adapters/secrets/master-key.ts'
import { areas as allAreas } from './areas/index.ts'
import { type Config, ConfigError } from './config.ts'
import { openDirectory } from './http/directory.ts'
import { docsPage } from './http/docs-page.ts'
import { createFileDoor } from './http/file-door.ts'
import { rateLimits } from './http/limits.ts'
import { listen } from './http/listener.ts'
import { createLongReads } from './http/long-reads.ts'
import { createObserver } from './http/observe.ts'
import { openApi } from './http/openapi.ts'
import { createPipeline } from './http/pipeline.ts'
import { createProxyTrust } from './http/proxy.ts'
import { createPublicPages } from './http/public-pages.ts'
import { createRouter } from './http/router.ts'
import { localCertificates } from './install/certificates.ts'
import { holdToMasterKey } from './install/identity.ts'
import { masterKey } from './install/master-key.ts'
import type { Area } from './kit/area.ts'
import type { AdjustableClock, Counters, Files, Secrets, Tools } from './kit/ports.ts'
import { within } from './kit/time-limit.ts'
import type { Database } from './storage/database.ts'
import { migrate } from './storage/migrate.ts'
import { lockFolder, openSqlite, sqliteFile } from './storage/sqlite.ts'
import { houseTables } from './storage/tables.ts'
import { createWorkers, type Workers } from './workers/workers.ts'

/** The only place that chooses and connects parts. */

// Together below the ten seconds in which a supervisor expects a process to end.
const drainMilliseconds = 6_000
const workersStopMilliseconds = 2_000
const closeMilliseconds = 1_000
// A request that waits for work in hand, while others make more of it, is answered all the same.
const settleMilliseconds = 2_500

export interface Options {
  areas?: Area[]
  clock?: AdjustableClock
  /** Hold every reply against its schema; for tests. */
  strict?: boolean
}

/** Everything below the doors: what the command line needs too. */
export interface House {
  config: Config
  areas: Area[]
  database: Database
  tools: Tools
  workers: Workers
  close(): Promise<void>
}

/** Whether there is anything to open: a database server, or the file of the embedded database. */
export function installExists(config: Config): boolean {
  return config.databaseUrl !== undefined || existsSync(join(config.data, sqliteFile))
}

/** The embedded database is for one server. */
function takeFolder(config: Config): () => void {
  if (config.databaseUrl) return () => {}
  mkdirSync(config.data, { recursive: true, mode: 0o700 })
  const release = lockFolder(config.data)
  if (!release) throw new ConfigError(`PARLEY_DATA names a folder that another server is using: ${config.data}.`)
  return release
}

/** What only the scaled install needs is loaded only there: drivers are a good part of a start. */
export async function openDatabase(config: Config): Promise<Database> {
  mkdirSync(config.data, { recursive: true, mode: 0o700 })
  if (!config.databaseUrl) return openSqlite(join(config.data, sqliteFile))
  const { openPostgres } = await import('./storage/postgres.ts')
  return openPostgres(config.databaseUrl.reveal(), config.databaseConnections, {
    connectionsMax: config.readers,
    seconds: config.readSeconds,
  })
}

async function openCounters(config: Config, secrets: Secrets, log: Logger): Promise<Counters> {
  if (!config.redisUrl) return memoryCounters()
  const { redisCounters } = await import('./adapters/counters/redis.ts')
  // All nodes of an install share its master key, and no two installs do.
  const install = secrets.fingerprint('counters').slice(0, 12)
  return redisCounters(config.redisUrl.reveal(), install, (error) => log.warn({ err: error }, 'Redis is in trouble'))
}

const secondsPerHour = 3600
const bytesPerMegabyte = 1_000_000

async function openFiles(config: Config): Promise<Files> {
  const { s3Bucket: bucket, s3AccessKey, s3SecretKey } = config
  if (!bucket || !s3AccessKey || !s3SecretKey) return diskFiles(join(config.data, 'files'))
  const { s3Files } = await import('./adapters/files/s3.ts')
  return s3Files({
    bucket,
    endpoint: config.s3Endpoint,
    region: config.s3Region,
    accessKey: s3AccessKey.reveal(),
    secretKey: s3SecretKey.reveal(),
  })
}

export async function openHouse(config: Config, log: Logger, options: Options = {}): Promise<House> {
  const secrets = secretsUnder(masterKey(config, !installExists(config)))
  const database = await openDatabase(config)
  const areas = (options.areas ?? allAreas).filter((area) => area.mount !== 'emulator' || config.emulator)
  const files = await openFiles(config)
  const tools: Tools = {
    clock: options.clock ?? (config.emulator ? fileClock(join(config.data, 'clock.json')) : systemClock()),
    secrets,
    timings: { ringSeconds: config.ringSeconds, leaseSeconds: config.leaseSeconds },
    place: { region: config.region, domain: config.domain, port: config.publicPort ?? config.port },
    tenantTables: [...houseTables, ...areas.flatMap((area) => area.tables)],
    quotas: { appsMax: config.appsMax },
    files,
    fileLimits: {
      bytesMax: config.fileMegabytesMax * bytesPerMegabyte,
      countMax: config.filesMax,
      urlSeconds: config.fileUrlHours * secondsPerHour,
      stallSeconds: config.uploadStallSeconds,
    },
    settle: () => workers.settle(settleMilliseconds),
  }
  const workers = createWorkers(database, areas, () => tools, config.logRetentionDays, log)
  await migrate(
    database,
    areas.map((area) => area.migrations),
  )
  await database.writeAlone((connection) => holdToMasterKey(connection, tools.secrets))
  const close = async () => {
    await files.close()
    await database.close()
  }
  return { config, areas, database, tools, workers, close }
}

export interface Service {
  house: House
  port: number
  caFile: string
  stop(): Promise<void>
}

/** Opens the house and its doors. What is opened is closed in reverse, each part with time to finish. */
export async function startService(config: Config, log: Logger, options: Options = {}): Promise<Service> {
  const releaseFolder = takeFolder(config)
  const house = await openHouse(config, log, options)
  const { database, tools, areas, workers } = house
  const counters = await openCounters(config, tools.secrets, log)
  const observer = createObserver(log)
  const trust = createProxyTrust(config.trustProxy)
  const certificates = await certificatesFor(config)
  let stopping = false

  const directory = openDirectory(database, tools.secrets)
  const handle = createPipeline({
    database,
    directory,
    limits: rateLimits(counters, {
      core: config.coreRequestsPerMinute,
      standard: config.standardRequestsPerMinute,
      sendMessage: config.messagesPerMinute,
      markUnread: config.unreadPerMinute,
    }),
    longReads: createLongReads(database, { atOnce: config.readers, seconds: config.readSeconds }),
    observer,
    // A process that only works keeps its port for health and metrics.
    route: createRouter(config.roles.includes('api') ? areas : []),
    tools,
    domain: config.domain,
    strict: options.strict ?? false,
    isSecure: trust.isSecure,
  })
  const fileDoor = config.roles.includes('api') ? createFileDoor({ database, directory, observer, tools }) : undefined
  const publicPage = createPublicPages({
    observer,
    unreadyReasons: async () => {
      const trouble = await databaseTrouble(database, log)
      // Asked last: an answer that is on its way when the process is told to stop must say so.
      return stopping ? ['stopping', ...trouble] : trouble
    },
    metricsToken: config.metricsToken?.reveal(),
    clientAddress: trust.clientAddress,
    openApi: () => openApi(areas),
    docsPage: () => docsPage(areas),
  })
  const listener = await listen({ host: config.host, port: config.port, ...certificates }, (request, response) => {
    const openly = trust.isSecure(request) ? (publicPage(request) ?? fileDoor?.(request)) : undefined
    const answered = openly ? openly(response) : handle(request, response)
    answered.catch((error) => {
      log.error({ err: error }, 'a request could not be answered')
      response.destroy()
    })
  })
  tools.place.port = config.publicPort ?? listener.port
  // Loaded behind the open door, so that neither the start nor the first write waits for it.
  void import('typebox/compile')
  if (config.roles.includes('worker')) workers.start()

  return {
    house,
    port: listener.port,
    caFile: certificates.caFile,
    async stop() {
      stopping = true
      await listener.drain(drainMilliseconds)
      const late = (part: string) => () => log.warn(`${part} did not finish in time and is left`)
      await within(workersStopMilliseconds, workers.stop(), late('the work in hand'))
      await counters.close()
      await within(closeMilliseconds, house.close(), late('the database'))
      releaseFolder()
    },
  }
}

async function certificatesFor(config: Config) {
  if (config.tlsCert && config.tlsKey) {
    return {
      cert: readFileSync(config.tlsCert, 'utf8'),
      key: readFileSync(config.tlsKey, 'utf8'),
      caFile: config.tlsCert,
    }
  }
  return localCertificates(config.data, config.domain)
}

const readinessMilliseconds = 1_000

/** Whether the database answers. What it says when it does not is for the log, not for whoever asks. */
async function databaseTrouble(database: Database, log: Logger): Promise<string[]> {
  const silent = ['the database does not answer']
  try {
    const asked = Promise.resolve(database.reader.run('SELECT 1', []))
    return await within(
      readinessMilliseconds,
      asked.then(() => []),
      () => silent,
    )
  } catch (error) {
    log.error({ err: error }, 'the database does not answer')
    return silent
  }
}
