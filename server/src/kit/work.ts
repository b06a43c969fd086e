import type { Static, TSchema } from 'typebox'
import { gate } from '../plain/gate.ts'
import type { Connection } from '../storage/connection.ts'
import { destinationOf } from '../storage/destination.ts'
import { preparedRows, type TenantDb, tenantDb } from '../storage/tenant.ts'
import type { EventDefinition } from './event.ts'
import { type JobDefinition, laneOf } from './job.ts'
import type { Tools } from './ports.ts'

/** What an app is set to; the area that keeps it says what there is. */
// biome-ignore lint/suspicious/noEmptyInterface: filled where settings are kept
export interface Settings {}

/** What is known of an app besides its records. */
export interface AppFacts {
  settings: Settings
  createdAt: number
}

/** What is known already of an app and of whoever does something in it. */
export interface Brought extends AppFacts {
  /** The connected device that asks for it; events keep it, so that it is not told what it knows. */
  device?: string | undefined
}

/** How an app's facts are read, where nobody has brought them along. */
export const storedFacts = gate(
  'storedFacts',
  async (_db: TenantDb): Promise<AppFacts> => ({ settings: {} as Settings, createdAt: 0 }),
)

/** What code that only reads works with. */
export interface View {
  db: TenantDb
  now: number
  tools: Tools
  /** What the app is set to: as the door remembers it, or read once. */
  settings(): Promise<Settings>
  /** When the app was created; known in the same way. */
  createdAt(): Promise<number>
}

/** What code inside a transaction works with, whoever called it: an operation, a follower or a job. */
export interface Work extends View {
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

type NewEvent = { name: string; payload: string; at: number; device: string | null }

const addEvents = preparedRows<NewEvent, unknown>((db, rows) => db.insert('events', rows))
const eventsAtOnce = 500

/** Binds a connection to one app, for reading. `brought` is what is known of the app already. */
export function viewIn(
  connection: Connection,
  appId: string,
  tools: Tools,
  now = tools.clock.now(),
  brought?: AppFacts,
): View {
  const db = tenantDb(connection, appId)
  let known = brought && Promise.resolve(brought)
  const facts = () => {
    known ??= storedFacts.ask(db)
    return known
  }
  return {
    db,
    now,
    tools,
    settings: async () => (await facts()).settings,
    createdAt: async () => (await facts()).createdAt,
  }
}

/** Binds a transaction to one app. */
export function workIn(
  connection: Connection,
  appId: string,
  tools: Tools,
  now = tools.clock.now(),
  brought?: Brought,
): Work {
  const view = viewIn(connection, appId, tools, now, brought)
  const { db } = view
  const device = brought?.device ?? null
  const emitEach: Work['emitEach'] = async ({ name, forms }, payloads) => {
    const kept = forms ? payloads.map((payload) => forms.kept(payload, { appId: db.appId, tools })) : payloads
    const rows = kept.map((payload) => ({ name, payload: JSON.stringify(payload), at: now, device }))
    for (let n = 0; n < rows.length; n += eventsAtOnce) await addEvents(db, rows.slice(n, n + eventsAtOnce))
  }
  return {
    ...view,
    emit: (event, payload) => emitEach(event, [payload]),
    emitEach,
    async later(definition, payload, { key, at = now, destination }) {
      const { name } = definition
      const lane = laneOf(definition)
      const place = { lane, destination: destinationOf(lane, name, destination) }
      await db
        .insert('jobs', { name, ...place, key, payload: JSON.stringify(payload), run_at: at })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
  }
}
