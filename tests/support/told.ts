import assert from 'node:assert/strict'
import { toldOf } from '../../server/src/dispatch/frames.ts'
import { channelKey } from '../../server/src/kit/channel.ts'
import { tenantDb } from '../../server/src/storage/tenant.ts'
import type { AppClient, House } from './house.ts'

/** What webhooks were told about an app, in order. */
export interface Told {
  trigger: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what is told freely
  data: any
}

export async function toldTo(house: House, app: AppClient): Promise<Told[]> {
  return (await logOf(house, app)).flatMap(({ told, toldOfEach }) => [...(told ? [told] : []), ...toldOfEach])
}

/** An event in the log of an app: who is told live, and what webhooks are told. */
export interface Logged {
  name: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads freely
  payload: any
  audience: string[]
  told: Told | undefined
  toldOfEach: Told[]
}

export async function logOf({ service }: House, app: AppClient): Promise<Logged[]> {
  const { database, tools } = service.house
  const rows = await tenantDb(database.reader, app.id)
    .select('events')
    .select(['events.name', 'events.payload'])
    .orderBy('events.id')
    .execute()
  return rows.map(({ name, payload: text }) => {
    const event = service.registry.events.get(name)
    const kept = JSON.parse(text)
    const payload = event ? toldOf(event, kept, { appId: app.id, tools }) : kept
    const { webhook, webhookForEach: each, audience } = event ?? {}
    const told = webhook && { trigger: webhook.trigger, data: webhook.body(payload) }
    const toldOfEach = each?.bodies(payload).map((data) => ({ trigger: each.trigger, data })) ?? []
    return { name, payload, audience: audience?.(payload).map(channelKey) ?? [], told, toldOfEach }
  })
}

/** What the log of an app holds after a position, and where it ends. */
export async function logAfter({ service }: House, app: AppClient, position: number) {
  const rows = await tenantDb(service.house.database.reader, app.id)
    .select('events')
    .select(['events.id', 'events.name', 'events.payload'])
    .where('events.id', '>', position)
    .orderBy('events.id')
    .execute()
  const events = rows.map(({ name, payload }) => {
    const definition = service.registry.events.get(name) ?? assert.fail(name)
    return { definition, payload: JSON.parse(payload) }
  })
  return { events, end: rows.at(-1)?.id ?? position }
}

/** Until users connect by themselves, tests say that they are. */
export function connectUsers({ service }: House, app: AppClient, ...uids: string[]): void {
  for (const uid of uids) service.house.tools.presence.came(app.id, uid)
}
