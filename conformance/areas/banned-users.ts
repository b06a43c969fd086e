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

export const bannedUsers: CheckedArea = {
  name: 'banned-users',
  title: 'Banned users',
  contract: '12',
  checks: [
    check('2 Ban', 'ends the membership and keeps the user out', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, { members: { participants: [b] } }, as(a))
      done(await server.api.post(`/groups/${guid}/bannedusers/${b}`))
      equal(data(await server.api.get(`/groups/${guid}`)).membersCount, 1, '`membersCount`')
      failure(await server.api.post(`/groups/${guid}/bannedusers/${b}`), 409, 'ERR_ALREADY_BANNED')
      failure(await (await clientOf(server, b)).post(`/groups/${guid}/join`, {}), 403, 'ERR_BANNED_GROUPMEMBER')
      const { participants } = data(await server.api.post(`/groups/${guid}/members`, { participants: [b] }))
      failedEntry(participants[b], 'ERR_BANNED_GROUPMEMBER', 'the banned')
    }),
    check('2 Ban', 'clearance: not the owner, not oneself, not by participants', async (server) => {
      const [a = '', b = '', c = '', d = ''] = await makeUsers(server, 4)
      const { guid } = await makeGroup(server, { members: { moderators: [b], participants: [c] } }, as(a))
      const ban = (uid: string, by: string) => server.api.send('POST', `/groups/${guid}/bannedusers/${uid}`, as(by))
      failure(await ban(a, b), 403, 'ERR_GROUP_NO_CLEARANCE')
      failure(await ban(b, b), 403, 'ERR_GROUP_NO_SELF_ACTION')
      failure(await ban(b, c), 403, 'ERR_GROUP_NO_CLEARANCE')
      failure(await ban(c, d), 403, 'ERR_GROUP_NOT_JOINED')
      done(await ban(c, b))
    }),
    check('2 Ban', 'a user outside: 404 ERR_NOT_A_MEMBER; `usersToBan` bans anybody', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, {}, as(a))
      const path = `/groups/${guid}/bannedusers`
      failure(await server.api.post(`${path}/${b}`), 404, 'ERR_NOT_A_MEMBER')
      failure(await server.api.send('POST', `${path}/${b}`, as(a)), 404, 'ERR_NOT_A_MEMBER')
      const { usersToBan } = data(await server.api.post(`/groups/${guid}/members`, { usersToBan: [b] }))
      equal(usersToBan[b].success, true, '`success` of the ban ahead')
      const again = await server.api.post(`${path}/${b}`)
      failure(again, 409, 'ERR_ALREADY_BANNED')
      says(again.body.error, 'already')
    }),
    check('3 Unban', 'does not bring the user back', async (server) => {
      const [a = ''] = await makeUsers(server, 1)
      const { guid } = await makeGroup(server, { members: { participants: [a] } })
      failure(await server.api.delete(`/groups/${guid}/bannedusers/${a}`), 404, 'ERR_NOT_A_BANNED_USER')
      done(await server.api.post(`/groups/${guid}/bannedusers/${a}`))
      done(await server.api.delete(`/groups/${guid}/bannedusers/${a}`))
      equal(data(await server.api.get(`/groups/${guid}`)).membersCount, 0, '`membersCount`')
    }),
    check('4 List', 'tells what the banned were, and when they were banned', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      const { guid } = await makeGroup(server, { members: { moderators: [a], participants: [c] } })
      done(await server.api.post(`/groups/${guid}/bannedusers/${a}`))
      data(await server.api.post(`/groups/${guid}/members`, { usersToBan: [b] }))
      const { data: list, meta } = success(await server.api.get(`/groups/${guid}/bannedusers`))
      equal([uidsIn(list).toSorted(), meta.pagination.total], [[a, b].toSorted(), 2], 'UIDs and total')
      const of = (wanted: string) => list.find(({ uid }: { uid: string }) => uid === wanted)
      equal([of(a).isBanned, of(a).scope, 'scope' in of(b)], [true, 'moderator', false], 'isBanned and scopes')
      holds(isSeconds(of(a).bannedAt) && isSeconds(of(a).joinedAt), '`bannedAt` and `joinedAt` in seconds')
      equal(uidsIn(data(await server.api.get(`/groups/${guid}/bannedusers?searchKey=${a}`))), [a], 'by UID')
      failure(await server.api.send('GET', `/groups/${guid}/bannedusers`, as(c)), 403, 'ERR_GROUP_NO_MODERATOR_SCOPE')
    }),
    check('1 Endpoints', 'the path `banned_members` is the same', async (server) => {
      const [a = ''] = await makeUsers(server, 1)
      const { guid } = await makeGroup(server, { members: { participants: [a] } })
      done(await server.api.post(`/groups/${guid}/banned_members/${a}`))
      equal(uidsIn(data(await server.api.get(`/groups/${guid}/banned_members`))), [a], 'UIDs')
      done(await server.api.delete(`/groups/${guid}/banned_members/${a}`))
    }),
  ],
}
