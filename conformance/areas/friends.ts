import {
  type CheckedArea,
  check,
  data,
  done,
  doneEntry,
  equal,
  failedEntry,
  failure,
  refusals,
  says,
  success,
} from '../check.ts'
import { as, below, belowDeactivated, makeUser, makeUsers, uidsIn } from '../people.ts'

const lists = {
  missing: undefined,
  empty: [],
  'no list': 'milo',
  'with a blank entry': ['milo', ' '],
  'of 26 users': Array.from({ length: 26 }, (_, i) => `conf-nobody-${i}`),
}

const badLists = (method: 'POST' | 'DELETE', field: string) =>
  Object.entries(lists).map(([what, list]) => ({
    expects: `a list that is ${what}`,
    method,
    path: below('/friends'),
    body: { [field]: list },
    status: 400,
    code: 'ERR_BAD_REQUEST',
    field,
  }))

const goneUsers = (method: 'GET' | 'POST' | 'DELETE', body?: object) => {
  const rest = { method, ...(body && { body }), status: 404, code: 'ERR_UID_NOT_FOUND' }
  return [
    { expects: 'a path user who is unknown', path: '/users/conf-nobody/friends', ...rest },
    { expects: 'a path user who is deactivated', path: belowDeactivated('/friends'), ...rest },
  ]
}

