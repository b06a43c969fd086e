import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { MediaUnavailable } from '../../../common/media.ts'
import { within } from '../../../plain/time-limit.ts'
import { boundLog, type Daemon, findDaemon, lastWordsIn, startDaemon } from '../daemon.ts'
import { freeLoopbackPort } from '../loopback-port.ts'
import { engineUser, makeRuntimeFolder, removeRuntimeFolder } from '../runtime-folder.ts'
import type { PortRange } from '../settings.ts'
import { connectJanus, type JanusClient, type JanusHandle } from './client.ts'
import { type JanusConfiguration, janusFiles, janusWords } from './configuration.ts'
import type { RememberedProcess } from './remembered.ts'

/** One process of the engine: started when it is first needed, watched, and started anew when it dies. */
export interface JanusProcess {
  readonly node: string
  isReady(): boolean
  /** Starts it, if need be; fails where it cannot be had in time. */
  ready(): Promise<RunningJanus>
  /** Takes over what an earlier server has left running; nothing, if it is not there or does not answer. */
  takeOver(left: RememberedProcess): Promise<RunningJanus | undefined>
  /** What to remember of it; nothing while it does not run. */
  known(): Omit<RememberedProcess, 'rooms'> | undefined
  restarts(): number
  /** Why the last start failed. */
  trouble(): string | undefined
  /** Ends it; it is started again when it is needed. */
  end(): Promise<void>
  /** Lets go of it, and leaves it running for another server. */
  letGo(): void
}

export interface RunningJanus {
  client: JanusClient
  /** For what is done to rooms and to others in them. */
  control: JanusHandle
  adminKey: string
}

export interface JanusProcessParts {
  node: string
  ports: PortRange
  uid: number | undefined
  preflight(): Promise<{ binary: string; address: string } | { trouble: string }>
  address: string | undefined
  publicAddress: string | undefined
  eventsUrl(): Promise<string>
  times: JanusTimes
  /** Its connection was lost and made anew, and the process has lived on: its sessions are to be claimed. */
  onReconnected(running: RunningJanus): Promise<void>
  /** It has died, with all that was in it. */
  onLost(why: string): void
  /** Whether it is to be started anew at once, or when it is next needed. */
  isNeeded(): boolean
}

export interface JanusTimes {
  answerMilliseconds: number
  startMilliseconds: number
  pingMilliseconds: number
  keepAliveMilliseconds: number
  /** How long a device may take to answer an offer. */
  offerMilliseconds: number
  emptyRoomMilliseconds: number
  idleProcessMilliseconds: number
  /** The pause between two changes of the height of one video, which would hang if they followed each other closely. */
  heightMilliseconds: number
}

export const usualJanusTimes: JanusTimes = {
  answerMilliseconds: 10_000,
  startMilliseconds: 15_000,
  pingMilliseconds: 5_000,
  keepAliveMilliseconds: 20_000,
  offerMilliseconds: 20_000,
  emptyRoomMilliseconds: 60_000,
  idleProcessMilliseconds: 60_000,
  heightMilliseconds: 2_000,
}

const lookMilliseconds = 25
const reconnectMilliseconds = 2_000
const restartPausesMilliseconds = [0, 500, 1_000, 2_000, 5_000, 10_000, 30_000]
const steadyMilliseconds = 60_000
const secretBytes = 24

interface Running extends RunningJanus {
  daemon: Daemon
  known: Omit<RememberedProcess, 'rooms'>
  since: number
}

