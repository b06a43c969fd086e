import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { EventsByName } from '../dispatch/events-by-name.ts'
import type { Tail, TailedEvent } from '../kit/tail.ts'
import type { Database } from '../storage/database.ts'
import type { EventRow } from '../storage/tables.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import { createLoop, pollMilliseconds } from './loop.ts'

// So much of the log is in memory at a time, however far behind it is.
const eventsPerPage = 200
// After so long others have their turn.
const turnMilliseconds = 10

export function openTail(database: Database, events: EventsByName, log: Logger): Tail {
  const subscribers = new Set<(event: TailedEvent) => void>()
  const begun = Promise.withResolvers<number>()
  let position: number | undefined
  let caughtUpAt = performance.now()
  let isClosed = false

  /** The position moves with what was heard and with nothing else: a look that fails is repeated from there. */
  async function readOn(): Promise<boolean> {
    const lookedAt = performance.now()
    position ??= await database.logEnd()
    begun.resolve(position)
    const rows = await database.eventsAfter(position, eventsPerPage)
    await tellAll(rows)
    if (rows.length === eventsPerPage) return true
    caughtUpAt = lookedAt
    return false
  }

  async function tellAll(rows: EventRow[]): Promise<void> {
    let since = performance.now()
    for (const row of rows) {
      if (isClosed) return
      tell(row)
      position = row.id
      if (performance.now() - since < turnMilliseconds) continue
      await nextTurn()
      since = performance.now()
    }
  }

  function tell({ id, app_id, name, payload, at }: EventRow): void {
    const definition = events.get(name)
    if (!definition || subscribers.size === 0) return
    const event = { id, appId: app_id, definition, payload: JSON.parse(payload), at }
    for (const hear of subscribers) {
      try {
        hear(event)
      } catch (error) {
        log.error({ err: error, event: name, id }, 'somebody could not hear an event; the others do')
      }
    }
  }

  const loop = createLoop(readOn, {
    failed(error) {
      // That the database is away is told once, by whoever is connected to it.
      if (!(error instanceof DatabaseUnavailable))
        log.error({ err: error }, 'the log cannot be heard; it is tried again')
    },
  })
  const stopWaking = database.onWake(loop.wake)
  const timer = setInterval(loop.wake, pollMilliseconds).unref()
  loop.wake()

  return {
    begun: begun.promise,
    position: () => position,
    behindMilliseconds: () => performance.now() - caughtUpAt,
    subscribe(hear) {
      subscribers.add(hear)
      return () => subscribers.delete(hear)
    },
    close() {
      isClosed = true
      clearInterval(timer)
      stopWaking()
      loop.stop()
    },
  }
}
