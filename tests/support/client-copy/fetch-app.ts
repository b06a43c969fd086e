import { type AppClient, assertSucceeds, type House } from '../house.ts'
import { banOf, memberOf, messageOf } from './fetch-own.ts'
import { type AppState, type Json, keyed } from './state.ts'

export const scopes = ['admin', 'moderator', 'participant']

/** All that an app's back end would fetch. What is secret is not in it: no event has keys and tokens. */
export async function fetchApp({ management }: House, app: AppClient): Promise<AppState> {
  const data = async (path: string): Promise<Json> => assertSucceeds(await app.get(path)).data
  const users = keyed(await data('/users?withTags=true&withDeactivated=true&perPage=1000'), ({ uid }) => uid)
  const groups = keyed(await data('/groups?withTags=true&perPage=1000'), ({ guid }) => guid)
  const roles = keyed(await data('/roles?perPage=1000'), ({ role }) => role)
  const state: AppState = {
    users,
    groups,
    roles,
    ...{ members: {}, bans: {}, scopes: {}, friends: {}, blocks: {}, permissions: {}, restricted: {}, usual: {} },
    messages: keyed(await data('/messages?withTags=true&affix=append&id=0&limit=1000'), ({ id }) => id, messageOf),
    pinned: keyed(
      await data('/conversations/pinned'),
      ({ conversationId }) => conversationId,
      ({ pinnedAt }) => pinnedAt,
    ),
    settings: assertSucceeds(await management.get(`/apps/${app.id}/settings`)).data,
    team: keyed(
      assertSucceeds(await management.get(`/apps/${app.id}/collaborators`)).data,
      ({ email }) => email,
      roleOf,
    ),
  }
  const catalogue = await data('/roles/default/permissions?perPage=1000')
  state.usual.role = keyed(
    catalogue,
    ({ id }) => id,
    ({ defaultValue }) => defaultValue,
  )
  for (const guid of Object.keys(groups)) {
    state.members[guid] = keyed(await data(`/groups/${guid}/members?perPage=1000`), ({ uid }) => uid, memberOf)
    state.bans[guid] = keyed(await data(`/groups/${guid}/bannedusers`), ({ uid }) => uid, banOf)
    for (const scope of scopes) {
      const permissions = await data(`/groups/${guid}/scopes/${scope}/permissions?perPage=1000`)
      state.scopes[`${guid} ${scope}`] = keyed(
        permissions,
        ({ id }) => id,
        ({ value }) => value,
      )
    }
  }
  // As every group begins; nobody has changed anything in this one.
  for (const scope of scopes) state.usual[scope] = state.scopes[`circle ${scope}`]
  for (const { uid, deactivatedAt } of Object.values(users)) {
    if (deactivatedAt !== undefined) continue
    state.friends[uid] = keyed(
      await data(`/users/${uid}/friends?perPage=1000`),
      (friend) => friend.uid,
      () => true,
    )
    const blocked = await data(`/users/${uid}/blockedusers`)
    state.blocks[uid] = keyed(
      blocked,
      (other) => other.uid,
      ({ blockedByMeAt }) => blockedByMeAt,
    )
  }
  for (const role of Object.keys(roles)) {
    const permissions = await data(`/roles/${role}/permissions?perPage=1000`)
    state.permissions[role] = keyed(
      permissions,
      ({ id }) => id,
      ({ value }) => value,
    )
    const restricted = await data(`/roles/${role}/restrictedfeatures`)
    state.restricted[role] = keyed(
      restricted,
      ({ key }) => key,
      () => true,
    )
  }
  return state
}

const roleOf = ({ role }: Json) => role
