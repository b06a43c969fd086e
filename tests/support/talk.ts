import { randomUUID } from 'node:crypto'
import type { Asking } from '../../server/src/areas/messages/index.ts'
import type { Actor } from '../../server/src/kit/operation.ts'
import { type AppClient, assertSucceeds, type Caller, callerAt, type House } from './house.ts'

/** What tests of conversations say and do before they look. */

export const as = (uid: string) => ({ onBehalfOf: uid })

/** A new app with users of these UIDs. */
export async function appWith(h: House, ...uids: string[]): Promise<AppClient> {
  const app = await h.app(randomUUID())
  for (const uid of uids) assertSucceeds(await app.post('/users', { uid, name: uid.toUpperCase() }))
  return app
}

/** A message as it was answered. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into records freely
type Record = any

/** A user with whom nothing was said yet. */
export async function somebodyIn(app: AppClient): Promise<string> {
  const uid = `u-${randomUUID().slice(0, 8)}`
  assertSucceeds(await app.post('/users', { uid, name: uid }))
  return uid
}

export async function say(
  app: AppClient,
  from: string,
  to: string,
  text = 'Hello',
  more: object = {},
): Promise<Record> {
  const body = { receiver: to, receiverType: 'user', data: { text }, ...more }
  return assertSucceeds(await app.post('/messages', body, as(from))).data
}

export async function sayIn(
  app: AppClient,
  guid: string,
  from: string,
  text = 'Hello',
  more: object = {},
): Promise<Record> {
  return say(app, from, guid, text, { receiverType: 'group', ...more })
}

/** A server that asks for a list of messages, for a user or by itself. */
export function asking(actor: Actor | undefined): Asking {
  return { actor, caller: { kind: 'server', scope: 'fullAccess', keyFingerprint: '' }, now: 0 }
}

/** Acts with the user's own token. */
export async function clientOf(h: House, app: AppClient, uid: string): Promise<Caller> {
  const { authToken } = assertSucceeds(await app.post(`/users/${uid}/auth_tokens`)).data
  return callerAt(h.client, app.host, '/v3', { authToken })
}

export const idsIn = (list: { id: string }[]) => list.map(({ id }) => id)
