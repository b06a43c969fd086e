import {
  type Check,
  type CheckedArea,
  check,
  data,
  doneEntry,
  equal,
  failedEntry,
  failure,
  holds,
  NotSeen,
  refusals,
  type Server,
  success,
} from '../check.ts'
import { belowRole, makeRole, makeUser, uidsIn } from '../people.ts'

const rolePermissions = `listUsers listUsers.mode listUsers.allowedRoles getUserDetails.mode getUserDetails.allowedRoles
  sendMessage sendMessage.mode sendMessage.allowedReceiverTypes sendMessage.allowedReceiverRoles
  sendMessage.allowedMessageCategories sendMessage.allowedMessageTypes sendMessage.allowedCustomTypes
  sendMessage.allowedMimeTypes editMessage editMessage.denyForScopes deleteMessage deleteMessage.denyForScopes
  initiateCall initiateCall.mode initiateCall.allowedReceiverRoles createGroup createGroup.allowedGroupTypes listGroups
  listGroups.allowedGroupTypes joinGroup joinGroup.allowedGroupTypes listMessages.allowedMessageCategories
  listMessages.allowedMessageTypes`.split(/\s+/)

const scopePermissions = `sendMessage sendThreadedMessage editMessage addReaction listReactions
  listReactions.allowedScopes listMembers listMembers.allowedScopes initiateCall initiateCall.allowedScopes
  initiateCall.allowedType`.split(/\s+/)

const defaultOf = (id: string) => (id.endsWith('.mode') ? 'all' : id.includes('.') ? [] : 'allow')
const bad = { status: 400, code: 'ERR_BAD_REQUEST' }

interface Permission {
  id: string
  type: string
  title: string
  description: string
  dataType: string
  availableValues?: string[]
  defaultValue: string | string[]
  value: string | string[]
}

function lookAtCatalogue(list: Permission[], ids: string[], type: string): void {
  equal(list.map(({ id }) => id).toSorted(), ids.toSorted(), 'the ids')
  for (const { id, title, description, dataType, defaultValue, ...permission } of list) {
    equal(permission.type, type, `\`type\` of ${id}`)
    equal(defaultValue, defaultOf(id), `\`defaultValue\` of ${id}`)
    equal(permission.value, defaultValue, `\`value\` of ${id} while it is not set`)
    const known = ['string', 'stringArray', 'rolesStringArray', 'customStringArray'].includes(dataType)
    holds(known && typeof title === 'string' && typeof description === 'string', `\`dataType\` and texts of ${id}`)
    const free = dataType === 'rolesStringArray' || dataType === 'customStringArray'
    equal('availableValues' in permission, !free, `whether ${id} (${dataType}) has \`availableValues\``)
  }
}

const path = (role: string) => `/roles/${role}/permissions`

/** Sets permissions of a new role; answers the role and a user who has it. */
async function actorWith(server: Server, permissions: object): Promise<string> {
  const { role } = await makeRole(server)
  data(await server.api.put(path(role), { permissions }))
  return (await makeUser(server, { role })).uid
}

