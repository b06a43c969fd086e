import {
  type Check,
  type CheckedArea,
  check,
  data,
  done,
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
import {
  actorWith,
  as,
  belowRole,
  idsIn,
  makeGroup,
  makeRole,
  makeUser,
  makeUsers,
  say,
  sayIn,
  uidsIn,
} from '../people.ts'

/** All permissions of a role by their data type, with the values of each. */
const ofRole: Record<string, string> = {
  'string allow,deny': `listUsers getUserDetails blockUser listBlockedUser unblockedUser editProfile listMessages
    getMessageDetails sendMessage sendMessage.mimeTypeAccessControl editMessage deleteMessage listThreadedMessages
    sendThreadedMessage sendThreadedMessage.mimeTypeAccessControl editThreadedMessage deleteThreadedMessage listReactions
    addReaction initiateCall joinCall listConversations updateConversation deleteConversation listGroups getGroupDetails
    createGroup joinGroup`,
  'string all,friends': `listUsers.mode getUserDetails.mode listMessages.mode getMessageDetails.mode sendMessage.mode
    initiateCall.mode`,
  'stringArray user,group': `listMessages.allowedReceiverTypes sendMessage.allowedReceiverTypes
    sendThreadedMessage.allowedReceiverTypes initiateCall.allowedReceiverTypes`,
  'stringArray message,custom': `listMessages.allowedMessageCategories sendMessage.allowedMessageCategories
    sendThreadedMessage.allowedMessageCategories`,
  'stringArray text,image,audio,video,file': `listMessages.allowedMessageTypes sendMessage.allowedMessageTypes
    sendThreadedMessage.allowedMessageTypes`,
  'stringArray public,password,private': `listGroups.allowedGroupTypes getGroupDetails.allowedGroupTypes
    createGroup.allowedGroupTypes`,
  'stringArray public,password': 'joinGroup.allowedGroupTypes',
  'stringArray admin,moderator,participant': 'editMessage.denyForScopes deleteMessage.denyForScopes',
  rolesStringArray: `listUsers.allowedRoles getUserDetails.allowedRoles blockUser.allowedRoles
    listBlockedUser.allowedRoles unblockedUser.allowedRoles listMessages.allowedSenderRoles
    sendMessage.allowedReceiverRoles sendThreadedMessage.allowedReceiverRoles initiateCall.allowedReceiverRoles`,
  customStringArray: `sendMessage.allowedCustomTypes sendMessage.mimeTypes sendMessage.allowedMimeTypes
    sendThreadedMessage.allowedCustomTypes sendThreadedMessage.mimeTypes`,
}

/** The same for a scope. */
const ofScope: Record<string, string> = {
  'string allow,deny': `editGroup deleteGroup leaveGroup listMembers addMembers kickMembers listBannedUsers ban unban
    listMessages.historyBeforeJoin sendMessage sendMessage.mimeTypeAccessControl editMessage deleteMessage
    listThreadedMessages sendThreadedMessage sendThreadedMessage.mimeTypeAccessControl editThreadedMessage
    deleteThreadedMessage listReactions addReaction initiateCall joinCall`,
  'stringArray admin,moderator,participant': `listMembers.allowedScopes addMembers.allowedScopes
    kickMembers.allowedScopes ban.allowedScopes listReactions.allowedScopes initiateCall.allowedScopes`,
  'stringArray message,custom': `listMessages.allowedMessageCategories sendMessage.allowedMessageCategories
    sendThreadedMessage.allowedMessageCategories`,
  'stringArray text,image,audio,video,file': `listMessages.allowedMessageTypes sendMessage.allowedMessageTypes
    sendThreadedMessage.allowedMessageTypes`,
  'stringArray audio,video': 'initiateCall.allowedType',
  customStringArray: `sendMessage.allowedCustomTypes sendMessage.mimeTypes sendThreadedMessage.allowedCustomTypes
    sendThreadedMessage.mimeTypes`,
}

const idsOf = (kinds: Record<string, string>) => Object.values(kinds).flatMap((ids) => ids.split(/\s+/))

const scopes = ['admin', 'moderator', 'participant']

/** What a scope has, where that is not the same for all: what is published, then what holds while nothing is set. */
const byScope: Record<string, [published: string, unset: string]> = {
  editGroup: ['allow deny deny', 'allow allow deny'],
  deleteGroup: ['deny deny deny', 'allow deny deny'],
  addMembers: ['allow deny deny', 'allow deny deny'],
  kickMembers: ['allow allow deny', 'allow allow deny'],
  listBannedUsers: ['allow allow deny', 'allow allow deny'],
  ban: ['allow allow deny', 'allow allow deny'],
  unban: ['allow allow deny', 'allow allow deny'],
}

const defaultOf = (kind: string) => (kind.endsWith('friends') ? 'all' : kind.endsWith('deny') ? 'allow' : [])
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

function lookAtCatalogue(list: Permission[], kinds: Record<string, string>, scope?: string): void {
  equal(list.map(({ id }) => id).toSorted(), idsOf(kinds).toSorted(), 'the ids')
  for (const [kind, ids] of Object.entries(kinds)) {
    const [dataType, words] = kind.split(' ')
    for (const id of ids.split(/\s+/)) {
      const permission = list.find((each) => each.id === id)
      holds(permission !== undefined, `a permission ${id}`)
      equal(permission.type, scope === undefined ? 'role' : 'scope', `\`type\` of ${id}`)
      equal(permission.dataType, dataType, `\`dataType\` of ${id}`)
      const texts = [permission.title, permission.description].every((text) => typeof text === 'string')
      holds(texts, `\`title\` and \`description\` of ${id}`)
      // A server may know more kinds of messages than the contract names.
      const missing = words?.split(',').filter((word) => !permission.availableValues?.includes(word)) ?? []
      equal([missing, 'availableValues' in permission], [[], words !== undefined], `\`availableValues\` of ${id}`)
      const [published, unset] = (scope !== undefined && byScope[id]) || []
      const nth = (all: string | undefined) => all?.split(' ')[scopes.indexOf(scope ?? '')] ?? defaultOf(kind)
      equal(permission.defaultValue, nth(published), `\`defaultValue\` of ${id}`)
      equal(permission.value, nth(unset), `\`value\` of ${id} while it is not set`)
    }
  }
}

const path = (role: string) => `/roles/${role}/permissions`

const ofRoles: Check[] = [
  check('2, 3 Role permissions', 'a new role lists all 64, each with its type, values and default', async (server) => {
    const { role } = await makeRole(server)
    const { data: list, meta } = success(await server.api.get(path(role)))
    lookAtCatalogue(list, ofRole)
    equal([meta.pagination.total, meta.pagination.per_page], [64, 100], 'total and per_page')
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
    equal(Object.keys(permissions).toSorted(), idsOf(ofRole).toSorted(), 'the ids of the values')
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
  check('6 Set', 'ids of calls, and ids no longer published, are stored and read back', async (server) => {
    const { role } = await makeRole(server)
    const permissions = {
      initiateCall: 'deny',
      'initiateCall.allowedReceiverTypes': ['group'],
      joinCall: 'deny',
      'initiateCall.mode': 'friends',
      'editMessage.denyForScopes': ['moderator'],
      'sendMessage.allowedMimeTypes': ['image/png'],
    }
    const { permissions: values, ...entries } = data(await server.api.put(path(role), { permissions }))
    for (const [id, value] of Object.entries(permissions)) {
      doneEntry(entries[id], id)
      equal(values[id], value, `the value of ${id}`)
    }
  }),
  check('6 Set', 'private is no type of group to join', async (server) => {
    const { role } = await makeRole(server)
    const permissions = { 'joinGroup.allowedGroupTypes': ['private'], 'createGroup.allowedGroupTypes': ['private'] }
    const entries = data(await server.api.put(path(role), { permissions }))
    failedEntry(entries['joinGroup.allowedGroupTypes'], 'ERR_BAD_REQUEST', 'joining')
    doneEntry(entries['createGroup.allowedGroupTypes'], 'creating')
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
      equal([permissions.listUsers, Object.keys(permissions).length], ['allow', 64], 'the value and how many there are')
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

/** A group of one owner and one member of every scope, with what was set for one of them. */
async function crewWith(server: Server, scope: string, permissions: object) {
  const [owner = '', admin = '', moderator = '', participant = '', other = ''] = await makeUsers(server, 5)
  const members = { admins: [admin], moderators: [moderator], participants: [participant, other] }
  const { guid } = await makeGroup(server, { members }, as(owner))
  data(await server.api.put(`/groups/${guid}/scopes/${scope}/permissions`, { permissions }))
  const act = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', end: string, uid: string, body?: object) =>
    server.api.send(method, `/groups/${guid}${end}`, { ...as(uid), ...(body && { body }) })
  return { guid, owner, admin, moderator, participant, other, act }
}

const denied = [403, 'ERR_PERMISSION_DENIED'] as const

const messagesAndThreads: Check[] = [
  check('3 Role permissions', 'getUserDetails: deny refuses everybody but oneself', async (server) => {
    const uid = await actorWith(server, { getUserDetails: 'deny' })
    const { uid: other } = await makeUser(server)
    failure(await server.api.get(`/users/${other}`, { onBehalfOf: uid }), ...denied)
    equal(data(await server.api.get(`/users/${uid}`, { onBehalfOf: uid })).uid, uid, 'oneself')
  }),
  check('3 Role permissions', 'listMessages: deny refuses lists, its sub-rules shorten them', async (server) => {
    const { uid: other } = await makeUser(server)
    const refused = await actorWith(server, { listMessages: 'deny' })
    for (const list of ['/messages', `/users/${other}/messages`]) {
      failure(await server.api.get(list, { onBehalfOf: refused }), ...denied)
    }
    const narrowed = await actorWith(server, { 'listMessages.mode': 'friends' })
    await say(server, other, narrowed)
    const list = data(await server.api.get(`/users/${other}/messages`, { onBehalfOf: narrowed }))
    equal(idsIn(list), [], 'the messages of a stranger')
  }),
  check('3 Role permissions', 'getMessageDetails.mode: friends refuses a message of a stranger', async (server) => {
    const { uid: other } = await makeUser(server)
    const uid = await actorWith(server, { 'getMessageDetails.mode': 'friends' })
    const { id } = await say(server, other, uid)
    failure(await server.api.get(`/messages/${id}`, { onBehalfOf: uid }), ...denied)
  }),
  check('3 Role permissions', 'addReaction, listReactions and updateConversation refuse', async (server) => {
    const { uid: other } = await makeUser(server)
    const uid = await actorWith(server, { addReaction: 'deny', listReactions: 'deny', updateConversation: 'deny' })
    const { id } = await say(server, other, uid)
    failure(await server.api.send('POST', `/messages/${id}/reactions/yes`, as(uid)), ...denied)
    failure(await server.api.send('DELETE', `/messages/${id}/reactions/yes`, as(uid)), ...denied)
    failure(await server.api.get(`/messages/${id}/reactions`, { onBehalfOf: uid }), ...denied)
    failure(
      await server.api.send('PUT', `/users/${other}/conversation`, { ...as(uid), body: { tags: ['a'] } }),
      ...denied,
    )
    data(await server.api.get(`/users/${other}/conversation`, { onBehalfOf: uid }))
  }),
  check('3 Role permissions', 'getGroupDetails: deny refuses a group, also to its members', async (server) => {
    const uid = await actorWith(server, { getGroupDetails: 'deny' })
    const { guid } = await makeGroup(server, { members: { participants: [uid] } })
    const { guid: other } = await makeGroup(server)
    for (const each of [guid, other]) failure(await server.api.get(`/groups/${each}`, { onBehalfOf: uid }), ...denied)
  }),
  check('3 Role permissions', 'getGroupDetails.allowedGroupTypes refuses a group of another type', async (server) => {
    const { guid } = await makeGroup(server)
    const uid = await actorWith(server, { 'getGroupDetails.allowedGroupTypes': ['password'] })
    failure(await server.api.get(`/groups/${guid}`, { onBehalfOf: uid }), ...denied)
  }),
  check('5 Evaluation', 'a reply must pass both families, also by their sub-rules', async (server) => {
    const { uid: other } = await makeUser(server)
    const body = { data: { text: 'Conformance' } }
    const rules = ['sendMessage', 'sendThreadedMessage'].flatMap((family) => [
      { [family]: 'deny' },
      { [`${family}.allowedMessageTypes`]: ['image'] },
    ])
    for (const permissions of rules) {
      const uid = await actorWith(server, permissions)
      const { id } = await say(server, other, uid)
      failure(await server.api.send('POST', `/messages/${id}/thread`, { ...as(uid), body }), ...denied)
    }
    const uid = await actorWith(server, { sendThreadedMessage: 'deny' })
    await say(server, uid, other)
  }),
  ...(
    [
      ['edit', 'PUT', { data: { text: 'Edited' } }],
      ['delete', 'DELETE', {}],
    ] as const
  ).map(([act, method, body]) =>
    check('5 Evaluation', `to ${act} a reply one must pass both families, a message only its own`, async (server) => {
      const { uid: other } = await makeUser(server)
      const change = (uid: string, id: string) => server.api.send(method, `/messages/${id}`, { ...as(uid), body })
      for (const family of ['Message', 'ThreadedMessage']) {
        const uid = await actorWith(server, { [`${act}${family}`]: 'deny' })
        const plain = await say(server, uid, other)
        const reply = await say(server, uid, other, { parentId: plain.id })
        failure(await change(uid, reply.id), ...denied)
        if (family === 'ThreadedMessage') data(await change(uid, plain.id))
        else failure(await change(uid, plain.id), ...denied)
      }
    }),
  ),
  check('5 Evaluation', 'to list replies one must pass both families, messages only their own', async (server) => {
    const { uid: other } = await makeUser(server)
    const lists = async (permission: string) => {
      const uid = await actorWith(server, { [permission]: 'deny' })
      const { id } = await say(server, other, uid)
      await say(server, other, uid, { parentId: id })
      const get = (list: string) => server.api.get(list, { onBehalfOf: uid })
      return { replies: await get(`/messages/${id}/thread`), plain: await get(`/users/${other}/messages`) }
    }
    const withoutMessages = await lists('listMessages')
    failure(withoutMessages.replies, ...denied)
    failure(withoutMessages.plain, ...denied)
    const withoutThreads = await lists('listThreadedMessages')
    failure(withoutThreads.replies, ...denied)
    holds(data(withoutThreads.plain).length > 0, 'the messages, where only threads are denied')
  }),
]

const clearance: Check[] = [
  check('4 Scope permissions', 'unset, the clearance of groups decides', async (server) => {
    const { moderator, participant, admin, act } = await crewWith(server, 'admin', { addReaction: 'allow' })
    data(await act('PUT', '', moderator, { name: 'Conformance, changed' }))
    failure(await act('PUT', '', participant, { name: 'No' }), 403, 'ERR_GROUP_NO_MODERATOR_SCOPE')
    failure(await act('DELETE', '', moderator), 403, 'ERR_GROUP_NO_ADMIN_SCOPE')
    data(await act('DELETE', '', admin))
  }),
  check('4 Scope permissions', 'deleteGroup: deny is valid; it refuses admins and never the owner', async (server) => {
    const { admin, owner, act } = await crewWith(server, 'admin', { deleteGroup: 'deny' })
    failure(await act('DELETE', '', admin), ...denied)
    data(await act('DELETE', '', owner))
  }),
  check('4 Scope permissions', 'editGroup: deny refuses moderators, allow lets participants', async (server) => {
    const bound = await crewWith(server, 'moderator', { editGroup: 'deny' })
    failure(await bound.act('PUT', '', bound.moderator, { name: 'No' }), ...denied)
    equal(data(await bound.act('PUT', '', bound.admin, { name: 'Yes' })).name, 'Yes', 'the name by an admin')
    const free = await crewWith(server, 'participant', { editGroup: 'allow' })
    equal(data(await free.act('PUT', '', free.participant, { name: 'Yes' })).name, 'Yes', 'the name by a participant')
  }),
  check('4 Scope permissions', 'addMembers: allow lets moderators, deny refuses admins', async (server) => {
    const [fresh = ''] = await makeUsers(server, 1)
    const body = { participants: [fresh] }
    const bound = await crewWith(server, 'admin', { addMembers: 'deny' })
    failure(await bound.act('POST', '/members', bound.admin, body), ...denied)
    const free = await crewWith(server, 'moderator', { addMembers: 'allow' })
    const { participants } = data(await free.act('POST', '/members', free.moderator, body))
    equal(participants[fresh].success, true, 'whether the participant is added')
  }),
  check('4 Scope permissions', 'allow lets participants ban, list and unban participants', async (server) => {
    const set = { ban: 'allow', unban: 'allow', listBannedUsers: 'allow' }
    const { participant, moderator, other, act } = await crewWith(server, 'participant', set)
    failure(await act('POST', `/bannedusers/${moderator}`, participant), 403, 'ERR_GROUP_NO_CLEARANCE')
    done(await act('POST', `/bannedusers/${other}`, participant))
    equal(uidsIn(data(await act('GET', '/bannedusers', participant))), [other], 'the banned')
    done(await act('DELETE', `/bannedusers/${other}`, participant))
    equal(uidsIn(data(await act('GET', '/bannedusers', participant))), [], 'the banned after that')
  }),
  check('4 Scope permissions', 'allow lets participants kick participants, and nobody above', async (server) => {
    const { participant, moderator, other, act } = await crewWith(server, 'participant', { kickMembers: 'allow' })
    failure(await act('DELETE', `/members/${moderator}`, participant), 403, 'ERR_GROUP_NO_CLEARANCE')
    data(await act('DELETE', `/members/${other}`, participant))
  }),
  check('4 Scope permissions', 'ban, unban and listBannedUsers are refused by deny', async (server) => {
    const set = { ban: 'deny', unban: 'deny', listBannedUsers: 'deny', kickMembers: 'deny' }
    const { moderator, other, act } = await crewWith(server, 'moderator', set)
    failure(await act('POST', `/bannedusers/${other}`, moderator), ...denied)
    failure(await act('DELETE', `/bannedusers/${other}`, moderator), ...denied)
    failure(await act('GET', '/bannedusers', moderator), ...denied)
    failure(await act('DELETE', `/members/${other}`, moderator), ...denied)
  }),
  check('4 Scope permissions', 'addMembers.allowedScopes fails another scope by its UID alone', async (server) => {
    const [one = '', another = ''] = await makeUsers(server, 2)
    const { admin, act } = await crewWith(server, 'admin', { 'addMembers.allowedScopes': ['participant'] })
    const answer = data(await act('POST', '/members', admin, { moderators: [one], participants: [another] }))
    failedEntry(answer.moderators[one], 'ERR_PERMISSION_DENIED', 'the moderator')
    equal(answer.participants[another].success, true, 'whether the participant is added')
  }),
  check('4 Scope permissions', 'lists of a group hold only the types that a scope may list', async (server) => {
    const types = { 'listMessages.allowedMessageTypes': ['image'] }
    const { guid, participant, other, moderator } = await crewWith(server, 'participant', types)
    const { id } = await sayIn(server, guid, moderator)
    const list = async (uid: string) =>
      idsIn(data(await server.api.get(`/groups/${guid}/messages`, { onBehalfOf: uid })))
    holds(!(await list(participant)).includes(id) && !(await list(other)).includes(id), 'no text for participants')
    holds((await list(moderator)).includes(id), 'the text for moderators')
  }),
]

/** The permissions of a scope in a group of the check's own. */
async function scopePath(server: Server, scope: string): Promise<string> {
  return `/groups/${(await makeGroup(server)).guid}/scopes/${scope}/permissions`
}

const ofScopes: Check[] = [
  check('2, 4 Scope permissions', 'each scope lists all 40, with the defaults of that scope', async (server) => {
    for (const scope of scopes) {
      const list = data(await server.api.get(await scopePath(server, scope)))
      lookAtCatalogue(list, ofScope, scope)
    }
  }),
  check('6 Set', 'a scope takes values of its own, and gives them up again', async (server) => {
    const group = await scopePath(server, 'participant')
    const entries = data(
      await server.api.put(group, { permissions: { 'initiateCall.allowedType': 'audio', initiateCall: 'friends' } }),
    )
    doneEntry(entries['initiateCall.allowedType'], 'initiateCall.allowedType')
    failedEntry(entries.initiateCall, 'ERR_BAD_REQUEST', 'initiateCall')
    equal(entries.permissions['initiateCall.allowedType'], ['audio'], 'the value')
    const { permissions } = data(await server.api.delete(`${group}/initiateCall.allowedType`))
    equal(
      [permissions['initiateCall.allowedType'], Object.keys(permissions).length],
      [[], 40],
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
  checks: [...ofRoles, ...evaluation, ...messagesAndThreads, ...ofScopes, ...clearance],
}
