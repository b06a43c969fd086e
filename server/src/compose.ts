import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { fileClock } from './adapters/clock/file.ts'
import { systemClock } from './adapters/clock/system.ts'
import { memoryCounters } from './adapters/counters/memory.ts'
import { secretsUnder } from './adapters/secrets/master-key.ts'
import { areas as allAreas } from './areas/index.ts'
import type { Config } from './config.ts'
import { openDirectory } from './http/directory.ts'
import { docsPage } from './http/docs-page.ts'
import { rateLimits } from './http/limits.ts'
import { listen } from './http/listener.ts'
import { createObserver } from './http/observe.ts'
import { openApi } from './http/openapi.ts'
import { createPipeline } from './http/pipeline.ts'
import { createProxyTrust } from './http/proxy.ts'
import { createPublicPages } from './http/public-pages.ts'
import { createRouter } from './http/router.ts'
import { localCertificates } from './install/certificates.ts'
import { databaseFile, holdToMasterKey, takeFolder } from './install/identity.ts'
import { masterKey } from './install/master-key.ts'
import type { Area } from './kit/area.ts'
import type { AdjustableClock, Counters, Secrets, Tools } from './kit/ports.ts'
import type { Database } from './storage/database.ts'
import { migrate } from './storage/migrate.ts'
import { openSqlite } from './storage/sqlite.ts'
import { houseTables } from './storage/tables.ts'
import { createWorkers, type Workers } from './workers/workers.ts'

/** The only place that chooses and connects parts. */

const drainMilliseconds = 8_000

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

/** What only the scaled install needs is loaded only there: drivers are a good part of a start. */
export async function openDatabase(config: Config): Promise<Database> {
  mkdirSync(config.data, { recursive: true, mode: 0o700 })
  if (!config.databaseUrl) return openSqlite(join(config.data, databaseFile))
  const { openPostgres } = await import('./storage/postgres.ts')
  return openPostgres(config.databaseUrl.reveal(), config.databaseConnections)
}

async function openCounters(config: Config, secrets: Secrets, log: Logger): Promise<Counters> {
  if (!config.redisUrl) return memoryCounters()
  const { redisCounters } = await import('./adapters/counters/redis.ts')
  // All nodes of an install share its master key, and no two installs do.
  const install = secrets.fingerprint('counters').slice(0, 12)
  return redisCounters(config.redisUrl.reveal(), install, (error) => log.warn({ err: error }, 'Redis is in trouble'))
}

export async function openHouse(config: Config, log: Logger, options: Options = {}): Promise<House> {
  const database = await openDatabase(config)
  const areas = (options.areas ?? allAreas).filter((area) => area.mount !== 'emulator' || config.emulator)
  const tools: Tools = {
    clock: options.clock ?? (config.emulator ? fileClock(join(config.data, 'clock.json')) : systemClock()),
    secrets: secretsUnder(masterKey(config)),
    timings: { ringSeconds: config.ringSeconds, leaseSeconds: config.leaseSeconds },
    place: { region: config.region, domain: config.domain },
    tenantTables: [...houseTables, ...areas.flatMap((area) => area.tables)],
    quotas: { appsMax: config.appsMax },
    settle: () => workers.settle(),
  }
  const workers = createWorkers(database, areas, () => tools, config.logRetentionDays, log)
  await migrate(
    database,
    areas.map((area) => area.migrations),
  )
  await database.writeAlone((connection) => holdToMasterKey(connection, tools.secrets))
  return { config, areas, database, tools, workers, close: () => database.close() }
}

export interface Service {
  house: House
  port: number
  caFile: string
  stop(): Promise<void>
}

/** Opens the house and its doors. What is opened is closed in reverse, each part with time to finish. */
export async function startService(config: Config, log: Logger, options: Options = {}): Promise<Service> {
  mkdirSync(config.data, { recursive: true, mode: 0o700 })
  const releaseFolder = config.databaseUrl ? () => {} : takeFolder(config)
  const house = await openHouse(config, log, options)
  const { database, tools, areas, workers } = house
  const counters = await openCounters(config, tools.secrets, log)
  const observer = createObserver(log)
  const trust = createProxyTrust(config.trustProxy)
  const certificates = await certificatesFor(config)
  let stopping = false

  const handle = createPipeline({
    database,
    directory: openDirectory(database, tools.secrets),
    limits: rateLimits(counters, { core: config.coreRequestsPerMinute, standard: config.standardRequestsPerMinute }),
    observer,
    // A process that only works keeps its port for health and metrics.
    route: createRouter(config.roles.includes('api') ? areas : []),
    tools,
    domain: config.domain,
    strict: options.strict ?? false,
    isSecure: trust.isSecure,
  })
  const publicPage = createPublicPages({
    observer,
    unreadyReasons: async () => [...(stopping ? ['stopping'] : []), ...(await databaseTrouble(database))],
    metricsToken: config.metricsToken?.reveal(),
    clientAddress: trust.clientAddress,
    openApi: () => openApi(areas),
    docsPage: () => docsPage(areas),
  })
  const listener = await listen({ host: config.host, port: config.port, ...certificates }, (request, response) => {
    const openly = trust.isSecure(request) ? publicPage(request) : undefined
    void (openly ? openly(response) : handle(request, response))
  })
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
      await workers.stop()
      await counters.close()
      await house.close()
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

async function databaseTrouble(database: Database): Promise<string[]> {
  try {
    await database.reader.run('SELECT 1', [])
    return []
  } catch (error) {
    return [`the database does not answer: ${(error as Error).message}`]
  }
}
