import {
  type CheckedArea,
  check,
  data,
  done,
  equal,
  failedEntry,
  failure,
  holds,
  isSeconds,
  refusals,
  says,
  success,
} from '../check.ts'
import { as, clientOf, guidsIn, inOwnApp, makeGroup, makeGroupsOf, makeUser, makeUsers } from '../people.ts'

const groupsOfUserMax = 2_000

export const groups: CheckedArea = {
  name: 'groups',
  title: 'Groups',
  contract: '10',
  checks: [
    check('2 Record', 'the record of a new group, without a password in it', async (server) => {
      const guid = server.fresh('group')
      const group = await makeGroup(server, { guid: guid.toUpperCase(), type: 'password', password: 'open sesame' })
      equal(group.guid, guid, 'the GUID, in lower case')
      equal(
        [group.type, group.owner, group.membersCount, group.conversationId],
        ['password', 'app_system', 0, `group_${guid}`],
        'type, owner, members and conversation',
      )
      holds(isSeconds(group.createdAt), '`createdAt` in seconds')
      for (const name of ['password', 'hasJoined', 'scope', 'updatedAt'])
        equal(name in group, false, `\`${name}\` in it`)
    }),
    check('3 Create', 'the acting user is owner and admin, whatever `owner` says', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const group = await makeGroup(server, { owner: b }, as(a))
      equal(
        [group.owner, group.scope, group.hasJoined, group.membersCount],
        [a, 'admin', true, 1],
        'owner, scope, hasJoined, members',
      )
      equal(group.joinedAt, group.createdAt, '`joinedAt`')
    }),
    check('3 Create', 'without an acting user `owner` is, and becomes a member', async (server) => {
      const { uid } = await makeUser(server)
      const group = await makeGroup(server, { owner: uid })
      equal(
        [group.owner, group.membersCount, 'hasJoined' in group],
        [uid, 1, false],
        'owner, members, and whether hasJoined is there',
      )
    }),
    check('3 Create', 'tells for each of `members` what became of it, once, under the winning list', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      const ghost = server.fresh('ghost')
      const members = { admins: [a], participants: [a, b, ghost], usersToBan: [c] }
      const group = await makeGroup(server, { members })
      equal(Object.keys(group.members.participants).toSorted(), [b, ghost].toSorted(), 'UIDs under `participants`')
      equal(group.members.admins[a].data?.data?.action, 'added', 'the action of the message')
      equal(group.members.usersToBan[c], { success: true }, 'the entry of a ban')
      failedEntry(group.members.participants[ghost], 'ERR_UID_NOT_FOUND', 'a user who is not there')
      equal(group.membersCount, 2, '`membersCount`')
    }),
    check('3 Create', 'a GUID that is taken: 400 ERR_GUID_ALREADY_EXISTS', async (server) => {
      const { guid } = await makeGroup(server)
      const answer = await server.api.post('/groups', { guid, name: 'Again' })
      failure(answer, 400, 'ERR_GUID_ALREADY_EXISTS')
      says(answer.body.error, 'already exists')
    }),
    ...refusals('3 Create', [
      {
        expects: 'no GUID',
        method: 'POST',
        path: '/groups',
        body: { name: 'x' },
        status: 400,
        code: 'ERR_BAD_REQUEST',
        field: 'guid',
      },
      {
        expects: 'a GUID with a space',
        method: 'POST',
        path: '/groups',
        body: { guid: 'a b', name: 'x' },
        status: 400,
        code: 'ERR_BAD_REQUEST',
        field: 'guid',
      },
      {
        expects: 'no name',
        method: 'POST',
        path: '/groups',
        body: { guid: 'conf-x' },
        status: 400,
        code: 'ERR_BAD_REQUEST',
        field: 'name',
      },
      {
        expects: 'a type that does not exist',
        method: 'POST',
        path: '/groups',
        body: { guid: 'conf-x', name: 'x', type: 'open' },
        status: 400,
        code: 'ERR_BAD_REQUEST',
        field: 'type',
      },
      {
        expects: 'a password group without password',
        method: 'POST',
        path: '/groups',
        body: { guid: 'conf-x', name: 'x', type: 'password' },
        status: 400,
        code: 'ERR_EMPTY_GROUP_PASS',
      },
      {
        expects: 'an owner who is unknown',
        method: 'POST',
        path: '/groups',
        body: { guid: 'conf-x', name: 'x', owner: 'conf-nobody' },
        status: 404,
        code: 'ERR_UID_NOT_FOUND',
      },
    ]),
    check('3, 6 Password', 'one blank is a password', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, { type: 'password', password: ' ' })
      const join = async (uid: string, password: string) =>
        (await clientOf(server, uid)).post(`/groups/${guid}/join`, { password })
      failure(await join(a, '  '), 403, 'ERR_WRONG_GROUP_PASS')
      success(await join(a, ' '))
      data(await server.api.put(`/groups/${guid}`, { password: 'x' }))
      data(await server.api.put(`/groups/${guid}`, { password: ' ' }))
      failure(await join(b, 'x'), 403, 'ERR_WRONG_GROUP_PASS')
      success(await join(b, ' '))
    }),
    check('4 List', 'with an acting user, private groups only of that user', async (server) => {
      const { uid } = await makeUser(server)
      const [open, own, other] = [
        await makeGroup(server),
        await makeGroup(server, { type: 'private' }, as(uid)),
        await makeGroup(server, { type: 'private' }),
      ]
      const guids = [open, own, other].map(({ guid }) => guid).join()
      const { data: list, meta } = success(await server.api.send('GET', `/groups?guids=${guids}`, as(uid)))
      equal(guidsIn(list).toSorted(), [open.guid, own.guid].toSorted(), 'GUIDs listed')
      equal(meta.pagination.total, 2, 'total')
      const joined = data(await server.api.send('GET', '/groups?hasJoined=true', as(uid)))
      equal(guidsIn(joined), [own.guid], 'GUIDs joined')
      equal(guidsIn(data(await server.api.get(`/groups?guids=${guids}`))).length, 3, 'groups that a server sees')
    }),
    check('4 List', 'search, types, tags and sizes combine; `protected` means `password`', async (server) => {
      const word = server.fresh('Needle')
      const tag = server.fresh('tag')
      const first = await makeGroup(server, { name: `A ${word}`, tags: [tag] })
      const second = await makeGroup(server, { name: `B ${word}`, type: 'password', password: 'x', tags: [tag] })
      const found = async (search: string) => guidsIn(data(await server.api.get(`/groups?${search}`)))
      const key = `searchKey=${word.toUpperCase()}`
      equal(await found(`${key}&sortBy=name`), [first.guid, second.guid], 'by name, ascending')
      equal(await found(`${key}&sortBy=name&sortOrder=desc`), [second.guid, first.guid], 'by name, descending')
      equal(await found(`${key}&type=protected`), [second.guid], 'of type protected')
      equal(await found(`tags=${tag}&type=public`), [first.guid], 'by tag and type')
      equal(await found(`tags=${tag}&membersCount[gt]=0`), [], 'with members')
      equal(await found(`${key}&type=none-such`), [], 'of an unknown type')
      equal('tags' in data(await server.api.get(`/groups?tags=${tag}`))[0], false, 'whether tags are shown')
      equal(data(await server.api.get(`/groups?tags=${tag}&withTags=true`))[0].tags, [tag], 'tags, asked for')
    }),
    check('5 Get', 'a private group is for members; banned users are told so', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      const { guid } = await makeGroup(server, { type: 'private', members: { usersToBan: [c] } }, as(a))
      equal(
        data(await server.api.send('GET', `/groups/${guid.toUpperCase()}`, as(a))).scope,
        'admin',
        'scope of the owner',
      )
      failure(await server.api.send('GET', `/groups/${guid}`, as(b)), 403, 'ERR_GROUP_NOT_JOINED')
      failure(await server.api.send('GET', `/groups/${guid}`, as(c)), 403, 'ERR_BANNED_GROUPMEMBER')
    }),
    ...refusals('5 Get', [
      { expects: 'a group that is unknown', path: '/groups/conf-none', status: 404, code: 'ERR_GUID_NOT_FOUND' },
    ]),
    check('6 Update', 'what is sent changes, `unset` wins, and the rest stays', async (server) => {
      const before = await makeGroup(server, { description: 'D', metadata: { a: 1 }, tags: ['t'] })
      const body = { name: 'New', metadata: { b: 2 }, description: 'E', unset: ['description'], tags: [] }
      const after = data(await server.api.put(`/groups/${before.guid}`, body))
      equal(
        [after.name, after.metadata, 'description' in after, 'tags' in after],
        ['New', { b: 2 }, false, false],
        'the record',
      )
      equal([after.updatedBy, after.createdAt], ['app_system', before.createdAt], 'updatedBy and createdAt')
      holds(isSeconds(after.updatedAt), '`updatedAt` in seconds')
    }),
    check('6 Update', 'moderators may, participants and outsiders may not', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      const { guid } = await makeGroup(server, { members: { moderators: [a], participants: [b] } })
      const put = (uid: string) => server.api.send('PUT', `/groups/${guid}`, { ...as(uid), body: { name: uid } })
      equal(data(await put(a)).updatedBy, a, '`updatedBy`')
      failure(await put(b), 403, 'ERR_GROUP_NO_MODERATOR_SCOPE')
      failure(await put(c), 403, 'ERR_GROUP_NOT_JOINED')
    }),
    check('6 Update', 'a server gives the group to another owner', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, {}, as(a))
      const group = data(await server.api.put(`/groups/${guid}`, { owner: b }))
      equal([group.owner, group.membersCount], [b, 2], 'owner and members')
      equal(data(await server.api.send('GET', `/groups/${guid}`, as(a))).scope, 'admin', 'scope of the old owner')
    }),
    check('7 Delete', 'admins may; the GUID is free again', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, { members: { moderators: [b] } }, as(a))
      failure(await server.api.send('DELETE', `/groups/${guid}`, as(b)), 403, 'ERR_GROUP_NO_ADMIN_SCOPE')
      done(await server.api.send('DELETE', `/groups/${guid}`, as(a)))
      failure(await server.api.get(`/groups/${guid}`), 404, 'ERR_GUID_NOT_FOUND')
      const again = await makeGroup(server, { guid })
      equal(again.membersCount, 0, '`membersCount` of the next group')
    }),
    check('9, 11.7 Errors', 'more than 2,000 groups of a user: 402 ERR_PLAN_QUOTA_RESTRICTION', async (home) => {
      const server = await inOwnApp(home)
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, {}, as(b))
      await makeGroupsOf(server, a, groupsOfUserMax)
      const quota = [402, 'ERR_PLAN_QUOTA_RESTRICTION'] as const
      const oneMore = { guid: server.fresh('group'), name: 'Conformance' }
      failure(await server.api.send('POST', '/groups', { ...as(a), body: oneMore }), ...quota)
      failure(await server.api.get(`/groups/${oneMore.guid}`), 404, 'ERR_GUID_NOT_FOUND')
      failure(await (await clientOf(server, a)).post(`/groups/${guid}/members`, { participants: [a] }), ...quota)
      const { participants } = data(await server.api.post(`/groups/${guid}/members`, { participants: [a] }))
      failedEntry(participants[a], quota[1], 'the user who is in as many as there may be')
      equal(data(await server.api.get(`/groups/${guid}`)).membersCount, 1, 'how many came in')
    }),
    check('15.12 Clients', 'the owner hands the group over, and nobody else', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, { members: { participants: [b] } }, as(a))
      failure(await (await clientOf(server, b)).put(`/groups/${guid}/owner`, { uid: b }), 403, 'ERR_GROUP_NO_CLEARANCE')
      equal(data(await (await clientOf(server, a)).put(`/groups/${guid}/owner`, { uid: b })).owner, b, 'the owner')
    }),
  ],
}
