import { laneOf } from '../kit/job.ts'
import type { Tools } from '../kit/ports.ts'
import type { AppFacts, Brought, Settings, View, Work } from '../kit/work.ts'
import { gate } from '../plain/gate.ts'
import type { Connection } from '../storage/connection.ts'
import { destinationOf } from '../storage/destination.ts'
import { preparedRows, type TenantDb, tenantDb } from '../storage/tenant.ts'

/** How an app's facts are read, where nobody has brought them along. */
export const storedFacts = gate(
  'storedFacts',
  async (_db: TenantDb): Promise<AppFacts> => ({ settings: {} as Settings, createdAt: 0 }),
)

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
    device: brought?.device,
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
