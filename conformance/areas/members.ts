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
  says,
  success,
} from '../check.ts'
import { as, clientOf, makeGroup, makeUsers, uidsIn } from '../people.ts'

export const members: CheckedArea = {
  name: 'members',
  title: 'Group members',
  contract: '11',
  checks: [
    check('3 Add', 'answers per list and UID, with the message of each', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      const { guid } = await makeGroup(server)
      const ghost = server.fresh('ghost')
      const answer = data(
        await server.api.post(`/groups/${guid}/members`, {
          admins: [a],
          participants: [b, a, ghost],
          usersToBan: [c],
          moderators: [],
        }),
      )
      equal(Object.keys(answer).toSorted(), ['admins', 'participants', 'usersToBan'], 'the lists answered')
      const message = answer.participants[b].data
      equal(
        [message.sender, message.receiver, message.receiverType, message.category, message.type, message.data.action],
        ['app_system', guid, 'group', 'action', 'groupMember', 'added'],
        'the message',
      )
      equal(message.data.entities.for.entity.membersCount, 2, 'members, counted up')
      equal(message.data.entities.on.entity.uid, b, 'on whom')
      equal(a in answer.participants, false, 'whether a UID is under two lists')
      failedEntry(answer.participants[ghost], 'ERR_UID_NOT_FOUND', 'a user who is not there')
      const again = data(
        await server.api.post(`/groups/${guid}/members`, { admins: [b], participants: [c], usersToBan: [c] }),
      )
      failedEntry(again.admins[b], 'ERR_ALREADY_JOINED', 'a member')
      says(again.admins[b].error, 'already joined')
      failedEntry(again.participants[c], 'ERR_BANNED_GROUPMEMBER', 'somebody banned')
    }),
    check('3 Add', 'none, or more than 25 users: 400 ERR_BAD_REQUEST', async (server) => {
      const { guid } = await makeGroup(server)
      const many = Array.from({ length: 26 }, (_, n) => `conf-nobody-${n}`)
      for (const body of [{}, { admins: [] }, { participants: many }]) {
        failure(await server.api.post(`/groups/${guid}/members`, body), 400, 'ERR_BAD_REQUEST')
      }
    }),
    check('3 Add', 'the owner is a member already, whichever list names them', async (server) => {
      const [a = ''] = await makeUsers(server, 1)
      const { guid } = await makeGroup(server, { owner: a })
      for (const list of ['admins', 'moderators', 'participants']) {
        const answer = data(await server.api.post(`/groups/${guid}/members`, { [list]: [a] }))
        failedEntry(answer[list][a], 'ERR_ALREADY_JOINED', 'the owner')
      }
      equal(data(await server.api.get(`/groups/${guid}/members/${a}`)).scope, 'admin', 'the scope after that')
    }),
    check('1 Endpoints', 'a server cannot add the outsider that it acts for', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, {}, as(a))
      const answer = await server.api.send('POST', `/groups/${guid}/members`, { ...as(b), body: { participants: [b] } })
      failure(answer, 403, 'ERR_GROUP_NOT_JOINED')
    }),
    check('3 Self-join', 'a client that names its own user joins, and is told as one who was added', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, {}, as(a))
      const client = await clientOf(server, b)
      const join = () => client.post(`/groups/${guid}/members`, { participants: [b] })
      const { participants } = data(await join())
      equal(Object.keys(participants), [b], 'the UIDs answered')
      const { success: isIn, data: message } = participants[b]
      equal([isIn, message.sender, message.data.action], [true, b, 'joined'], 'success, sender and action')
      const again = await join()
      failure(again, 409, 'ERR_ALREADY_JOINED')
      says(again.body.error, 'already joined')
      done(await client.post(`/groups/${guid}/leave`, {}))
      const entry = { uid: b, scope: 'participant' }
      success(await client.post(`/groups/${guid}/members`, { participants: [entry] }))
    }),
    check('3 Self-join', 'what keeps users from joining keeps them from this', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      const client = await clientOf(server, b)
      const join = (guid: string, more: object = {}) =>
        client.post(`/groups/${guid}/members`, { participants: [b], ...more })
      const locked = await makeGroup(server, { type: 'password', password: 'open sesame' })
      failure(await join(locked.guid), 400, 'ERR_EMPTY_GROUP_PASS')
      failure(await join(locked.guid, { password: 'x' }), 403, 'ERR_WRONG_GROUP_PASS')
      success(await join(locked.guid, { password: 'open sesame' }))
      const shut = await makeGroup(server, { type: 'private' })
      failure(await join(shut.guid), 403, 'ERR_GROUP_JOIN_NOT_ALLOWED')
      const hostile = await makeGroup(server, { members: { usersToBan: [b] } })
      failure(await join(hostile.guid), 403, 'ERR_BANNED_GROUPMEMBER')
      const open = await makeGroup(server, {}, as(a))
      const others: object[] = [{ participants: [b, c] }, { admins: [b] }, { participants: [c] }]
      for (const body of others) {
        failure(await client.post(`/groups/${open.guid}/members`, body), 403, 'ERR_GROUP_NOT_JOINED')
      }
    }),
    check('2 Who may', 'admins add, moderators do not', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      const { guid } = await makeGroup(server, { members: { moderators: [b] } }, as(a))
      const add = (uid: string) =>
        server.api.send('POST', `/groups/${guid}/members`, { ...as(uid), body: { participants: [c] } })
      failure(await add(b), 403, 'ERR_GROUP_NO_ADMIN_SCOPE')
      failure(await add(c), 403, 'ERR_GROUP_NOT_JOINED')
      equal(data(await add(a)).participants[c].success, true, '`success`')
    }),
    check('4 List', 'members with scope and time, without the banned', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      const { guid } = await makeGroup(server, { members: { admins: [a], participants: [b], usersToBan: [c] } })
      const { data: list, meta } = success(await server.api.get(`/groups/${guid}/members`))
      equal(uidsIn(list).toSorted(), [a, b].toSorted(), 'UIDs')
      equal([meta.pagination.total, meta.cursor?.affix], [2, 'prepend'], 'total and affix')
      const member = list.find(({ uid }: { uid: string }) => uid === a)
      equal([member.scope, member.role, member.status], ['admin', 'default', 'offline'], 'scope, role, status')
      holds(isSeconds(member.joinedAt), '`joinedAt` in seconds')
      equal(uidsIn(data(await server.api.get(`/groups/${guid}/members?scopes=participant`))), [b], 'participants')
      equal(uidsIn(data(await server.api.get(`/groups/${guid}/members?status=available`))), [], 'the connected')
      equal(uidsIn(data(await server.api.get(`/groups/${guid}/members?searchKey=${b.toUpperCase()}`))), [b], 'by UID')
      const seen = data(await server.api.send('GET', `/groups/${guid}/members`, as(a)))
      const other = seen.find(({ uid }: { uid: string }) => uid === b)
      equal(other.conversationId, [a, b].toSorted().join('_user_'), '`conversationId`')
      equal(
        'conversationId' in seen.find(({ uid }: { uid: string }) => uid === a),
        false,
        "whether one's own row has one",
      )
    }),
    check('4 List', 'members of a private group are for members', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, { type: 'private' }, as(a))
      success(await server.api.send('GET', `/groups/${guid}/members`, as(a)))
      failure(await server.api.send('GET', `/groups/${guid}/members`, as(b)), 403, 'ERR_GROUP_NOT_JOINED')
    }),
    check('4 Get', 'one member, as the list shows them', async (server) => {
      const [a = '', b = '', c = '', d = ''] = await makeUsers(server, 4)
      const { guid } = await makeGroup(server, { members: { moderators: [a], participants: [b], usersToBan: [d] } })
      const path = `/groups/${guid}/members`
      const member = data(await server.api.send('GET', `${path}/${b.toUpperCase()}`, as(a)))
      const listed = data(await server.api.send('GET', path, as(a)))
      equal(
        member,
        listed.find(({ uid }: { uid: string }) => uid === b),
        'the member',
      )
      for (const uid of [c, d]) failure(await server.api.get(`${path}/${uid}`), 404, 'ERR_NOT_A_MEMBER')
      failure(await server.api.get(`${path}/${server.fresh('ghost')}`), 404, 'ERR_UID_NOT_FOUND')
      failure(await server.api.get(`/groups/conf-none/members/${a}`), 404, 'ERR_GUID_NOT_FOUND')
      data(await server.api.delete(`/users/${b}`))
      holds(
        isSeconds(data(await server.api.get(`${path}/${b}`)).deactivatedAt),
        'a deactivated member is shown as such',
      )
    }),
    check('4 Get', 'a member of a private group is for members', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, { type: 'private' }, as(a))
      success(await server.api.send('GET', `/groups/${guid}/members/${a}`, as(a)))
      failure(await server.api.send('GET', `/groups/${guid}/members/${a}`, as(b)), 403, 'ERR_GROUP_NOT_JOINED')
    }),
    check('5 Scope', 'changes, by default to participant, and refuses the same again', async (server) => {
      const [a = ''] = await makeUsers(server, 1)
      const { guid } = await makeGroup(server, { members: { participants: [a] } })
      const changed = data(await server.api.put(`/groups/${guid}/members/${a}`, { scope: 'moderator' }))
      equal([changed.guid, changed.uid, changed.scope], [guid, a, 'moderator'], 'the answer')
      failure(await server.api.put(`/groups/${guid}/members/${a}`, { scope: 'moderator' }), 403, 'ERR_SAME_SCOPE')
      equal(data(await server.api.put(`/groups/${guid}/members/${a}`, {})).scope, 'participant', 'the scope by default')
      failure(await server.api.put(`/groups/${guid}/members/${a}`, { scope: 'king' }), 400, 'ERR_BAD_REQUEST', 'scope')
    }),
    check('5 Scope', 'clearance: moderators make no admins, nobody changes themselves', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      const { guid } = await makeGroup(server, { members: { moderators: [b], participants: [c] } }, as(a))
      const change = (uid: string, by: string, scope: string) =>
        server.api.send('PUT', `/groups/${guid}/members/${uid}`, { ...as(by), body: { scope } })
      failure(await change(c, b, 'admin'), 403, 'ERR_GROUP_NO_SCOPE_CLEARANCE')
      failure(await change(a, b, 'participant'), 403, 'ERR_GROUP_NO_SCOPE_CLEARANCE')
      failure(await change(b, b, 'participant'), 403, 'ERR_GROUP_NO_SELF_ACTION')
      equal(data(await change(c, b, 'moderator')).scope, 'moderator', 'the scope')
    }),
    check('6 Kick', 'ends the membership; the owner is followed by the oldest admin', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      const { guid } = await makeGroup(server, { members: { participants: [b], admins: [c] } }, as(a))
      const kick = (uid: string, by?: string) =>
        server.api.send('DELETE', `/groups/${guid}/members/${uid}`, by === undefined ? {} : as(by))
      failure(await kick(a, c), 403, 'ERR_GROUP_NO_CLEARANCE')
      failure(await kick(c, c), 403, 'ERR_GROUP_NO_SELF_ACTION')
      done(await kick(b, c))
      failure(await kick(b), 404, 'ERR_NOT_A_MEMBER')
      done(await kick(a))
      const group = data(await server.api.get(`/groups/${guid}`))
      equal([group.owner, group.membersCount], [c, 1], 'owner and members')
    }),
    check('15.12 Clients', 'join and leave a public group', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, {}, as(a))
      const client = await clientOf(server, b)
      const joined = data(await client.post(`/groups/${guid}/join`, {}))
      equal(
        [joined.hasJoined, joined.scope, joined.membersCount],
        [true, 'participant', 2],
        'hasJoined, scope, members',
      )
      failure(await client.post(`/groups/${guid}/join`, {}), 409, 'ERR_ALREADY_JOINED')
      done(await client.post(`/groups/${guid}/leave`, {}))
      failure(await client.post(`/groups/${guid}/leave`, {}), 403, 'ERR_GROUP_NOT_JOINED')
      failure(await (await clientOf(server, a)).post(`/groups/${guid}/leave`, {}), 403, 'ERR_GROUP_NO_SELF_ACTION')
    }),
    check('15.12 Clients', 'a password must be right, and a private group stays shut', async (server) => {
      const [a = ''] = await makeUsers(server, 1)
      const locked = await makeGroup(server, { type: 'password', password: 'open sesame' })
      const shut = await makeGroup(server, { type: 'private' })
      const client = await clientOf(server, a)
      failure(await client.post(`/groups/${locked.guid}/join`, {}), 400, 'ERR_EMPTY_GROUP_PASS')
      failure(await client.post(`/groups/${locked.guid}/join`, { password: 'x' }), 403, 'ERR_WRONG_GROUP_PASS')
      success(await client.post(`/groups/${locked.guid}/join`, { password: 'open sesame' }))
      failure(await client.post(`/groups/${shut.guid}/join`, {}), 403, 'ERR_GROUP_JOIN_NOT_ALLOWED')
    }),
  ],
}
