import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { fileClock } from './adapters/clock/file.ts'
import { systemClock } from './adapters/clock/system.ts'
import { memoryCounters } from './adapters/counters/memory.ts'
import { diskFiles } from './adapters/files/disk.ts'
import { mediaTrouble } from './adapters/media/checks.ts'
import { noMedia, switchedOff } from './adapters/media/none.ts'
import type { MediaSettings } from './adapters/media/settings.ts'
import { scryptPasswords } from './adapters/passwords/scrypt.ts'
import { picturesInChild } from './adapters/pictures/in-child.ts'
import { memoryPresence } from './adapters/presence/memory.ts'
import { secretsUnder } from './adapters/secrets/master-key.ts'
import { memorySignals } from './adapters/signals/memory.ts'
import { areas as allAreas } from './areas/index.ts'
import type { MediaEngine } from './common/media.ts'
import { type Config, ConfigError, portsIn } from './config.ts'
import { openDataFolder } from './install/data-folder.ts'
import { holdToMasterKey } from './install/identity.ts'
import { masterKey } from './install/master-key.ts'
import type { Area } from './kit/area.ts'
import type {
  AdjustableClock,
  Clock,
  Counters,
  Files,
  Passwords,
  Presence,
  Secrets,
  Signals,
  Tools,
} from './kit/ports.ts'
import { attachAnswers } from './plain/gate.ts'
import { type Started, startAll } from './plain/started.ts'
import { within } from './plain/time-limit.ts'
import type { Database } from './storage/database.ts'
import { migrate } from './storage/migrate.ts'
import { lockFolder, openSqlite, sqliteFile } from './storage/sqlite.ts'
import { houseTables } from './storage/tables.ts'
import { codeOf, DatabaseUnavailable, reasonOf, type TroubleListener } from './storage/unavailable.ts'
import { createLogReader, type LogReader } from './workers/log-reader.ts'
import { createNotes } from './workers/notes.ts'
import { createWorkers, type Workers } from './workers/workers.ts'

/** Chooses and connects parts, up to the doors; `service.ts` goes on from there. No other place does. */

// A request that waits for work in hand, while others make more of it, is answered all the same.
const settleMilliseconds = 2_500
const databasePauseMilliseconds = 500
// It has been told to end by then, and does.
const mediaEndMilliseconds = 700
const secondsPerMinute = 60

export interface HouseOptions {
  areas?: Area[]
  clock?: AdjustableClock
  passwords?: Passwords
  /** Another one than the settings choose; for tests. */
  media?: MediaEngine
  /** Takes part in the install, beside other nodes where there are several. */
  isNode?: boolean
  /** How long to wait for a database that is away; not at all if absent. */
  databasePatienceSeconds?: number
  /** Take only these migration steps: to load what an older version has written. */
  steps?: readonly string[]
}

/** Everything below the doors: what the command line needs too. */
export interface House {
  config: Config
  areas: Area[]
  database: Database
  tools: Tools
  counters: Counters
  /** What happens here and on other nodes. */
  reader: LogReader
  workers: Workers
  close(): Promise<void>
}

/** Whether there is anything to open: a database server, or the file of the embedded database. */
export function installExists(config: Config): boolean {
  return config.databaseUrl !== undefined || existsSync(join(config.data, sqliteFile))
}

/** The embedded database is for one server. */
export function takeFolder(config: Config): () => void {
  if (config.databaseUrl) return () => {}
  const release = lockFolder(config.data)
  if (!release)
    throw new ConfigError(
      `Another server is running on ${config.data}. Stop it, or choose another folder with PARLEY_DATA.`,
    )
  return release
}

/** What only the scaled install needs is loaded only there: drivers are a good part of a start. */
export async function openDatabase(config: Config, log?: Logger): Promise<Database> {
  if (!config.databaseUrl) return openSqlite(join(config.data, sqliteFile), troubleIn(log))
  const { openPostgres } = await import('./storage/postgres.ts')
  return openPostgres(config.databaseUrl.reveal(), config.databaseConnections, troubleIn(log), {
    connectionsMax: config.readers,
    seconds: config.readSeconds,
  })
}

