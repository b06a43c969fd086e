import type { Database } from '../storage/database.ts'
import type { EventRow } from '../storage/tables.ts'
import type { LogReader } from './log-reader.ts'

const keptMax = 1_000
const charactersMax = 4_000_000
const eventsPerBatch = 100

/** The events after a position, a batch at a time; nothing where this node has not heard of any yet. */
export type EventsAfter = (position: number) => Promise<EventRow[]>

/**
 * Keeps what was read of the log last. Followers mostly stand at its end and find there what comes next; only those who
 * are far behind ask the database.
 */
export function keepRecentEvents(reader: LogReader, database: Database): EventsAfter {
  const kept: EventRow[] = []
  let characters = 0
  /** All events after this one are kept, as far as the log was read. */
  let start: number | undefined

  reader.subscribe((rows, from) => {
    // The log was set back, or a page is read once more.
    if (from < (kept.at(-1)?.id ?? from)) forgetAll()
    start ??= from
    for (const row of rows) {
      kept.push(row)
      characters += row.payload.length
    }
    while (kept.length > keptMax || characters > charactersMax) forgetOldest()
  })

  function forgetAll(): void {
    kept.length = 0
    characters = 0
    start = undefined
  }

  function forgetOldest(): void {
    const oldest = kept.shift() as EventRow
    characters -= oldest.payload.length
    start = oldest.id
  }

  return async (position) => {
    const known = start ?? reader.position()
    if (known === undefined || position < known || reader.isInDoubt())
      return database.eventsAfter(position, eventsPerBatch)
    const first = kept.findIndex(({ id }) => id > position)
    return first < 0 ? [] : kept.slice(first, first + eventsPerBatch)
  }
}