const ofRoles: Check[] = [
  check('2, 3 Role permissions', 'a new role lists all 28, each with its default', async (server) => {
    const { role } = await makeRole(server)
    const { data: list, meta } = success(await server.api.get(path(role)))
    lookAtCatalogue(list, rolePermissions, 'role')
    equal([meta.pagination.total, meta.pagination.per_page], [28, 100], 'total and per_page')
  }),
  check('6 Set', 'answers for each id, and all values now in force; the rest stays', async (server) => {
    const { role } = await makeRole(server)
    data(await server.api.put(path(role), { permissions: { joinGroup: 'deny' } }))
    const answer = data(
      await server.api.put(path(role), { permissions: { createGroup: 'deny', 'listUsers.mode': 'friends' } }),
    )
    const { permissions, ...entries } = answer
    equal(Object.keys(entries).toSorted(), ['createGroup', 'listUsers.mode'], 'the ids answered')
    for (const [id, entry] of Object.entries(entries)) doneEntry(entry, id)
    equal(Object.keys(permissions).toSorted(), rolePermissions.toSorted(), 'the ids of the values')
    const { createGroup, joinGroup, listUsers, 'listUsers.mode': mode } = permissions
    equal(
      { createGroup, joinGroup, listUsers, mode },
      { createGroup: 'deny', joinGroup: 'deny', listUsers: 'allow', mode: 'friends' },
      'the values',
    )
    const list: Permission[] = data(await server.api.get(path(role)))
    equal(list.find(({ id }) => id === 'createGroup')?.value, 'deny', '`value` in the list')
  }),
  check('6 Set', 'an unknown id, value or role fails alone', async (server) => {
    const { role } = await makeRole(server)
    const permissions = {
      flying: 'allow',
      'listUsers.mode': 'some',
      'listUsers.allowedRoles': ['conf-nobody'],
      listUsers: 'deny',
    }
    const entries = data(await server.api.put(path(role), { permissions }))
    failedEntry(entries.flying, 'ERR_BAD_REQUEST', 'the unknown id')
    failedEntry(entries['listUsers.mode'], 'ERR_BAD_REQUEST', 'the unknown value')
    failedEntry(entries['listUsers.allowedRoles'], 'ERR_ROLE_NOT_FOUND', 'the unknown role')
    doneEntry(entries.listUsers, 'listUsers')
    equal(entries.permissions.listUsers, 'deny', 'the value of listUsers')
  }),
  check('6 Set', 'a single text is stored as a list of one, null as an empty list', async (server) => {
    const { role } = await makeRole(server)
    const id = 'sendMessage.allowedReceiverTypes'
    const one = data(await server.api.put(path(role), { permissions: { [id]: 'user' } }))
    equal(one.permissions[id], ['user'], 'the value')
    const none = data(await server.api.put(path(role), { permissions: { [id]: null } }))
    equal(none.permissions[id], [], 'the value after null')
  }),
  ...refusals('6 Set', [
    {
      expects: 'nothing but failing entries',
      method: 'PUT',
      path: belowRole('/permissions'),
      body: { permissions: { flying: 'allow' } },
      ...bad,
    },
    ...[undefined, {}, [], 'x'].map((permissions) => ({
      expects: `permissions ${JSON.stringify(permissions) ?? 'missing'}`,
      method: 'PUT' as const,
      path: belowRole('/permissions'),
      body: { permissions },
      field: 'permissions',
      ...bad,
    })),
    {
      expects: 'an unknown role',
      method: 'PUT',
      path: path('conf-nobody'),
      body: { permissions: { listUsers: 'deny' } },
      status: 404,
      code: 'ERR_ROLE_NOT_FOUND',
    },
    { expects: 'the list of an unknown role', path: path('conf-nobody'), status: 404, code: 'ERR_ROLE_NOT_FOUND' },
  ]),
  check('7 Unset', 'goes back to the default, also a second time', async (server) => {
    const { role } = await makeRole(server)
    data(await server.api.put(path(role), { permissions: { listUsers: 'deny' } }))
    for (let times = 0; times < 2; times += 1) {
      const { permissions } = data(await server.api.delete(`${path(role)}/listUsers`))
      equal([permissions.listUsers, Object.keys(permissions).length], ['allow', 28], 'the value and how many there are')
    }
  }),
  ...refusals('7 Unset', [
    { expects: 'an unknown id', method: 'DELETE', path: belowRole('/permissions/flying'), field: 'permission', ...bad },
    {
      expects: 'an id in the wrong letter case',
      method: 'DELETE',
      path: belowRole('/permissions/LISTUSERS'),
      field: 'permission',
      ...bad,
    },
  ]),
]

