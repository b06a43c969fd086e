import { type AppClient, assertSucceeds, type House } from '../house.ts'
import { banOf, memberOf, messageOf } from './fetch-own.ts'
import { type AppState, type Json, keyed } from './state.ts'

/** Scopes are alike, and one of them will do. */
export const scopeWatched = 'moderator'

type Fetch = (path: string) => Promise<Json>

/** All that an app's back end would fetch. What is secret is not in it: no event has keys and tokens. */
export async function fetchApp({ management }: House, app: AppClient): Promise<AppState> {
  const data: Fetch = async (path) => assertSucceeds(await app.get(path)).data
  const managed: Fetch = async (path) => assertSucceeds(await management.get(`/apps/${app.id}${path}`)).data
  const [users, groups, roles, messages, pinned, settings, team, catalogue] = await Promise.all([
    data('/users?withTags=true&withDeactivated=true&perPage=1000'),
    data('/groups?withTags=true&perPage=1000'),
    data('/roles?perPage=1000'),
    data('/messages?withTags=true&affix=append&id=0&limit=1000'),
    data('/conversations/pinned'),
    managed('/settings'),
    managed('/collaborators'),
    data('/roles/default/permissions?perPage=1000'),
  ])
  const state: AppState = {
    users: keyed(users, 'uid'),
    groups: keyed(groups, 'guid'),
    roles: keyed(roles, 'role'),
    messages: keyed(messages, 'id', messageOf),
    pinned: keyed(pinned, 'conversationId', ({ pinnedAt }) => pinnedAt),
    settings,
    team: keyed(team, 'email', ({ role }) => role),
    usual: { role: keyed(catalogue, 'id', ({ defaultValue }) => defaultValue) },
    ...{ members: {}, bans: {}, scopes: {}, friends: {}, blocks: {}, permissions: {}, restricted: {} },
  }
  await Promise.all([
    ...Object.keys(state.groups).map((guid) => fetchGroup(state, data, guid)),
    ...Object.values(state.users).map((user) => fetchUser(state, data, user)),
    ...Object.keys(state.roles).map((role) => fetchRole(state, data, role)),
  ])
  // As every group begins; nobody has changed anything in this one.
  state.usual.scope = state.scopes.circle
  return state
}

async function fetchGroup(state: AppState, data: Fetch, guid: string): Promise<void> {
  state.members[guid] = keyed(await data(`/groups/${guid}/members?perPage=1000`), 'uid', memberOf)
  state.bans[guid] = keyed(await data(`/groups/${guid}/bannedusers`), 'uid', banOf)
  const permissions = await data(`/groups/${guid}/scopes/${scopeWatched}/permissions?perPage=1000`)
  state.scopes[guid] = keyed(permissions, 'id', ({ value }) => value)
}

async function fetchUser(state: AppState, data: Fetch, { uid, deactivatedAt }: Json): Promise<void> {
  if (deactivatedAt !== undefined) return
  state.friends[uid] = keyed(await data(`/users/${uid}/friends?perPage=1000`), 'uid', () => true)
  state.blocks[uid] = keyed(await data(`/users/${uid}/blockedusers`), 'uid', ({ blockedByMeAt }) => blockedByMeAt)
}

async function fetchRole(state: AppState, data: Fetch, role: string): Promise<void> {
  const permissions = await data(`/roles/${role}/permissions?perPage=1000`)
  state.permissions[role] = keyed(permissions, 'id', ({ value }) => value)
  state.restricted[role] = keyed(await data(`/roles/${role}/restrictedfeatures`), 'key', () => true)
}
