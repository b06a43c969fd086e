import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { fileClock } from './adapters/clock/file.ts'
import { systemClock } from './adapters/clock/system.ts'
import { memoryCounters } from './adapters/counters/memory.ts'
import { diskFiles } from './adapters/files/disk.ts'
import { scryptPasswords } from './adapters/passwords/scrypt.ts'
import { picturesInChild } from './adapters/pictures/in-child.ts'
import { memoryPresence } from './adapters/presence/memory.ts'
import { secretsUnder } from './adapters/secrets/master-key.ts'
import { memorySignals } from './adapters/signals/memory.ts'
import { areas as allAreas } from './areas/index.ts'
import { type Config, ConfigError, limitIn } from './config.ts'
import { openDirectory } from './dispatch/directory.ts'
import { createDispatch, type Dispatch } from './dispatch/dispatch.ts'
import { type Doors, openDoors } from './dispatch/doors/doors.ts'
import { rateLimits, type Window } from './dispatch/limits.ts'
import { createLongReads } from './dispatch/long-reads.ts'
import { ratesOf } from './dispatch/rates.ts'
import { type Registry, registryOf } from './dispatch/registry.ts'
import { docsPage } from './http/docs-page.ts'
import { createFileDoor } from './http/file-door.ts'
import { listen } from './http/listener.ts'
import { createObserver, type Observer } from './http/observe.ts'
import { openApiDocument } from './http/openapi.ts'
import { createPageDoor, type PageSet } from './http/page-door.ts'
import { madePage } from './http/page-files.ts'
import { type Patience, usualPatience } from './http/patience.ts'
import { createPipeline } from './http/pipeline.ts'
import { createProxyTrust, type ProxyTrust } from './http/proxy.ts'
import { createPublicPages } from './http/public-pages.ts'
import { headProblem } from './http/request-head.ts'
import { createRouter } from './http/router.ts'
import { localCertificates, namesMissing } from './install/certificates.ts'
import { openDataFolder } from './install/data-folder.ts'
import { holdToMasterKey } from './install/identity.ts'
import { masterKey } from './install/master-key.ts'
import type { Area } from './kit/area.ts'
import type { Rate } from './kit/limits.ts'
import type {
  AdjustableClock,
  Clock,
  Counters,
  Files,
  Passwords,
  Presence,
  Secrets,
  ServiceAddress,
  Signals,
  Tools,
} from './kit/ports.ts'
import { attachAnswers } from './plain/gate.ts'
import { type Started, startAll } from './plain/started.ts'
import { within } from './plain/time-limit.ts'
import type { Database } from './storage/database.ts'
import { countDead } from './storage/job-rows.ts'
import { migrate } from './storage/migrate.ts'
import { lockFolder, openSqlite, sqliteFile } from './storage/sqlite.ts'
import { houseTables } from './storage/tables.ts'
import { codeOf, DatabaseUnavailable, reasonOf, type TroubleListener } from './storage/unavailable.ts'
import { createNotes } from './workers/notes.ts'
import { createWorkers, type Workers } from './workers/workers.ts'

/** The only place that chooses and connects parts. */

// Together below the ten seconds in which a supervisor expects a process to end.
const drainMilliseconds = 6_000
const workersStopMilliseconds = 2_000
const lastNotesMilliseconds = 500
const closeMilliseconds = 1_000
// Well below the shortest lease of a device in a call, whose signs of life are among the notes.
const noteMilliseconds = 2_000
// A request that waits for work in hand, while others make more of it, is answered all the same.
const settleMilliseconds = 2_500
// A database that is started together with the server takes a moment longer.
const databasePatienceSeconds = 30
const databasePauseMilliseconds = 500

export interface Options {
  areas?: Area[]
  clock?: AdjustableClock
  passwords?: Passwords
  /** Hold every reply against its schema; for tests. */
  strict?: boolean
  /** Where clients are given less time, or more, than usual; for tests. */
  patience?: Partial<Patience>
  /** What browsers can open besides the reference. */
  pages?: PageSet[]
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
const millisecondsPerSecond = 1000
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

function windowsOf(config: Config, rates: Rate[]): Map<string, Window> {
  return new Map(rates.map((rate) => [rate.name, { limit: limitIn(config, rate), seconds: rate.seconds }]))
}

export function openHouse(config: Config, log: Logger, options: Options = {}): Promise<House> {
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
    const workers = createWorkers(database, areas, () => tools, config.logRetentionDays, log)
    await whenDatabaseIsThere(config, options.databasePatienceSeconds ?? 0, async () => {
      const migrations = areas.map((area) => area.migrations)
      await migrate(database, migrations, options.steps)
      await database.writeAlone((connection) => holdToMasterKey(connection, secrets))
    })
    return { config, areas, database, tools, counters, workers, close: started.stop }
  })
}

