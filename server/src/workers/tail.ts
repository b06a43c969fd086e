import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { EventsByName } from '../dispatch/events-by-name.ts'
import type { Tail, TailedEvent } from '../dispatch/tail.ts'
import type { EventRow } from '../storage/tables.ts'
import type { LogReader } from './log-reader.ts'

// After so long others have their turn.
const turnMilliseconds = 10

export function openTail(reader: LogReader, events: EventsByName, log: Logger): Tail {
  const subscribers = new Set<(event: TailedEvent) => void>()
  let position: number | undefined
  let isClosed = false

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

  function tell({ id, app_id, name, payload, at, device }: EventRow): void {
    const definition = events.get(name)
    if (!definition || subscribers.size === 0) return
    // Written by JSON.stringify, so it can be read.
    const event = { id, appId: app_id, definition, payload: JSON.parse(payload), at, device, kept: payload }
    for (const hear of subscribers) {
      try {
        hear(event)
      } catch (error) {
        log.error({ err: error, event: name, id }, 'somebody could not hear an event; the others do')
      }
    }
  }

  const stopHearing = reader.subscribe(tellAll)
  const beganAt = reader.position()

  return {
    begun: beganAt === undefined ? reader.begun : Promise.resolve(beganAt),
    position: () => position ?? reader.position(),
    behindMilliseconds: reader.behindMilliseconds,
    subscribe(hear) {
      subscribers.add(hear)
      return () => subscribers.delete(hear)
    },
    close() {
      isClosed = true
      stopHearing()
    },
  }
}
