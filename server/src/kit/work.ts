import type { Static, TSchema } from 'typebox'
import type { Connection } from '../storage/connection.ts'
import { destinationOf } from '../storage/destination.ts'
import { preparedRows, type TenantDb, tenantDb } from '../storage/tenant.ts'
import type { EventDefinition } from './event.ts'
import { type JobDefinition, laneOf } from './job.ts'
import type { Tools } from './ports.ts'

/** What code inside a transaction works with, whoever called it: an operation, a follower or a job. */
export interface Work {
  db: TenantDb
  now: number
  tools: Tools
  /** Records a fact in the log. */
  emit<Payload extends TSchema>(event: EventDefinition<Payload>, payload: Static<Payload>): Promise<void>
  /** Records many facts of one kind at once. */
  emitEach<Payload extends TSchema>(event: EventDefinition<Payload>, payloads: Static<Payload>[]): Promise<void>
  /** Queues a job; a key that is queued already keeps its first time and payload. A destination has a line of its own. */
  later<Payload extends TSchema>(
    job: JobDefinition<Payload>,
    payload: Static<Payload>,
    options: { key: string; at?: number; destination?: string },
  ): Promise<void>
}

/** Does something in a transaction of an app. */
export type InApp = <T>(work: (work: Work) => Promise<T>) => Promise<T>

const addEvents = preparedRows<{ name: string; payload: string; at: number }, unknown>((db, rows) =>
  db.insert('events', rows),
)
const eventsAtOnce = 500

const toolsByDb = new WeakMap<TenantDb, Tools>()

/** The tools that came with a connection, for records that need them to be shown. */
export function toolsWith(db: TenantDb): Tools {
  const tools = toolsByDb.get(db)
  if (!tools) throw new Error('This connection was not made by workIn.')
  return tools
}

/** Binds a transaction to one app. */
export function workIn(connection: Connection, appId: string, tools: Tools, now = tools.clock.now()): Work {
  return workOn(tenantDb(connection, appId), tools, now)
}

/** The same in a transaction that is bound to its app already. */
export function workOn(db: TenantDb, tools: Tools, now: number): Work {
  toolsByDb.set(db, tools)
  const emitEach: Work['emitEach'] = async ({ name }, payloads) => {
    const rows = payloads.map((payload) => ({ name, payload: JSON.stringify(payload), at: now }))
    for (let n = 0; n < rows.length; n += eventsAtOnce) await addEvents(db, rows.slice(n, n + eventsAtOnce))
  }
  return {
    db,
    now,
    tools,
    emit: (event, payload) => emitEach(event, [payload]),
    emitEach,
    async later(definition, payload, { key, at, destination }) {
      const { name } = definition
      const lane = laneOf(definition)
      const place = { lane, destination: destinationOf(lane, name, destination) }
      await db
        .insert('jobs', { name, ...place, key, payload: JSON.stringify(payload), run_at: at ?? now })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
  }
}
