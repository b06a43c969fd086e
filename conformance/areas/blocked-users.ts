import {
  type CheckedArea,
  check,
  data,
  doneEntry,
  equal,
  failedEntry,
  failure,
  holds,
  isSeconds,
  refusals,
  success,
} from '../check.ts'
import { below, belowDeactivated, clientOf, makeUser, makeUsers, uidsIn } from '../people.ts'

const methods = ['POST', 'DELETE'] as const
const path = (uid: string) => `/users/${uid}/blockedusers`

const badLists = methods.flatMap((method) =>
  (
    [
      ['missing', {}, 'blockedUids'],
      ['empty', { blockedUids: [] }, 'blockedUids'],
      ['no list', { blockedUids: 'milo' }, 'blockedUids'],
      ['with a blank entry', { blockedUids: ['milo', ' '] }, 'blockedUids.1'],
    ] as const
  ).map(([what, body, field]) => ({
    expects: `${method} with a list that is ${what}`,
    method,
    path: below('/blockedusers'),
    body,
    status: 400,
    code: 'ERR_BAD_REQUEST',
    field,
  })),
)

const goneUsers = (['GET', ...methods] as const).flatMap((method) => {
  const rest = { method, body: { blockedUids: ['x'] }, status: 404, code: 'ERR_UID_NOT_FOUND' }
  return [
    { expects: `${method} for an unknown user`, path: path('conf-nobody'), ...rest },
    { expects: `${method} for a deactivated user`, path: belowDeactivated('/blockedusers'), ...rest },
  ]
})

