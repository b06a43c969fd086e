import { type AppClient, assertSucceeds, type House } from './house.ts'

/** What an area says in its `samples.ts`, so that sweeps over all operations can use its own. */
export interface Samples {
  /** How a record comes about that a path can name, by the name of the parameter. */
  records?: Record<string, (stage: Stage, madeBefore: Made) => Promise<string>>
  /** Bodies that name a record, by operation, where a schema cannot say which there is. */
  bodies?: Record<string, Record<string, unknown>>
  /** What else must be there before an operation can succeed with the body that its schema gives as an example. */
  arrangements?: Record<string, (stage: Stage, made: Made) => Promise<void>>
  /** Events that change nothing of what clients keep, each with the reason; others have a reducer in `client-copy`. */
  unkept?: Record<string, string>
}

export interface Stage {
  house: House
  app: AppClient
}

/** Records by the parameter that names them. */
export type Made = Record<string, string>

let made = 0

/** Another text each time, so that unique names stay unique. */
export function unused(name: string): string {
  made += 1
  return `${name}-${made}`
}

export async function say(
  app: AppClient,
  from: string,
  receiver: string,
  data: object,
  more: object = {},
): Promise<string> {
  const body = { receiver, receiverType: 'user', data, ...more }
  return assertSucceeds(await app.post('/messages', body, { onBehalfOf: from })).data.id
}

/** Somebody besides the sweep's client; they may be there already. */
export async function bringMilo(app: AppClient): Promise<void> {
  await app.post('/users', { uid: 'milo', name: 'Milo' })
}

/** A group of which the sweep's client is an admin, so that what clients may do in one can be tried; its GUID. */
export async function makeGroup(app: AppClient): Promise<string> {
  const body = { guid: unused('guid'), name: 'Sample', members: { admins: ['client'] } }
  return assertSucceeds(await app.post('/groups', body)).data.guid
}

export async function addMember({ app }: Stage, { guid, uid }: Made): Promise<void> {
  assertSucceeds(await app.post(`/groups/${guid}/members`, { participants: [uid] }))
}