function troubleIn(log: Logger | undefined): TroubleListener {
  return {
    begins: (reason) => log?.warn({ reason }, 'the database is in trouble'),
    isOver: (seconds) => log?.info({ seconds }, 'the trouble with the database is over'),
  }
}

interface Shared {
  counters: Counters
  presence: Presence
  signals: Signals
}

/** What nodes have in common. Whoever only looks into an install, such as the command line, is none of them. */
async function openShared(
  { redisUrl }: Config,
  isNode: boolean,
  { clock, secrets, log, started }: { clock: Clock; secrets: Secrets; log: Logger; started: Started },
): Promise<Shared> {
  if (!redisUrl || !isNode) {
    return { counters: memoryCounters(), presence: memoryPresence(clock), signals: memorySignals() }
  }
  const [{ connectRedis }, { redisCounters }, { redisSignals }, { redisPresence }] = await Promise.all([
    import('./adapters/redis/connection.ts'),
    import('./adapters/counters/redis.ts'),
    import('./adapters/signals/redis.ts'),
    import('./adapters/presence/redis.ts'),
  ])
  // All nodes of an install share its master key, and no two installs do.
  const install = secrets.fingerprint('counters').slice(0, 12)
  const redis = await connectRedis(redisUrl.reveal(), {
    isAway: (reason) => log.warn({ reason: reasonOf(reason) }, 'Redis is away'),
    isBack: (seconds) => log.info({ seconds }, 'Redis is back'),
  })
  started.add(redis.close)
  const signals = redisSignals(redis, install, (error) => log.error({ err: error }, 'a signal was not understood'))
  started.add(signals.close)
  const presence = await redisPresence({ redis, install, signals, clock })
  started.add(presence.close)
  return { counters: redisCounters(redis, install), presence, signals }
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

export function openHouse(config: Config, log: Logger, options: HouseOptions = {}): Promise<House> {
  return startAll(async (started) => {
    const areas = (options.areas ?? allAreas).filter((area) => area.mount !== 'emulator' || config.emulator)
    started.add(attachAnswers(areas))
    openDataFolder(config.data)
    const secrets = secretsUnder(masterKey(config, !installExists(config)))
    const database = await openDatabase(config, log)
    started.add(() => database.close())
    const { counters, ...ports } = await openPorts(config, log, options, secrets, started)
    const tools: Tools = {
      ...ports,
      ...limitsOf(config),
      secrets,
      tenantTables: [...houseTables, ...areas.flatMap((area) => area.tables)],
      notes: createNotes(database),
      async settle() {
        await tools.notes.write()
        await workers.settle(settleMilliseconds)
      },
    }
    const reader = createLogReader(database, (error) => {
      // That the database is away is told once, by whoever is connected to it.
      if (!(error instanceof DatabaseUnavailable))
        log.error({ err: error }, 'the log cannot be read; it is tried again')
    })
    started.add(reader.stop)
    const workers = createWorkers({ database, reader }, areas, () => tools, config.logRetentionDays, log)
    await whenDatabaseIsThere(config, options.databasePatienceSeconds ?? 0, async () => {
      const migrations = areas.map((area) => area.migrations)
      await migrate(database, migrations, options.steps)
      await database.writeAlone((connection) => holdToMasterKey(connection, secrets))
    })
    return { config, areas, database, tools, counters, reader, workers, close: started.stop }
  })
}

/** The outside world, as it is chosen for this install. */
async function openPorts(config: Config, log: Logger, options: HouseOptions, secrets: Secrets, started: Started) {
  const files = await openFiles(config)
  started.add(() => files.close())
  const pictures = picturesInChild((error) => log.warn({ err: error }, 'a picture could not be made small'))
  started.add(() => pictures.close())
  const clock = options.clock ?? (config.emulator ? fileClock(join(config.data, 'clock.json')) : systemClock())
  const shared = await openShared(config, options.isNode ?? false, { clock, secrets, log, started })
  const media = options.media ?? (await openMediaFor(config, log, options.isNode ?? false))
  started.add(() =>
    within(mediaEndMilliseconds, media.close(), () => log.warn('the media engine ends by itself, a moment later')),
  )
  return { clock, passwords: options.passwords ?? scryptPasswords(), files, pictures, media, ...shared }
}

/** Whoever only looks into an install, or has no devices, can tell whether there is media, and has none. */
async function openMediaFor(config: Config, log: Logger, isNode: boolean): Promise<MediaEngine> {
  if (config.media === 'off') return noMedia(async () => switchedOff)
  const settings = mediaSettings(config)
  if (!isNode || !config.roles.includes('api')) return noMedia(() => mediaTrouble(settings))
  const trouble = config.media === 'on' ? await mediaTrouble(settings) : undefined
  if (trouble !== undefined) throw new ConfigError(`PARLEY_MEDIA is on, and there is no media. ${trouble}`)
  const { openMedia } = await import('./adapters/media/open.ts')
  return openMedia(settings, (error, what) => log.error({ err: error }, what))
}

function mediaSettings(config: Config): MediaSettings {
  const { mediaJanus, mediaAddress, mediaPublicAddress, mediaUid, mediaRelay } = config
  const hasRelay = mediaRelay === 'on' || (mediaRelay === 'auto' && mediaPublicAddress !== undefined)
  return {
    folder: join(config.data, 'media'),
    ...(mediaJanus !== undefined && { janus: mediaJanus }),
    ...(mediaAddress !== undefined && { address: mediaAddress }),
    ...(mediaPublicAddress !== undefined && { publicAddress: mediaPublicAddress }),
    ...(mediaUid !== undefined && { uid: mediaUid }),
    ports: portsIn(config.mediaPorts),
    processes: config.mediaProcesses,
    awaitedSeconds: config.leaseSeconds,
    ...(hasRelay && {
      relay: {
        port: config.mediaRelayPort,
        ports: portsIn(config.mediaRelayPorts),
        credentialSeconds: config.mediaRelayMinutes * secondsPerMinute,
      },
    }),
  }
}

function limitsOf(config: Config): Pick<Tools, 'timings' | 'place' | 'quotas' | 'fileLimits'> {
  return {
    timings: { ringSeconds: config.ringSeconds, leaseSeconds: config.leaseSeconds },
    place: { region: config.region, domain: config.domain, port: config.publicPort ?? config.port },
    quotas: { appsMax: config.appsMax },
    fileLimits: {
      bytesMax: config.fileMegabytesMax * bytesPerMegabyte,
      countMax: config.filesMax,
      urlSeconds: config.fileUrlHours * secondsPerHour,
      stallSeconds: config.uploadStallSeconds,
    },
  }
}

/** Does what may be done again, for as long as the database may still come. */
async function whenDatabaseIsThere(
  { databaseUrl }: Config,
  patienceSeconds: number,
  work: () => Promise<void>,
): Promise<void> {
  const deadline = performance.now() + patienceSeconds * 1000
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || !databaseUrl) throw error
      if (performance.now() > deadline || refusesUs.test(codeOf(error.cause))) {
        throw databaseNotThere(databaseUrl.reveal(), error)
      }
      await pause(databasePauseMilliseconds)
    }
  }
}

// The database is there, and knows no such user, password or name.
const refusesUs = /^(28|3D)/

function databaseNotThere(url: string, { cause }: DatabaseUnavailable): Error {
  const { username, host, pathname } = new URL(url)
  const address = `postgres://${username === '' ? '' : `${username}@`}${host}${pathname}`
  return new Error(`The database that PARLEY_DATABASE_URL names, ${address}, cannot be used: ${reasonOf(cause)}.`)
}
