import { type AppClient, assertSucceeds, type Caller, callerAt, type House } from '../house.ts'
import type { Made, Stage } from '../sample.ts'
import { as, say, sayIn } from '../talk.ts'

/**
 * Those who watch: `client` does what there is to do, `milo` is whom they talk to, `fay` their friend, and `bo` somebody
 * whom they have blocked.
 */
export const watchers = ['client', 'milo', 'fay', 'bo'] as const

export interface Scene extends Stage {
  clients: Map<string, Caller>
}

let scenes = 0

/** A new app in which the watchers have a past: a group, conversations of two, a thread, a reaction, a ban. */
export async function newScene(house: House): Promise<Scene> {
  scenes += 1
  const app = await house.app(`scene ${scenes}`)
  const clients = new Map<string, Caller>()
  for (const uid of [...watchers, 'gus', 'gil', 'ida', 'jon']) {
    const { authToken } = assertSucceeds(await app.post('/users', { uid, name: uid, withAuthToken: true })).data
    clients.set(uid, callerAt(house.client, app.host, '/v3', { authToken }))
  }
  const circle = {
    guid: 'circle',
    name: 'Circle',
    members: { moderators: ['milo'], participants: ['fay', 'bo', 'gus'] },
  }
  assertSucceeds(await app.post('/groups', circle, as('client')))
  assertSucceeds(await app.delete('/groups/circle/members/gus'))
  assertSucceeds(await app.post('/groups/circle/members', { usersToBan: ['gus'] }))
  const { id } = await sayIn(app, 'circle', 'fay', 'Who is <@uid:client>?')
  await sayIn(app, 'circle', 'milo', 'A friend', { parentId: id })
  assertSucceeds(await app.post(`/messages/${id}/reactions/wave`, {}, as('bo')))
  await say(app, 'fay', 'client')
  await say(app, 'bo', 'client')
  await say(app, 'milo', 'fay')
  assertSucceeds(await app.post('/users/client/friends', { accepted: ['fay'] }))
  assertSucceeds(await app.post('/users/client/blockedusers', { blockedUids: ['bo'] }))
  pass(house)
  return { house, app, clients }
}

/** Later than all that was: moments that are told can be told apart. */
export function pass(house: House): void {
  house.clock.setOffset(house.clock.offsetSeconds() + 10)
}

/** Brings the watchers to the records that an operation is about. */
export async function surround({ app, house }: Stage, { guid, uid, id }: Made): Promise<void> {
  pass(house)
  if (guid !== undefined) await fill(app, guid)
  if (uid !== undefined) {
    assertSucceeds(await app.post(`/users/${uid}/friends`, { accepted: ['fay'] }))
    await say(app, uid, 'fay')
  }
  if (id !== undefined) await answer(app, id)
  pass(house)
}

async function fill(app: AppClient, guid: string): Promise<void> {
  assertSucceeds(await app.post(`/groups/${guid}/members`, { participants: ['fay', 'bo'] }))
  await sayIn(app, guid, 'fay')
}

async function answer(app: AppClient, id: string): Promise<void> {
  const { receiver, receiverType } = assertSucceeds(await app.get(`/messages/${id}`)).data
  if (receiverType === 'group') return
  const reply = { receiver: 'client', receiverType: 'user', data: { text: 'Yes?' }, parentId: id }
  assertSucceeds(await app.post('/messages', reply, as(receiver)))
  assertSucceeds(await app.post(`/messages/${id}/reactions/wave`, {}, as(receiver)))
}
