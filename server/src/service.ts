import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { type House, type HouseOptions, openHouse, takeFolder } from './compose.ts'
import { type Config, limitIn } from './config.ts'
import { openDirectory } from './dispatch/directory.ts'
import { createDispatch, type Dispatch } from './dispatch/dispatch.ts'
import { type Doors, openDoors } from './dispatch/doors/doors.ts'
import { eventsByName } from './dispatch/events-by-name.ts'
import { rateLimits, type Window } from './dispatch/limits.ts'
import { createLongReads } from './dispatch/long-reads.ts'
import { ratesOf } from './dispatch/rates.ts'
import { type Registry, registryOf } from './dispatch/registry.ts'
import { type Gateway, openGateway } from './gateway/gateway.ts'
import type { GatewayPatience } from './gateway/patience.ts'
import { docsPage } from './http/docs-page.ts'
import { createFileDoor } from './http/file-door.ts'
import { listen } from './http/listener.ts'
import { createObserver, type Observer } from './http/observe.ts'
import { openApiText } from './http/openapi.ts'
import { createPageDoor, type PageSet } from './http/page-door.ts'
import { madePage } from './http/page-files.ts'
import { type Patience, usualPatience } from './http/patience.ts'
import { createPipeline } from './http/pipeline.ts'
import { createProxyTrust, type ProxyTrust } from './http/proxy.ts'
import { createPublicPages } from './http/public-pages.ts'
import { createRealtimeDoor } from './http/realtime-door.ts'
import { headProblem } from './http/request-head.ts'
import { createRouter } from './http/router.ts'
import { ticketKeysUnder } from './http/ticket-keys.ts'
import { localCertificates, namesMissing } from './install/certificates.ts'
import { openDataFolder } from './install/data-folder.ts'
import type { Area } from './kit/area.ts'
import type { Rate } from './kit/limits.ts'
import type { ServiceAddress } from './kit/ports.ts'
import { type Started, startAll } from './plain/started.ts'
import { within } from './plain/time-limit.ts'
import { countDead } from './storage/job-rows.ts'
import { DatabaseUnavailable } from './storage/unavailable.ts'
import { openTail } from './workers/tail.ts'

// What `pages` are made of.
export type { ContentPolicy, PageSet } from './http/page-door.ts'
export { filesIn, madeFile, type PageFiles } from './http/page-files.ts'

/** Opens the house and its doors. */

// Together below the ten seconds in which a supervisor expects a process to end.
const drainMilliseconds = 6_000
const workersStopMilliseconds = 2_000
const lastNotesMilliseconds = 500
const closeMilliseconds = 1_000
// Well below the shortest lease of a device in a call, whose signs of life are among the notes.
const noteMilliseconds = 2_000
// A database that is started together with the server takes a moment longer.
const databasePatienceSeconds = 30
const millisecondsPerSecond = 1000
const bytesPerMegabyte = 1_000_000

export interface Options extends HouseOptions {
  /** Hold every reply against its schema; for tests. */
  strict?: boolean
  /** Where clients are given less time, or more, than usual; for tests. */
  patience?: Partial<Patience>
  /** The same for devices that stay connected. */
  livePatience?: Partial<GatewayPatience>
  /** What browsers can open besides the reference. */
  pages?: PageSet[]
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
    const { patience = {}, livePatience = {}, pages = [] } = options
    const port = await openFrontDoor(house, floor, log, { certificates, started, patience, livePatience, pages })
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

function windowsOf(config: Config, rates: Rate[]): Map<string, Window> {
  return new Map(rates.map((rate) => [rate.name, { limit: limitIn(config, rate), seconds: rate.seconds }]))
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

/** What devices are connected to; it hears of all that happens, on whichever node. */
function gatewayIn(
  { database, tools, areas, reader }: House,
  { doors, dispatch, registry, limits }: ReturnType<typeof dispatchIn>,
  { begin, end }: Observer,
  log: Logger,
  patience: Partial<GatewayPatience>,
): Promise<Gateway> {
  const tail = openTail(reader, eventsByName(areas), log)
  reader.start()
  return openGateway({ database, tools, areas, tail, doors, dispatch, registry, limits, begin, end, log, patience })
}

interface FrontDoor {
  certificates: { cert: string; key: string }
  patience: Partial<Patience>
  livePatience: Partial<GatewayPatience>
  pages: PageSet[]
  started: Started
}

/** Lets requests in; answers the port at which. */
async function openFrontDoor(
  house: House,
  floor: ReturnType<typeof dispatchIn>,
  log: Logger,
  { certificates, patience, livePatience, pages, started }: FrontDoor,
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
  const gateway = config.roles.includes('api') ? await gatewayIn(house, floor, observer, log, livePatience) : undefined
  started.add(() => gateway?.close())
  const listener = await listen(
    { host: config.host, port: config.port, ...certificates, ticketKeys: ticketKeysUnder(tools.secrets) },
    answering(house, floor, { pages, observer, trust, log, unreadyReasons }),
    { ...usualPatience, stallMilliseconds: config.downloadStallSeconds * millisecondsPerSecond, ...patience },
    {
      connectionsMax: config.connectionsMax,
      connectionsPerAddressMax: config.connectionsPerAddressMax,
      isProxy: trust.isTrusted,
      heldBytesMax: config.heldMegabytesMax * bytesPerMegabyte,
    },
    gateway && createRealtimeDoor({ domain: config.domain, isSecure: trust.isSecure, accept: gateway.accept }),
  )
  started.add(async () => {
    stopping = true
    await Promise.all([listener.drain(drainMilliseconds), gateway?.drain(drainMilliseconds)])
  })
  observer.watch(listener.figures)
  if (gateway) observer.watchGateway(gateway.figures)
  observer.watchMedia(tools.media.figures)
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
    { at: '/openapi.json', policy: {}, files: madePage('.json', () => openApiText(areas, place)) },
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