export const blockedUsers: CheckedArea = {
  name: 'blocked-users',
  title: 'Blocked users',
  contract: '09',
  checks: [
    check('2 Block', 'answers for each UID as stored: blocked, oneself, unknown, deactivated', async (server) => {
      const [a = '', b = '', gone = ''] = await makeUsers(server, 3)
      data(await server.api.delete(`/users/${gone}`))
      const ghost = server.fresh('ghost')
      const entries = data(await server.api.post(path(a), { blockedUids: [b.toUpperCase(), b, a, ghost, gone] }))
      equal(Object.keys(entries).toSorted(), [a, b, ghost, gone].toSorted(), 'the UIDs answered')
      doneEntry(entries[b], 'the other')
      failedEntry(entries[a], 'ERR_CANNOT_BLOCK_SELF', 'oneself')
      failedEntry(entries[ghost], 'ERR_UID_NOT_FOUND', 'the unknown user')
      failedEntry(entries[gone], 'ERR_UID_NOT_FOUND', 'the deactivated user')
    }),
    check('2 Block', 'blocking twice is a success and keeps the first time', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      data(await server.api.post(path(a), { blockedUids: [b] }))
      const [first] = data(await server.api.get(path(a)))
      doneEntry(data(await server.api.post(path(a), { blockedUids: [b] }))[b], 'the second block')
      equal(data(await server.api.get(path(a)))[0].blockedByMeAt, first.blockedByMeAt, '`blockedByMeAt`')
    }),
    check('2 Unblock', 'lifts a block; not blocked and oneself succeed too, an unknown user fails', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      data(await server.api.post(path(a), { blockedUids: [b] }))
      const ghost = server.fresh('ghost')
      const entries = data(await server.api.delete(path(a), { blockedUids: [b, c, a, ghost] }))
      for (const uid of [a, b, c]) doneEntry(entries[uid], uid)
      failedEntry(entries[ghost], 'ERR_UID_NOT_FOUND', 'the unknown user')
      equal(data(await server.api.get(path(a))), [], 'blocked users')
    }),
    check('2 Unblock', 'a deactivated user can be unblocked', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      data(await server.api.post(path(a), { blockedUids: [b] }))
      data(await server.api.delete(`/users/${b}`))
      doneEntry(data(await server.api.delete(path(a), { blockedUids: [b] }))[b], 'the deactivated user')
    }),
    ...refusals('2 Block, unblock', badLists),
    ...refusals('2 Block, unblock', goneUsers),
    check('3 List', 'shows the blocks of the pair, the conversation and a cursor', async (server) => {
      const a = await makeUser(server)
      const b = await makeUser(server)
      data(await server.api.post(path(a.uid), { blockedUids: [b.uid] }))
      data(await server.api.post(path(b.uid), { blockedUids: [a.uid] }))
      const { data: list, meta } = success(await server.api.get(path(a.uid)))
      const [shown] = list
      equal([shown.uid, shown.blockedByMe, shown.hasBlockedMe], [b.uid, true, true], 'uid and both blocks')
      for (const name of ['blockedByMeAt', 'hasBlockedMeAt', 'blockedAt']) {
        holds(isSeconds(shown[name]), `\`${name}\` is in UNIX seconds`)
      }
      equal(shown.blockedAt, Math.max(shown.blockedByMeAt, shown.hasBlockedMeAt), '`blockedAt`')
      equal(shown.conversationId, [a.uid, b.uid].toSorted().join('_user_'), '`conversationId`')
      equal(meta.cursor, { updatedAt: b.createdAt, affix: 'prepend' }, '`meta.cursor`')
    }),
    check('3 List', 'the oldest block first, with true totals', async (server) => {
      const [a = '', ...others] = await makeUsers(server, 4)
      const [first = '', second = '', third = ''] = others.toSorted().toReversed()
      data(await server.api.post(path(a), { blockedUids: [first] }))
      await server.nextSecond()
      data(await server.api.post(path(a), { blockedUids: [second, third] }))
      const { data: list, meta } = success(await server.api.get(path(a)))
      // Those of one moment come by their UIDs.
      equal(uidsIn(list), [first, third, second], 'the order')
      equal([meta.pagination.total, meta.pagination.total_pages], [3, 1], 'total and total_pages')
      const page = success(await server.api.get(`${path(a)}?perPage=2&page=2`))
      equal([uidsIn(page.data), page.meta.pagination.total_pages], [[second], 2], 'the second page')
    }),
    check('3 List', 'direction chooses whose block counts; blockedByMe unless given', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      data(await server.api.post(path(a), { blockedUids: [b] }))
      data(await server.api.post(path(c), { blockedUids: [a] }))
      const listed = async (search: string) => uidsIn(data(await server.api.get(`${path(a)}${search}`))).toSorted()
      equal(await listed(''), [b], 'without a direction')
      equal(await listed('?direction=blockedByMe'), [b], 'blockedByMe')
      equal(await listed('?direction=hasBlockedMe'), [c], 'hasBlockedMe')
      equal(await listed('?direction=both'), [b, c].toSorted(), 'both')
    }),
    check('3 List', 'a direction without a block is left out of the record', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      data(await server.api.post(path(a), { blockedUids: [b] }))
      const [shown] = data(await server.api.get(path(a)))
      equal(['hasBlockedMe' in shown, 'hasBlockedMeAt' in shown], [false, false], 'whether the reverse block is shown')
    }),
    check('3 List', 'searchKey finds the beginning of a name in any letter case', async (server) => {
      const [a = '', other = ''] = await makeUsers(server, 2)
      const b = await makeUser(server, { name: '田中 Kenji' })
      data(await server.api.post(path(a), { blockedUids: [b.uid, other] }))
      const list = data(await server.api.get(`${path(a)}?searchKey=${encodeURIComponent('田中')}`))
      equal(uidsIn(list), [b.uid], 'the users found')
    }),
    check('3 List', 'a deactivated user is left out, the block is kept', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      data(await server.api.post(path(a), { blockedUids: [b] }))
      data(await server.api.delete(`/users/${b}`))
      equal(data(await server.api.get(path(a))), [], 'while deactivated')
      data(await server.api.put('/users', { uidsToActivate: [b] }))
      equal(uidsIn(data(await server.api.get(path(a)))), [b], 'after that')
    }),
    check('4 Effect', 'friendship stays', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      data(await server.api.post(`/users/${a}/friends`, { accepted: [b] }))
      data(await server.api.post(path(a), { blockedUids: [b] }))
      const [friend] = data(await server.api.get(`/users/${a}/friends`))
      equal([friend?.uid, friend?.blockedByMe], [b, true], 'the friend and the block')
    }),
    check('4 Effect', 'lists of users with an acting user show blocks', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      data(await server.api.post(path(a), { blockedUids: [b] }))
      const mine = data(await server.api.get(`/users/${b}`, { onBehalfOf: a }))
      const theirs = data(await server.api.get(`/users/${a}`, { onBehalfOf: b }))
      equal([mine.blockedByMe, theirs.hasBlockedMe], [true, true], 'blockedByMe and hasBlockedMe')
    }),
    check('4 Effect', 'a client manages the blocks of its own user and of nobody else', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const client = await clientOf(server, a)
      doneEntry(data(await client.post(path(a), { blockedUids: [b] }))[b], 'the block')
      equal(uidsIn(data(await client.get(path(a)))), [b], 'blocked users')
      const { status } = await client.get(path(b))
      holds(status === 403 || status === 404, 'a refusal')
    }),
    check('4 Effect', 'deletion for good removes blocks, also for the next user of that UID', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      data(await server.api.post(path(a), { blockedUids: [b] }))
      data(await server.api.delete(`/users/${b}`, { permanent: true }))
      data(await server.api.post('/users', { uid: b, name: 'Another' }))
      equal(data(await server.api.get(`${path(a)}?direction=both`)), [], 'blocked users')
    }),
    check('5 Errors', 'an authOnly key: 403 AUTH_ERR_NO_ACCESS', async (server) => {
      failure(await server.auth.get(path('conf-nobody')), 403, 'AUTH_ERR_NO_ACCESS')
    }),
  ],
}