export function janusProcess(parts: JanusProcessParts): JanusProcess {
  const { node, times } = parts
  let running: Running | undefined
  let starting: Promise<Running> | undefined
  let isEnded = false
  let deaths = 0
  let restarts = 0
  let trouble: string | undefined
  let ping: NodeJS.Timeout | undefined

  function start(): Promise<Running> {
    isEnded = false
    starting ??= startAfterPause().finally(() => {
      starting = undefined
    })
    return starting
  }

  async function startAfterPause(): Promise<Running> {
    const wait = restartPausesMilliseconds[Math.min(deaths, restartPausesMilliseconds.length) - 1] ?? 0
    if (wait > 0) await pause(wait, undefined, { ref: false })
    try {
      const started = await startOne(parts)
      trouble = undefined
      if (isEnded) {
        await endOne(started)
        throw new MediaUnavailable('The media engine is being ended.')
      }
      keep(started)
      return started
    } catch (error) {
      deaths += 1
      trouble = error instanceof Error ? error.message : String(error)
      throw error instanceof MediaUnavailable
        ? error
        : new MediaUnavailable(`The media engine cannot be started: ${trouble}`)
    }
  }

  function keep(started: Running): void {
    running = started
    started.client.onClose(() => void lost(started))
    started.daemon.onExit(() => started.client.close())
    clearInterval(ping)
    ping = setInterval(() => void check(started), times.pingMilliseconds)
    ping.unref()
  }

  /** One that does not answer is let go of, and if it does not answer a new connection either, it is ended. */
  async function check({ client, known }: Running): Promise<void> {
    boundLog(known.folder)
    await client.ping().catch(() => client.close())
  }

  async function lost(gone: Running): Promise<void> {
    if (running !== gone) return
    running = undefined
    clearInterval(ping)
    if (isEnded) return
    if (gone.daemon.isAlive() && (await reconnect(gone))) return
    if (performance.now() - gone.since > steadyMilliseconds) deaths = 0
    deaths += 1
    parts.onLost(lastWordsIn(gone.known.folder))
    await endOne(gone)
    if (isEnded || !parts.isNeeded()) return
    restarts += 1
    await start().catch(() => restartLater())
  }

  /** As often as it takes, with pauses that grow. */
  function restartLater(): void {
    if (isEnded || !parts.isNeeded()) return
    void start().catch(() => restartLater())
  }

  async function reconnect({ known, daemon, since }: Running): Promise<boolean> {
    const again = await adopt(known, daemon, since)
    if (!again) return false
    keep(again)
    await parts.onReconnected(again)
    return true
  }

  async function adopt(known: Running['known'], daemon: Daemon, since: number): Promise<Running | undefined> {
    const connecting = connect(known, times.answerMilliseconds).then((made) => ({ ...made, daemon, known, since }))
    const tooLate = () => {
      void connecting.then(({ client }) => client.close()).catch(() => {})
      return undefined
    }
    return within<Running | undefined>(reconnectMilliseconds, connecting, tooLate).catch(() => undefined)
  }

  return {
    node,
    isReady: () => running !== undefined,
    async ready() {
      if (running) return running
      return within(times.startMilliseconds, start(), () => {
        throw new MediaUnavailable(`The media engine is not ready yet${trouble ? `: ${trouble}` : '.'}`)
      })
    },
    async takeOver({ rooms: _, ...known }) {
      const daemon = findDaemon(known.pid, known.folder)
      const isAsWanted = daemon && known.startedWith === startedWith(parts)
      const again = isAsWanted ? await adopt(known, daemon, performance.now()) : undefined
      if (again) keep(again)
      else await endLeftover(known)
      return again
    },
    known: () => running?.known,
    restarts: () => restarts,
    trouble: () => trouble,
    async end() {
      isEnded = true
      if (starting) await starting.catch(() => {})
      const last = running
      running = undefined
      clearInterval(ping)
      if (last) await endOne(last)
    },
    letGo() {
      isEnded = true
      clearInterval(ping)
      running?.client.close()
      running = undefined
    },
  }
}

async function endOne({ client, daemon, known }: Running): Promise<void> {
  await daemon.end()
  client.close()
  removeRuntimeFolder(known.folder)
}

/** One that an earlier server has left, and nobody wants. */
export async function endLeftover({ pid, folder }: Pick<RememberedProcess, 'pid' | 'folder'>): Promise<void> {
  await findDaemon(pid, folder)?.end()
  removeRuntimeFolder(folder)
}

const startedWith = ({ ports, address, publicAddress, uid }: JanusProcessParts) =>
  JSON.stringify([ports, address ?? null, publicAddress ?? null, uid ?? null])

const secret = () => randomBytes(secretBytes).toString('base64url')

async function startOne(parts: JanusProcessParts): Promise<Running> {
  const found = await parts.preflight()
  if ('trouble' in found) throw new MediaUnavailable(found.trouble)
  const { node, ports, publicAddress, times } = parts
  const apiPort = await freeLoopbackPort()
  const configuration: JanusConfiguration = {
    ...{ node, ports, publicAddress, apiPort, address: found.address, eventsUrl: await parts.eventsUrl() },
    apiSecret: secret(),
    adminKey: secret(),
  }
  const uid = engineUser(parts.uid)
  const folder = makeRuntimeFolder(() => janusFiles(configuration), uid)
  const daemon = await startDaemon({
    binary: found.binary,
    words: janusWords(folder),
    folder,
    ...(uid !== undefined && { uid }),
  })
  const { apiSecret, adminKey } = configuration
  const known = { node, pid: daemon.pid, folder, apiPort, apiSecret, adminKey, startedWith: startedWith(parts) }
  try {
    const made = await whenItAnswers(known, daemon, times)
    return { ...made, daemon, known, since: performance.now() }
  } catch (error) {
    const said = lastWordsIn(folder)
    await daemon.end()
    removeRuntimeFolder(folder)
    throw new Error(`${(error as Error).message}${said && ` (${said})`}`)
  }
}

type Reachable = Pick<RememberedProcess, 'apiPort' | 'apiSecret' | 'adminKey'>

async function whenItAnswers(known: Reachable, daemon: Daemon, times: JanusTimes): Promise<RunningJanus> {
  const deadline = performance.now() + times.startMilliseconds
  for (;;) {
    try {
      return await connect(known, times.answerMilliseconds)
    } catch (error) {
      if (!daemon.isAlive()) throw new Error('It ended as soon as it was started.')
      if (performance.now() > deadline) throw error
      await pause(lookMilliseconds)
    }
  }
}

async function connect({ apiPort, apiSecret, adminKey }: Reachable, answerMilliseconds: number): Promise<RunningJanus> {
  const client = await connectJanus({ port: apiPort, secret: apiSecret, answerMilliseconds })
  try {
    const control = await client.attach(await client.createSession())
    return { client, control, adminKey }
  } catch (error) {
    client.close()
    throw error
  }
}
