import type { Database } from '../storage/database.ts'
import type { EventRow } from '../storage/tables.ts'
import { createLoop, gatherMilliseconds, pollMilliseconds } from './loop.ts'

// So much of the log is read at a time, however far behind this node is.
const eventsPerPage = 200

/** Hears the events after `from`, in order; the log is read on when everybody has heard them. */
export type HearEvents = (rows: EventRow[], from: number) => void | Promise<void>

/** Reads the end of the log, once for all on this node who want to hear of it. */
export interface LogReader {
  /** Where it begins, once it knows: whoever has subscribed by then hears of every event after it. */
  begun: Promise<number>
  /** The last event that everybody has heard of. */
  position(): number | undefined
  /** For how long it has not heard all there was. */
  behindMilliseconds(): number
  /** Answers how to stop hearing. */
  subscribe(hear: HearEvents): () => void
  /** Reads on by itself from now on, if it does not yet: whenever it is told of a commit, and from time to time. */
  start(): void
  /** Reads what is there now; answers whether there was anything. */
  readAll(): Promise<boolean>
  /** Lets it make sure that the log still reaches as far as it has read: a database that was set back has lost events. */
  doubt(): void
  isInDoubt(): boolean
  /** Begins nothing more. */
  stop(): void
}

export function createLogReader(database: Database, failed: (error: unknown) => void): LogReader {
  const subscribers = new Set<HearEvents>()
  const begun = Promise.withResolvers<number>()
  let position: number | undefined
  let inDoubt = false
  let caughtUpAt = performance.now()
  let stopListening = () => {}
  let timer: NodeJS.Timeout | undefined

  async function certainPosition(): Promise<number> {
    if (position !== undefined && !inDoubt) return position
    const end = await database.logEnd()
    inDoubt = false
    return Math.min(position ?? end, end)
  }

  /** The position moves with what was heard and with nothing else: a look that fails is repeated from there. */
  async function readPage(): Promise<number> {
    const lookedAt = performance.now()
    position = await certainPosition()
    begun.resolve(position)
    const rows = await database.eventsAfter(position, eventsPerPage)
    const last = rows.at(-1)
    if (last) {
      for (const hear of subscribers) await hear(rows, position)
      position = last.id
    }
    if (rows.length < eventsPerPage) caughtUpAt = lookedAt
    return rows.length
  }

  async function readPages(): Promise<boolean> {
    try {
      let read = await readPage()
      const anything = read > 0
      while (read === eventsPerPage) read = await readPage()
      return anything
    } catch (error) {
      inDoubt = true
      throw error
    }
  }

  const loop = createLoop(async () => (await readPage()) === eventsPerPage, {
    gatherMilliseconds,
    failed(error) {
      inDoubt = true
      failed(error)
    },
  })

  return {
    begun: begun.promise,
    position: () => position,
    behindMilliseconds: () => performance.now() - caughtUpAt,
    subscribe(hear) {
      subscribers.add(hear)
      return () => subscribers.delete(hear)
    },
    start() {
      if (timer) return
      stopListening = database.onWake('events', loop.wake)
      timer = setInterval(loop.wake, pollMilliseconds).unref()
      loop.wake()
    },
    readAll: () => loop.inTurn(readPages),
    doubt() {
      inDoubt = true
    },
    isInDoubt: () => inDoubt,
    stop() {
      clearInterval(timer)
      stopListening()
      void loop.stop()
    },
  }
}
