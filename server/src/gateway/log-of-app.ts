import type { EventsByName } from '../dispatch/events-by-name.ts'
import type { TailedEvent } from '../dispatch/tail.ts'
import type { EventDefinition } from '../kit/event.ts'
import { mapInTurns } from '../plain/map-in-turns.ts'
import type { EventRow } from '../storage/tables.ts'
import { prepared, type TenantDb } from '../storage/tenant.ts'

/** What the log of an app holds, for those who were away for longer than memory reaches. */
export interface LogOfApp {
  /** How many events lie between two, but no more than are asked about. */
  count(db: TenantDb, after: number, upTo: number, most: number): Promise<number>
  /** The first of those between two, in order, and where they end: there may be events there that nobody knows any more. */
  page(db: TenantDb, after: number, upTo: number): Promise<{ events: TailedEvent[]; end: number }>
  /** Those of them that decide who hears what: all that the turns of a history depend on. Nothing, if they are too many. */
  turns(db: TenantDb, after: number, upTo?: number): Promise<TailedEvent[] | undefined>
  eventOf(row: EventRow): TailedEvent | undefined
}

const eventsPerPage = 100
const turnsMax = 1_000

const isTurn = ({ joins, leaves, changesSightOf, retracts, ends }: EventDefinition) =>
  Boolean(joins ?? leaves ?? changesSightOf ?? retracts ?? ends)

export function logOfApp(events: EventsByName): LogOfApp {
  const turning = [...events.values()].filter(isTurn).map(({ name }) => name)

  function eventOf({ id, app_id, name, payload, at, device }: EventRow): TailedEvent | undefined {
    const definition = events.get(name)
    return definition && { id, appId: app_id, definition, payload: JSON.parse(payload), kept: payload, at, device }
  }

  // Each may be as large as a message can be.
  const known = async (rows: EventRow[]) => (await mapInTurns(rows, eventOf)).filter((event) => event !== undefined)
  const between = (db: TenantDb, after: number, upTo: number) =>
    db.select('events').where('events.id', '>', after).where('events.id', '<=', upTo)

  const turnsBetween = prepared<{ after: number; upTo: number }, EventRow>((db, { after, upTo }) =>
    between(db, after, upTo)
      .selectAll('events')
      .where('events.name', 'in', turning)
      .orderBy('events.id')
      .limit(turnsMax),
  )

  return {
    async count(db, after, upTo, most) {
      const rows = await between(db, after, upTo).select('events.id').orderBy('events.id').limit(most).execute()
      return rows.length
    },
    async page(db, after, upTo) {
      const page = between(db, after, upTo).selectAll('events').orderBy('events.id').limit(eventsPerPage)
      const rows = await page.execute()
      const last = rows.length < eventsPerPage ? undefined : rows.at(-1)
      return { events: await known(rows), end: last?.id ?? upTo }
    },
    async turns(db, after, upTo = Number.MAX_SAFE_INTEGER) {
      const rows = await turnsBetween(db, { after, upTo })
      return rows.length < turnsMax ? known(rows) : undefined
    },
    eventOf,
  }
}