const evaluation: Check[] = [
  check('5 Evaluation', 'listUsers: deny refuses the list to an acting user, and to nobody else', async (server) => {
    const uid = await actorWith(server, { listUsers: 'deny' })
    failure(await server.api.get('/users', { onBehalfOf: uid }), 403, 'ERR_PERMISSION_DENIED')
    data(await server.api.get('/users?perPage=1'))
  }),
  check('5 Evaluation', 'listUsers.mode: friends shortens the list to friends', async (server) => {
    const uid = await actorWith(server, { 'listUsers.mode': 'friends' })
    const friend = await makeUser(server)
    const { status } = await server.api.post(`/users/${uid}/friends`, { accepted: [friend.uid] })
    if (status !== 200) throw new NotSeen('the server has no friends')
    equal(uidsIn(data(await server.api.get('/users', { onBehalfOf: uid }))), [friend.uid], 'the users listed')
  }),
  check('5 Evaluation', 'listUsers.allowedRoles shortens the list to these roles', async (server) => {
    const { role } = await makeRole(server)
    const seen = await makeUser(server, { role })
    const uid = await actorWith(server, { 'listUsers.allowedRoles': [role] })
    equal(uidsIn(data(await server.api.get('/users', { onBehalfOf: uid }))), [seen.uid], 'the users listed')
  }),
  check('5 Evaluation', 'getUserDetails refuses strangers and roles not allowed, never oneself', async (server) => {
    const stranger = await makeUser(server)
    const { role } = await makeRole(server)
    for (const permissions of [{ 'getUserDetails.mode': 'friends' }, { 'getUserDetails.allowedRoles': [role] }]) {
      const uid = await actorWith(server, permissions)
      const answer = await server.api.get(`/users/${stranger.uid}`, { onBehalfOf: uid })
      failure(answer, 403, 'ERR_PERMISSION_DENIED')
      equal(data(await server.api.get(`/users/${uid}`, { onBehalfOf: uid })).uid, uid, 'oneself')
    }
  }),
  check('5 Evaluation', 'a change acts at once', async (server) => {
    const { role } = await makeRole(server)
    const { uid } = await makeUser(server, { role })
    data(await server.api.get('/users?perPage=1', { onBehalfOf: uid }))
    data(await server.api.put(path(role), { permissions: { listUsers: 'deny' } }))
    failure(await server.api.get('/users', { onBehalfOf: uid }), 403, 'ERR_PERMISSION_DENIED')
    data(await server.api.delete(`${path(role)}/listUsers`))
    data(await server.api.get('/users?perPage=1', { onBehalfOf: uid }))
  }),
]

/** The permissions of a scope in a group that calls tell of. */
async function scopePath({ api, calls }: Server, scope: string): Promise<string> {
  const list = data(await calls.get('/calls?receiverType=group&perPage=100'))
  for (const guid of new Set(list.map(({ receiver }: { receiver: string }) => receiver))) {
    const group = `/groups/${guid}/scopes/${scope}/permissions`
    if ((await api.get(group)).status !== 404) return group
  }
  throw new NotSeen('no group is known')
}

const ofScopes: Check[] = [
  check('2, 4 Scope permissions', 'each scope lists all 11, each with its default', async (server) => {
    for (const scope of ['admin', 'moderator', 'participant']) {
      const list = data(await server.api.get(await scopePath(server, scope)))
      lookAtCatalogue(list, scopePermissions, 'scope')
    }
  }),
  check('6 Set', 'a scope takes values of its own, and gives them up again', async (server) => {
    const group = await scopePath(server, 'participant')
    server.afterwards(() => server.api.delete(`${group}/initiateCall.allowedType`))
    const entries = data(
      await server.api.put(group, { permissions: { 'initiateCall.allowedType': 'audio', initiateCall: 'friends' } }),
    )
    doneEntry(entries['initiateCall.allowedType'], 'initiateCall.allowedType')
    failedEntry(entries.initiateCall, 'ERR_BAD_REQUEST', 'initiateCall')
    equal(entries.permissions['initiateCall.allowedType'], ['audio'], 'the value')
    const { permissions } = data(await server.api.delete(`${group}/initiateCall.allowedType`))
    equal(
      [permissions['initiateCall.allowedType'], Object.keys(permissions).length],
      [[], 11],
      'the value and how many',
    )
  }),
  ...refusals('8 Errors', [
    {
      expects: 'an unknown group',
      path: '/groups/conf-nobody/scopes/admin/permissions',
      status: 404,
      code: 'ERR_GUID_NOT_FOUND',
    },
    {
      expects: 'an unknown scope',
      path: async (server) => (await scopePath(server, 'admin')).replace('/admin/', '/owner/'),
      field: 'scope',
      ...bad,
    },
  ]),
]

export const permissions: CheckedArea = {
  name: 'permissions',
  title: 'Permissions',
  contract: '06',
  checks: [...ofRoles, ...evaluation, ...ofScopes],
}
