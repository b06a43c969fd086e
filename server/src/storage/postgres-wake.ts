import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { RunStatement } from './connection.ts'
import { allHints, type Hint } from './hints.ts'
import { clientConfig, PostgresSession } from './postgres-pool.ts'

const channel = 'parley'
const comeBackMilliseconds = 1_000
const promptMilliseconds = 5_000
// Hints are sent together that come within this time: each costs a statement, and those who listen a look.
const bundleMilliseconds = 25

/** How nodes that share a database tell each other that there may be something to do. */
export interface OtherNodes {
  tell(hints: Iterable<Hint>): void
  /** Begins to listen, once; until then this node only tells. */
  listen(): void
  stop(): Promise<void>
}

export function connectNodes(url: string, run: RunStatement, heard: (hints: Iterable<Hint>) => void): OtherNodes {
  const self = randomUUID()
  const told = new Set<Hint>()
  let timer: NodeJS.Timeout | undefined
  let listening: ReturnType<typeof keepListening> | undefined

  async function send(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (told.size === 0) return
    const payload = [self, ...told].join(' ')
    told.clear()
    await run('SELECT pg_notify($1, $2)', [channel, payload])
  }

  // Hints that are missed cost no more than the time until the workers look by themselves.
  const sendOrMiss = () => send().catch(() => {})

  function hear(payload = ''): void {
    const [from, ...hints] = payload.split(' ')
    if (from !== self) heard(allHints.filter((hint) => hints.includes(hint)))
  }

  return {
    // Notifying inside a transaction takes a lock that all commits share, so it is sent apart and bundled.
    tell(hints) {
      for (const hint of hints) told.add(hint)
      if (told.size > 0) timer ??= setTimeout(sendOrMiss, bundleMilliseconds).unref()
    },
    listen() {
      listening ??= keepListening(url, hear, () => heard(allHints))
    },
    async stop() {
      await sendOrMiss()
      await listening?.stop()
    },
  }
}

/** Listens on a connection of its own, and comes back by itself when that is lost. */
function keepListening(url: string, hear: (payload?: string) => void, begun: () => void): { stop(): Promise<void> } {
  let stopped = false
  let session: PostgresSession | undefined

  async function listen(): Promise<void> {
    session = new PostgresSession({ ...clientConfig(url, 'parley (listening)'), query_timeout: promptMilliseconds })
    const ended = new Promise<void>((resolve) => {
      session?.once('end', resolve)
    })
    session.on('notification', ({ payload }) => hear(payload))
    try {
      await session.connect()
      await session.query(`LISTEN ${channel}`)
      begun()
      await ended
    } catch {
      void session.end()
    }
  }

  async function goOn(): Promise<void> {
    while (!stopped) {
      await listen()
      if (!stopped) await pause(comeBackMilliseconds, undefined, { ref: false })
    }
  }

  void goOn()
  return {
    async stop() {
      stopped = true
      await session?.end()
    },
  }
}
