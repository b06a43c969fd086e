import { data, NotSeen, type Server } from './check.ts'
import type { Caller } from './client.ts'

/** The headers of a server that acts for a user. */
export const as = (uid: string) => ({ headers: { onBehalfOf: uid } })

/** Records of the suite's own; each is gone after the check that made it. */

// biome-ignore lint/suspicious/noExplicitAny: the other side may answer anything
type Shown = any

export async function makeUser(server: Server, profile: object = {}): Promise<Shown> {
  const uid = server.fresh('user')
  const user = data(await server.api.post('/users', { uid, name: `Conformance ${uid}`, ...profile }))
  server.afterwards(() => server.api.delete(`/users/${user.uid}`, { permanent: true }))
  return user
}

/** Several users; answers their UIDs. */
export async function makeUsers(server: Server, count: number): Promise<string[]> {
  const uids: string[] = []
  while (uids.length < count) uids.push((await makeUser(server)).uid)
  return uids
}

export async function makeRole(server: Server, settings?: object): Promise<Shown> {
  const role = server.fresh('role')
  const made = data(await server.api.post('/roles', { role, name: 'Conformance', ...(settings && { settings }) }))
  server.afterwards(() => server.api.delete(`/roles/${role}`))
  return made
}

/** A user of a new role that has these permissions; answers their UID. */
export async function actorWith(server: Server, permissions: object): Promise<string> {
  const { role } = await makeRole(server)
  data(await server.api.put(`/roles/${role}/permissions`, { permissions }))
  return (await makeUser(server, { role })).uid
}

/** A group, with the headers of who makes it. */
export async function makeGroup(
  server: Server,
  profile: object = {},
  sending: { headers?: Record<string, string> } = {},
): Promise<Shown> {
  const body = { guid: server.fresh('group'), name: 'Conformance', ...profile }
  const group = data(await server.api.send('POST', '/groups', { ...sending, body }))
  server.afterwards(() => server.api.delete(`/groups/${group.guid}`))
  return group
}

/**
 * The same server as an app of the check's own sees it, by its chat address and its fullAccess key; for what would take long
 * to clear away. The whole app is scheduled for deletion afterwards, so that nothing in it has to be removed.
 */
export async function inOwnApp(server: Server): Promise<Server> {
  const { management, connection, url } = server
  const [, appId, region] = /\/\/([a-z0-9]+)\.api-([^.]+)\./.exec(url) ?? []
  if (appId === undefined) throw new NotSeen('the address does not name an app')
  if (!management) throw new NotSeen('the suite was not given the management door')
  const answer = await management.api.post('/apps', { name: server.fresh('app'), region, skipSampleData: true })
  if (answer.status === 403) throw new NotSeen('the account has as many apps as it may have')
  const { id, apiKeys } = data(answer)
  server.afterwards(() => management.api.delete(`/apps/${id}`))
  const [full] = Object.values<Shown>(apiKeys).filter(({ scope }) => scope === 'fullAccess')
  const there = url.replace(`//${appId}.`, `//${id}.`)
  const api = connection.caller(there, { apikey: full.apiKey })
  return { ...server, url: there, apiKey: full.apiKey, api, afterwards: () => {} }
}

const sideBySide = 8

/** So many groups that a user owns, several made at a time; where one cannot be made, no other is under way any more. */
export async function makeGroupsOf(server: Server, owner: string, count: number): Promise<void> {
  let left = count
  let failed: unknown
  const makeSome = async () => {
    while (left > 0 && !failed) {
      left -= 1
      await makeGroup(server, {}, as(owner)).catch((error) => {
        failed ??= error
      })
    }
  }
  await Promise.all(Array.from({ length: sideBySide }, makeSome))
  if (failed) throw failed
}

/** A message from one user to another. */
export async function say(server: Server, from: string, receiver: string, more: object = {}): Promise<Shown> {
  const body = { receiver, receiverType: 'user', data: { text: 'Conformance' }, ...more }
  return data(await server.api.send('POST', '/messages', { headers: { onBehalfOf: from }, body }))
}

/** A message from a user to a group. */
export async function sayIn(server: Server, guid: string, from: string): Promise<Shown> {
  return say(server, from, guid, { receiverType: 'group' })
}

/** The door for end users, with a fresh token of this one. */
export async function clientOf(server: Server, uid: string): Promise<Caller> {
  const { authToken } = data(await server.api.post(`/users/${uid}/auth_tokens`, { force: true }))
  return server.connection.caller(server.url, { authToken })
}

export const uidsIn = (list: { uid: string }[]): string[] => list.map(({ uid }) => uid)

export const idsIn = (list: { id: string }[]): string[] => list.map(({ id }) => id)

export const guidsIn = (list: { guid: string }[]): string[] => list.map(({ guid }) => guid)

/** A path below a user of the check's own. */
export const below = (path: string) => async (server: Server) => `/users/${(await makeUser(server)).uid}${path}`

/** A path below a role of the check's own. */
export const belowRole = (path: string) => async (server: Server) => `/roles/${(await makeRole(server)).role}${path}`

/** A path below a user who is deactivated. */
export const belowDeactivated = (path: string) => async (server: Server) => {
  const { uid } = await makeUser(server)
  data(await server.api.delete(`/users/${uid}`))
  return `/users/${uid}${path}`
}