export const friends: CheckedArea = {
  name: 'friends',
  title: 'Friends',
  contract: '08',
  checks: [
    check('2 Add', 'makes both friends of each other, answering below data.accepted', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { accepted } = data(await server.api.post(`/users/${a}/friends`, { accepted: [b] }))
      equal(Object.keys(accepted), [b], 'the UIDs answered')
      doneEntry(accepted[b], b)
      equal(uidsIn(data(await server.api.get(`/users/${a}/friends`))), [b], 'friends of the one')
      equal(uidsIn(data(await server.api.get(`/users/${b}/friends`))), [a], 'friends of the other')
    }),
    check('2 Add', 'UIDs are lower-cased, and one named twice counts once', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const body = { accepted: [b.toUpperCase(), b] }
      const { accepted } = data(await server.api.post(`/users/${a.toUpperCase()}/friends`, body))
      equal(Object.keys(accepted), [b], 'the UIDs answered')
    }),
    check('2 Add', 'each entry fails alone: already a friend, oneself, unknown, deactivated', async (server) => {
      const [a = '', b = '', gone = ''] = await makeUsers(server, 3)
      data(await server.api.post(`/users/${a}/friends`, { accepted: [b] }))
      data(await server.api.delete(`/users/${gone}`))
      const ghost = server.fresh('ghost')
      const body = { accepted: [b, a, ghost, gone] }
      const { accepted } = data(await server.api.post(`/users/${a}/friends`, body))
      failedEntry(accepted[b], 'ERR_ALREADY_FRIEND', 'the friend')
      says(accepted[b].error, 'already')
      failedEntry(accepted[a], 'ERR_CANNOT_FORM_SELF_RELATION', 'oneself')
      failedEntry(accepted[ghost], 'ERR_UID_NOT_FOUND', 'the unknown user')
      failedEntry(accepted[gone], 'ERR_UID_NOT_FOUND', 'the deactivated user')
    }),
    check('2 Add', 'addToConversations: listed for both a moment later, with nothing said', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      data(await server.api.post(`/users/${a}/friends`, { accepted: [b], addToConversations: true }))
      for (const [uid, other] of [
        [a, b],
        [b, a],
      ] as const) {
        const list = () => server.api.send('GET', '/conversations', as(uid))
        const [conversation, ...more] = data(await server.soon(list, ({ body }) => body?.data?.length > 0))
        equal([conversation?.conversationWith.uid, more.length], [other, 0], 'the conversations listed')
        equal(['lastMessage' in conversation, conversation.unreadMessageCount], [false, '0'], 'last message and unread')
      }
    }),
    ...refusals('2 Add', [...badLists('POST', 'accepted'), ...goneUsers('POST', { accepted: ['x'] })]),
    check('3 List', 'shows users without tags, with the conversation of the two and a cursor', async (server) => {
      const { uid } = await makeUser(server)
      const friend = await makeUser(server, { tags: ['conformance'] })
      data(await server.api.post(`/users/${uid}/friends`, { accepted: [friend.uid] }))
      const { data: list, meta } = success(await server.api.get(`/users/${uid}/friends`))
      equal('tags' in list[0], false, 'whether tags are shown')
      equal(list[0].conversationId, [uid, friend.uid].toSorted().join('_user_'), '`conversationId`')
      equal(meta.cursor, { updatedAt: friend.createdAt, affix: 'prepend' }, '`meta.cursor`')
    }),
    check('3 List', 'searchKey finds the beginning of a name or UID in any letter case', async (server) => {
      const [uid = ''] = await makeUsers(server, 1)
      const friend = await makeUser(server, { name: 'Zoë Quartz' })
      const [other = ''] = await makeUsers(server, 1)
      data(await server.api.post(`/users/${uid}/friends`, { accepted: [friend.uid, other] }))
      const found = async (key: string) =>
        uidsIn(data(await server.api.get(`/users/${uid}/friends?searchKey=${encodeURIComponent(key)}`)))
      equal(await found('ZOË'), [friend.uid], 'friends found by name')
      equal(await found(other.toUpperCase()), [other], 'friends found by UID')
      equal(await found('none-such'), [], 'friends found by a key that nobody has')
    }),
    check('3 List', 'no friends: an empty list without a cursor', async (server) => {
      const [uid = ''] = await makeUsers(server, 1)
      const { data: list, meta } = success(await server.api.get(`/users/${uid}/friends`))
      equal(
        [list, meta.pagination.total, 'cursor' in meta],
        [[], 0, false],
        'data, total and whether there is a cursor',
      )
    }),
    check('3 List', 'a deactivated friend is left out and comes back', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      data(await server.api.post(`/users/${a}/friends`, { accepted: [b] }))
      data(await server.api.delete(`/users/${b}`))
      equal(data(await server.api.get(`/users/${a}/friends`)), [], 'friends while deactivated')
      data(await server.api.put('/users', { uidsToActivate: [b] }))
      equal(uidsIn(data(await server.api.get(`/users/${a}/friends`))), [b], 'friends after that')
    }),
    ...refusals('3 List', goneUsers('GET')),
    check('4 Remove', 'ends friendships in both directions, passing over who is no friend', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      data(await server.api.post(`/users/${a}/friends`, { accepted: [b] }))
      done(await server.api.delete(`/users/${b}/friends`, { friends: [a, c, server.fresh('ghost')] }))
      equal(data(await server.api.get(`/users/${a}/friends`)), [], 'friends of the one')
      equal(data(await server.api.get(`/users/${b}/friends`)), [], 'friends of the other')
    }),
    check('4 Remove', 'none of them is a friend: 404 ERR_NOT_A_FRIEND', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      failure(await server.api.delete(`/users/${a}/friends`, { friends: [b] }), 404, 'ERR_NOT_A_FRIEND')
    }),
    ...refusals('4 Remove', [...badLists('DELETE', 'friends'), ...goneUsers('DELETE', { friends: ['x'] })]),
    check(
      '5 Effects',
      'a user deleted for good is nobody’s friend, nor is the next user of that UID',
      async (server) => {
        const [a = '', b = ''] = await makeUsers(server, 2)
        data(await server.api.post(`/users/${a}/friends`, { accepted: [b] }))
        done(await server.api.delete(`/users/${b}`, { permanent: true }))
        data(await server.api.post('/users', { uid: b, name: 'Another' }))
        equal(data(await server.api.get(`/users/${a}/friends`)), [], 'friends of the one')
        equal(data(await server.api.get(`/users/${b}/friends`)), [], 'friends of the next')
      },
    ),
  ],
}