/** The outside world, as it is chosen for this install. */
async function openPorts(config: Config, log: Logger, options: Options, secrets: Secrets, started: Started) {
  const files = await openFiles(config)
  started.add(() => files.close())
  const pictures = picturesInChild((error) => log.warn({ err: error }, 'a picture could not be made small'))
  started.add(() => pictures.close())
  const clock = options.clock ?? (config.emulator ? fileClock(join(config.data, 'clock.json')) : systemClock())
  const shared = await openShared(config, options.isNode ?? false, { clock, secrets, log, started })
  return { clock, passwords: options.passwords ?? scryptPasswords(), files, pictures, ...shared }
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

export interface Service {
  house: House
  /** How operations are run, for callers that do not come over HTTP. */
  doors: Doors
  dispatch: Dispatch
  registry: Registry
  port: number
  caFile: string
  stop(): Promise<void>
}

/** Opens the house and its doors. What is opened is closed in reverse, each part with time to finish. */
export function startService(config: Config, log: Logger, options: Options = {}): Promise<Service> {
  return startAll(async (started) => {
    const addWithin = (milliseconds: number, part: string, stop: () => Promise<void>) =>
      started.add(() => within(milliseconds, stop(), () => log.warn(`${part} did not finish in time and is left`)))
    openDataFolder(config.data)
    started.add(takeFolder(config))
    const house = await openHouse(config, log, { isNode: true, databasePatienceSeconds, ...options })
    addWithin(closeMilliseconds, 'the database', house.close)
    const notes = keepWritingNotes(house, log)
    addWithin(lastNotesMilliseconds, 'the notes', notes.stop)
    const certificates = await certificatesFor(config, log)
    if (config.roles.includes('worker')) house.workers.start()
    addWithin(workersStopMilliseconds, 'the work in hand', house.workers.stop)
    const floor = dispatchIn(house, options)
    const { patience = {}, pages = [] } = options
    const port = await openFrontDoor(house, floor, log, { certificates, started, patience, pages })
    // Loaded behind the open door, so that neither the start nor the first write waits for it.
    void import('typebox/compile')
    const { doors, dispatch, registry } = floor
    return { house, doors, dispatch, registry, port, caFile: certificates.caFile, stop: started.stop }
  })
}

function keepWritingNotes({ tools: { notes } }: House, log: Logger): { stop(): Promise<void> } {
  const write = () =>
    notes.write().catch((error) => {
      if (!(error instanceof DatabaseUnavailable))
        log.error({ err: error }, 'notes could not be written; they are kept')
    })
  const timer = setInterval(() => void write(), noteMilliseconds)
  return {
    stop() {
      clearInterval(timer)
      return write()
    },
  }
}

/** All that runs operations, whoever asks for them. */
function dispatchIn({ config, database, tools, counters, areas }: House, { strict = false }: Options) {
  const directory = openDirectory(database, tools.secrets)
  const limits = rateLimits(counters, windowsOf(config, ratesOf(areas)))
  const longReads = createLongReads(database, { atOnce: config.readers, seconds: config.readSeconds })
  return {
    directory,
    limits,
    doors: openDoors(database, directory, tools.secrets),
    dispatch: createDispatch({ database, directory, limits, longReads, tools, strict }),
    registry: registryOf(areas),
  }
}

interface FrontDoor {
  certificates: { cert: string; key: string }
  patience: Partial<Patience>
  pages: PageSet[]
  started: Started
}

/** Lets requests in; answers the port at which. */
async function openFrontDoor(
  house: House,
  floor: ReturnType<typeof dispatchIn>,
  log: Logger,
  { certificates, patience, pages, started }: FrontDoor,
): Promise<number> {
  const { config, database, tools, areas } = house
  const observer = createObserver(log)
  const trust = createProxyTrust(config.trustProxy)
  let stopping = false
  const trouble = readiness(house, log)
  /** Asked last: an answer that is on its way when the process is told to stop must say so. */
  const unreadyReasons = async () => {
    const reasons = await trouble()
    return stopping ? ['stopping', ...reasons] : reasons
  }
  const listener = await listen(
    { host: config.host, port: config.port, ...certificates },
    answering(house, floor, { pages, observer, trust, log, unreadyReasons }),
    { ...usualPatience, stallMilliseconds: config.downloadStallSeconds * millisecondsPerSecond, ...patience },
    {
      connectionsMax: config.connectionsMax,
      connectionsPerAddressMax: config.connectionsPerAddressMax,
      isProxy: trust.isTrusted,
      heldBytesMax: config.heldMegabytesMax * bytesPerMegabyte,
    },
  )
  started.add(() => {
    stopping = true
    return listener.drain(drainMilliseconds)
  })
  observer.watch(listener.figures)
  const jobNames = areas.flatMap((area) => area.jobs).map(({ name }) => name)
  observer.watchJobs(() => countDead(database, jobNames))
  tools.place.port = config.publicPort ?? listener.port
  return listener.port
}

/** The API of this install, told to people and to programs. */
function reference(areas: Area[], place: ServiceAddress): PageSet[] {
  return [
    {
      at: '/docs',
      policy: { 'style-src': "'unsafe-inline'" },
      files: madePage('.html', () => docsPage(areas, place)),
    },
    { at: '/openapi.json', policy: {}, files: madePage('.json', () => JSON.stringify(openApiDocument(areas, place))) },
  ]
}

interface Answering {
  pages: PageSet[]
  observer: Observer
  trust: ProxyTrust
  log: Logger
  unreadyReasons: () => Promise<string[]>
}

/** How requests are answered: public pages and files to everybody, the rest as operations. */
function answering(
  { config, database, tools, areas }: House,
  { doors, dispatch, registry, directory, limits }: ReturnType<typeof dispatchIn>,
  { pages, observer, trust, log, unreadyReasons }: Answering,
): (request: IncomingMessage, response: ServerResponse) => void {
  // A process that only works keeps its port for health and metrics.
  const isApi = config.roles.includes('api')
  const route = createRouter(isApi ? registry.operations.values() : [])
  const handle = createPipeline({
    ...{ doors, dispatch, observer, route },
    domain: config.domain,
    isSecure: trust.isSecure,
  })
  const fileDoor = isApi ? createFileDoor({ database, directory, limits, observer, tools }) : undefined
  const publicPage = createPublicPages({
    observer,
    unreadyReasons,
    metricsToken: config.metricsToken?.reveal(),
    clientAddress: trust.clientAddress,
  })
  const pageDoor = createPageDoor(observer, [...reference(areas, tools.place), ...pages])
  return (request, response) => {
    const problem = headProblem(request)
    // Nothing of that begins with a version, and nearly all requests do.
    const mayBeOpen = !problem && !request.url?.startsWith('/v') && trust.isSecure(request)
    const openly = mayBeOpen ? (publicPage(request) ?? pageDoor(request) ?? fileDoor?.(request)) : undefined
    const answered = openly ? openly(response) : handle(request, response, problem)
    answered.catch((error) => {
      log.error({ err: error }, 'a request could not be answered')
      response.destroy()
    })
  }
}

async function certificatesFor(config: Config, log: Logger) {
  if (config.tlsCert && config.tlsKey) {
    const cert = readFileSync(config.tlsCert, 'utf8')
    const missing = namesMissing(cert, config.region, config.domain)
    // Whoever uses other names only, such as a single host with the header appid, needs no more than the certificate has.
    if (missing.length > 0) log.warn({ missing }, 'the certificate is not made out to all names of this install')
    return { cert, key: readFileSync(config.tlsKey, 'utf8'), caFile: config.tlsCert }
  }
  return localCertificates(config.data, config.domain)
}

const readinessMilliseconds = 1_000

/** Whether something can be used. What it says when it cannot is for the log, not for whoever asks. */
async function troubleWith(what: string, check: () => Promise<void>, log: Logger): Promise<string[]> {
  try {
    return await within(
      readinessMilliseconds,
      check().then(() => []),
      () => [`${what} does not answer`],
    )
  } catch (error) {
    // An episode of trouble with the database is told once, by whoever watches it.
    if (!(error instanceof DatabaseUnavailable)) log.error({ err: error }, `${what} cannot be used`)
    return [`${what} cannot be used`]
  }
}

/** Reasons why nothing could be answered or stored now. */
function readiness({ database, tools }: House, log: Logger): () => Promise<string[]> {
  const checkFiles = keptForAWhile(tools.files.check)
  return async () => {
    const ofDatabase = await troubleWith('the database', database.check, log)
    return [...ofDatabase, ...(await troubleWith('the file store', checkFiles, log))]
  }
}

const outcomeKeptMilliseconds = 2_000

/** To find out takes a write, and whoever asks may do so as often as they like. */
function keptForAWhile(check: () => Promise<void>): () => Promise<void> {
  let outcome = Promise.resolve()
  let askedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - askedAt > outcomeKeptMilliseconds) {
      askedAt = performance.now()
      outcome = check()
    }
    return outcome
  }
}
