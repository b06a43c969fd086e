import {
  type Check,
  type CheckedArea,
  check,
  data,
  done,
  equal,
  failure,
  holds,
  isSeconds,
  refusals,
  type Server,
  says,
  success,
} from '../check.ts'
import { below, belowDeactivated, makeRole, makeUser, makeUsers, uidsIn } from '../people.ts'

const bad = { status: 400, code: 'ERR_BAD_REQUEST' }
const gone = { status: 404, code: 'ERR_UID_NOT_FOUND' }

/** Bodies with one field at fault, for creating and for changing. */
const wrongFields: [string, object, string][] = [
  ['an empty name', { name: '' }, 'name'],
  ['a blank name', { name: '  ' }, 'name'],
  ['a name of 101 characters', { name: 'x'.repeat(101) }, 'name'],
  ['an avatar that is no address', { avatar: 'Invalid:https://img.example.org/a.png' }, 'avatar'],
  ['a link that is no address', { link: 'ftp://example.org' }, 'link'],
  ['an avatar of more than 3,000 characters', { avatar: `https://example.org/${'x'.repeat(3_000)}` }, 'avatar'],
  ['a status message of 256 characters', { statusMessage: 'x'.repeat(256) }, 'statusMessage'],
  ['metadata that is a list', { metadata: [1] }, 'metadata'],
  ['metadata of more than 5 KB', { metadata: { text: 'x'.repeat(5_200) } }, 'metadata'],
  ['26 tags', { tags: Array.from({ length: 26 }, (_, i) => `t${i}`) }, 'tags'],
  ['a blank tag', { tags: ['fine', ' '] }, 'tags.1'],
  ['a tag of 101 characters', { tags: ['x'.repeat(101)] }, 'tags.0'],
]

const creation: Check[] = [
  check('3 Create', 'answers the record: what was sent, role default, status offline', async (server) => {
    const profile = {
      name: 'Nora Lind',
      avatar: 'https://img.example.org/nora.png',
      link: 'https://example.org/nora',
      statusMessage: 'Here',
      metadata: { team: 'blue' },
      tags: ['beta'],
    }
    const { uid, createdAt, ...user } = await makeUser(server, profile)
    equal(user, { ...profile, role: 'default', status: 'offline' }, 'the record')
    holds(typeof uid === 'string' && isSeconds(createdAt), '`uid` and `createdAt`')
  }),
  check('3 Create', 'a UID in upper case is stored in lower case and found in both', async (server) => {
    const uid = server.fresh('Upper').toUpperCase()
    equal((await makeUser(server, { uid })).uid, uid.toLowerCase(), '`uid`')
    equal(data(await server.api.get(`/users/${uid}`)).uid, uid.toLowerCase(), '`uid` when asked for')
  }),
  check('3 Create', 'a UID that is taken, in any letter case: 400 ERR_UID_ALREADY_EXISTS', async (server) => {
    const { uid } = await makeUser(server)
    const answer = await server.api.post('/users', { uid: uid.toUpperCase(), name: 'Twice' })
    failure(answer, 400, 'ERR_UID_ALREADY_EXISTS')
    says(answer.body.error, 'already exists')
  }),
  check('3 Create', 'the UID of a deactivated user is taken', async (server) => {
    const { uid } = await makeUser(server)
    data(await server.api.delete(`/users/${uid}`))
    failure(await server.api.post('/users', { uid, name: 'Twice' }), 400, 'ERR_UID_ALREADY_EXISTS')
  }),
  check('3 Create', 'a list of users is refused: 400 ERR_BAD_REQUEST', async (server) => {
    const uids = [server.fresh('user'), server.fresh('user')]
    const list = uids.map((uid) => ({ uid, name: 'One of several' }))
    failure(await server.api.post('/users', list), 400, 'ERR_BAD_REQUEST')
    for (const uid of uids) failure(await server.api.get(`/users/${uid}`), 404, 'ERR_UID_NOT_FOUND')
  }),
  check('3 Create', 'of 20 parallel creations of one UID one succeeds', async (server) => {
    const uid = server.fresh('race')
    server.afterwards(() => server.api.delete(`/users/${uid}`, { permanent: true }))
    const tries = Array.from({ length: 20 }, () => server.api.post('/users', { uid, name: 'Race' }))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    equal(statuses.toSorted(), [200, ...Array(19).fill(400)], 'the statuses')
  }),
  check('3 Create', 'metadata may be sent as JSON text and is answered as an object', async (server) => {
    equal((await makeUser(server, { metadata: '{"team": "blue"}' })).metadata, { team: 'blue' }, '`metadata`')
  }),
  check('3 Create', 'the same tag twice counts once', async (server) => {
    equal((await makeUser(server, { tags: ['a', 'b', 'a'] })).tags, ['a', 'b'], '`tags`')
  }),
  check('3 Create', 'a name may be in any script; 100 is counted in UTF-16 units', async (server) => {
    equal((await makeUser(server, { name: '田中 さくら' })).name, '田中 さくら', '`name`')
    equal((await makeUser(server, { name: '🎈'.repeat(50) })).name, '🎈'.repeat(50), '`name`')
    const uid = server.fresh('user')
    failure(await server.api.post('/users', { uid, name: '🎈'.repeat(51) }), 400, 'ERR_BAD_REQUEST', 'name')
  }),
  check('3 Create', 'an authOnly key may create users', async (server) => {
    const uid = server.fresh('user')
    server.afterwards(() => server.api.delete(`/users/${uid}`, { permanent: true }))
    equal(data(await server.auth.post('/users', { uid, name: 'Self-made' })).uid, uid, '`uid`')
  }),
  check('3 Create', 'withAuthToken answers a token that opens the client door', async (server) => {
    const { uid, authToken } = await makeUser(server, { withAuthToken: true })
    holds(typeof authToken === 'string' && authToken.startsWith(`${uid}_`), '`authToken` begins with the UID')
    const client = server.connection.caller(server.url, { authToken })
    equal(data(await client.get(`/users/${uid}`)).uid, uid, 'the user that the client reads')
  }),
  ...refusals('3 Create', [
    ...(
      [
        ['a missing UID', { name: 'x' }, 'uid'],
        ['a blank UID', { uid: ' ', name: 'x' }, 'uid'],
        ['a missing name', { uid: 'conf-x' }, 'name'],
        ...wrongFields.map(([what, fields, field]) => [what, { uid: 'conf-x', name: 'x', ...fields }, field] as const),
        ['withAuthToken that is no boolean', { uid: 'conf-x', name: 'x', withAuthToken: 'perhaps' }, 'withAuthToken'],
      ] as const
    ).map(([expects, body, field]) => ({ expects, method: 'POST' as const, path: '/users', body, field, ...bad })),
    ...['no blanks', 'x'.repeat(101), 'ümlaut', 'dot.ted'].map((uid) => ({
      expects: `the UID ${uid.slice(0, 12)}`,
      method: 'POST' as const,
      path: '/users',
      body: { uid, name: 'x' },
      status: 400,
      code: 'ERR_INVALID_UID',
      field: 'uid',
    })),
    {
      expects: 'the UID app_system',
      method: 'POST',
      path: '/users',
      body: { uid: 'app_system', name: 'x' },
      status: 400,
      code: 'ERR_UID_ALREADY_EXISTS',
    },
    {
      expects: 'an unknown role',
      method: 'POST',
      path: '/users',
      body: { uid: 'conf-x', name: 'x', role: 'conf-nobody' },
      status: 404,
      code: 'ERR_ROLE_NOT_FOUND',
    },
  ]),
]

/** Users with a common word in their names, so that lists can be cut to them. */
async function crowd(server: Server, profiles: object[]): Promise<{ word: string; uids: string[] }> {
  const word = server.fresh('crowd')
  const uids: string[] = []
  for (const [i, profile] of profiles.entries())
    uids.push((await makeUser(server, { name: `${word} ${i}`, ...profile })).uid)
  return { word, uids }
}

const listing: Check[] = [
  check('4 List', 'newest first, then by UID; pages neither repeat nor leave out', async (server) => {
    const { word } = await crowd(server, [{}, {}, {}, {}, {}])
    const whole = data(await server.api.get(`/users?searchKey=${word}`))
    equal(whole.length, 5, 'the number of users found')
    const sorted = whole.toSorted((a: Shown, b: Shown) => b.createdAt - a.createdAt || (a.uid < b.uid ? -1 : 1))
    equal(uidsIn(whole), uidsIn(sorted), 'the order')
    const pages: string[] = []
    for (const page of [1, 2, 3]) {
      pages.push(...uidsIn(data(await server.api.get(`/users?searchKey=${word}&perPage=2&page=${page}`))))
    }
    equal(pages, uidsIn(whole), 'the users, page by page')
  }),
  check('4 List', 'searchKey looks in name and UID, searchIn in one of them, in any letter case', async (server) => {
    const { word, uids } = await crowd(server, [{}])
    const found = async (search: string) => uidsIn(data(await server.api.get(`/users?${search}`)))
    equal(await found(`searchKey=${word.toUpperCase()}`), uids, 'by name')
    equal(await found(`searchKey=${uids[0]?.toUpperCase()}`), uids, 'by UID')
    equal(await found(`searchKey=${word}&searchIn=uid`), [], 'by name, looking in UIDs')
    equal(await found(`searchKey=${word}&searchIn=name,uid`), uids, 'in both, as a comma list')
    equal(await found(`searchKey=${word}&searchIn[]=name&searchIn[]=uid`), uids, 'in both, as name[]')
    equal(await found(`searchKey=${word}&searchIn=name&searchIn=uid`), uids, 'in both, as repeated keys')
  }),
  check('4 List', 'searchKey finds names in any script', async (server) => {
    const { uids } = await crowd(server, [{ name: '渡辺 直美 conformance' }])
    const list = data(await server.api.get(`/users?searchKey=${encodeURIComponent('渡辺')}&perPage=1000`))
    holds(uidsIn(list).includes(uids[0] ?? ''), 'the user is found')
  }),
  check('4 List', 'role, roles and status choose; an unknown one matches nothing', async (server) => {
    const { role } = await makeRole(server)
    const { word, uids } = await crowd(server, [{ role }, {}])
    const found = async (search: string) =>
      uidsIn(data(await server.api.get(`/users?searchKey=${word}&${search}`))).toSorted()
    equal(await found(`role=${role}`), [uids[0]], 'of one role')
    equal(await found(`roles=${role},default`), uids.toSorted(), 'of several roles')
    equal(await found(`roles=${role}&role=default`), uids.toSorted(), 'of role and roles together')
    equal(await found('role=none-such'), [], 'of a role that does not exist')
    equal(await found('status=offline'), uids.toSorted(), 'who are offline')
    equal(await found('status=online'), [], 'who are online')
    equal(await found('status=none-such'), [], 'of a status that does not exist')
  }),
  check('4 List', 'tags finds users with any of them, withTags shows them', async (server) => {
    const [one, two] = [server.fresh('tag'), server.fresh('tag')]
    const { uids } = await crowd(server, [{ tags: [one] }, { tags: [two] }, {}])
    const list = data(await server.api.get(`/users?tags=${one},${two}`))
    equal(uidsIn(list).toSorted(), uids.slice(0, 2).toSorted(), 'users with one of the tags')
    equal('tags' in list[0], false, 'whether tags are shown')
    equal(data(await server.api.get(`/users?tags=${one}&withTags=True`))[0].tags, [one], 'tags when asked for')
  }),
  check('4 List', 'deactivated users appear only when asked for', async (server) => {
    const { word, uids } = await crowd(server, [{}, {}])
    data(await server.api.delete(`/users/${uids[1]}`))
    const found = async (search: string) =>
      uidsIn(data(await server.api.get(`/users?searchKey=${word}${search}`))).toSorted()
    equal(await found(''), [uids[0]], 'unless asked for')
    equal(await found('&withDeactivated=true'), uids.toSorted(), 'withDeactivated')
    equal(await found('&onlyDeactivated=true'), [uids[1]], 'onlyDeactivated')
    equal(await found('&onlyDeactivated=1&withDeactivated=1'), [uids[1]], 'both')
  }),
  check('4 List', 'count changes nothing: the list, with the number in meta.pagination.total', async (server) => {
    const { word } = await crowd(server, [{}, {}])
    const counted = success(await server.api.get(`/users?searchKey=${word}&count=true&perPage=1`))
    equal(counted, success(await server.api.get(`/users?searchKey=${word}&perPage=1`)), 'the answer')
    equal([counted.data.length, counted.meta.pagination.total], [1, 2], 'users and total')
  }),
  check('4 List', 'meta.cursor tells the newest change; an empty list has none', async (server) => {
    const { word, uids } = await crowd(server, [{}])
    const { updatedAt } = data(await server.api.put(`/users/${uids[0]}`, { statusMessage: 'Changed' }))
    const { meta } = success(await server.api.get(`/users?searchKey=${word}`))
    equal(meta.cursor, { updatedAt, affix: 'prepend' }, '`meta.cursor`')
    equal('cursor' in success(await server.api.get('/users?searchKey=conf-none-such')).meta, false, 'a cursor')
  }),
  check('4 List', 'with an acting user: without themself, with conversation ids', async (server) => {
    const { word, uids } = await crowd(server, [{}, {}])
    const [actor = '', other = ''] = uids
    const list = data(await server.api.get(`/users?searchKey=${word}`, { onBehalfOf: actor }))
    equal(uidsIn(list), [other], 'the users')
    equal(list[0].conversationId, [actor, other].toSorted().join('_user_'), '`conversationId`')
  }),
  check('4 List', 'app_system is never listed', async ({ api }) => {
    equal(uidsIn(data(await api.get('/users?searchKey=app_system&searchIn=uid'))), [], 'the users')
  }),
  check('4 List', 'a boolean that is none counts as not sent', async ({ api }) => {
    for (const field of ['count', 'withTags', 'onlyDeactivated', 'withDeactivated']) {
      success(await api.get(`/users?${field}=maybe&perPage=1`))
    }
  }),
  check('4 List', 'onBehalfOf of an unknown user: 404 ERR_UID_NOT_FOUND', async ({ api, fresh }) => {
    failure(await api.get('/users', { onBehalfOf: fresh('ghost') }), 404, 'ERR_UID_NOT_FOUND')
  }),
  check('2 User record', 'metadata under @private is shown to keys that act for nobody alone', async (server) => {
    const metadata = { '@private': { email: 'x@example.org' }, team: 'blue' }
    const { uid } = await makeUser(server, { metadata })
    const [actor = ''] = await makeUsers(server, 1)
    equal(data(await server.api.get(`/users/${uid}`)).metadata, metadata, '`metadata` for the key')
    const seen = data(await server.api.get(`/users/${uid}`, { onBehalfOf: actor })).metadata
    equal(seen, { team: 'blue' }, '`metadata` for another user')
  }),
]

const changes: Check[] = [
  check('6 Update', 'what is not sent stays; metadata and tags are replaced whole', async (server) => {
    const { uid } = await makeUser(server, { metadata: { a: 1 }, tags: ['a', 'b'], statusMessage: 'Here' })
    const user = data(await server.api.put(`/users/${uid}`, { metadata: { b: 2 }, tags: ['c'] }))
    equal([user.metadata, user.tags, user.statusMessage], [{ b: 2 }, ['c'], 'Here'], 'metadata, tags, statusMessage')
    holds(isSeconds(user.updatedAt), '`updatedAt` is in UNIX seconds')
    equal('tags' in data(await server.api.put(`/users/${uid}`, { tags: [] })), false, 'tags after an empty list')
  }),
  check('6 Update', 'unset removes, and wins over a value beside it', async (server) => {
    const { uid } = await makeUser(server, { avatar: 'https://example.org/a.png', metadata: { a: 1 } })
    const body = { avatar: 'https://example.org/b.png', unset: ['avatar', 'metadata', 'link'] }
    const user = data(await server.api.put(`/users/${uid}`, body))
    equal(['avatar' in user, 'metadata' in user], [false, false], 'whether they are still there')
  }),
  check('6 Update', '`activated` is ignored: no user is deactivated or reactivated so', async (server) => {
    const user = await makeUser(server)
    equal(data(await server.api.put(`/users/${user.uid}`, { activated: false })), user, 'the record')
    data(await server.api.delete(`/users/${user.uid}`))
    failure(await server.api.put(`/users/${user.uid}`, { activated: true }), 404, 'ERR_UID_NOT_FOUND')
  }),
  check('6 Update', 'an empty body changes nothing, and a UID in the body is ignored', async (server) => {
    const user = await makeUser(server)
    equal(data(await server.api.put(`/users/${user.uid}`, {})), user, 'the record')
    equal(data(await server.api.put(`/users/${user.uid}`, { uid: 'other' })).uid, user.uid, '`uid`')
  }),
  ...refusals('6 Update', [
    ...wrongFields.map(([expects, body, field]) => ({
      expects,
      method: 'PUT' as const,
      path: below(''),
      body,
      field,
      ...bad,
    })),
    {
      expects: 'an unknown word in unset',
      method: 'PUT',
      path: below(''),
      body: { unset: ['avatar', 'role'] },
      field: 'unset.1',
      ...bad,
    },
    {
      expects: 'an unknown role',
      method: 'PUT',
      path: below(''),
      body: { role: 'conf-nobody' },
      status: 404,
      code: 'ERR_ROLE_NOT_FOUND',
    },
    { expects: 'an unknown user', method: 'PUT', path: '/users/conf-nobody', body: {}, ...gone },
    { expects: 'a deactivated user', method: 'PUT', path: belowDeactivated(''), body: {}, ...gone },
  ]),
  ...refusals('5 Get', [
    { expects: 'an unknown user', path: '/users/conf-nobody', ...gone },
    { expects: 'a deactivated user', path: belowDeactivated(''), ...gone },
  ]),
]

const leaving: Check[] = [
  check('7 Delete', 'deactivates unless told otherwise, also without a body and a second time', async (server) => {
    const { uid } = await makeUser(server)
    equal(data(await server.api.delete(`/users/${uid}`)), { deactivatedUids: [uid] }, '`data`')
    const again = await server.api.send('DELETE', `/users/${uid}`, {
      raw: '',
      headers: { 'content-type': 'application/json' },
    })
    equal(data(again), { alreadyDeactivatedUids: [uid] }, '`data` of the second time')
    failure(await server.api.get('/calls', { onBehalfOf: uid }), 404, 'ERR_UID_NOT_FOUND')
  }),
  check('7 Delete', 'permanent: true removes the user, also a deactivated one, and frees the UID', async (server) => {
    const { uid } = await makeUser(server)
    data(await server.api.delete(`/users/${uid}`))
    done(await server.api.delete(`/users/${uid}`, { permanent: true }))
    failure(await server.api.delete(`/users/${uid}`, { permanent: true }), 404, 'ERR_UID_NOT_FOUND')
    equal(data(await server.api.post('/users', { uid, name: 'Again' })).name, 'Again', '`name` of the next user')
  }),
  check(
    '8 Deactivate, reactivate',
    'answers by what became of each; unknown UIDs as they were sent',
    async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const ghost = server.fresh('Ghost').toUpperCase()
      data(await server.api.delete(`/users/${b}`))
      const off = data(await server.api.delete('/users', { uidsToDeactivate: [a.toUpperCase(), b, ghost] }))
      equal(off, { deactivatedUids: [a], alreadyDeactivatedUids: [b], notFound: [ghost] }, '`data` of deactivating')
      const on = data(await server.api.put('/users', { uidsToActivate: [a, ghost] }))
      equal(on, { reactivatedUids: [a], notFound: [ghost] }, '`data` of reactivating')
      const again = data(await server.api.put('/users', { uidsToActivate: [a, b] }))
      equal(again, { reactivatedUids: [b], nonDeactivatedUids: [a] }, '`data` of the second time')
      const user = data(await server.api.get(`/users/${a}`))
      equal(['deactivatedAt' in user, isSeconds(user.updatedAt)], [false, true], 'deactivatedAt and updatedAt')
    },
  ),
  check('8 Deactivate, reactivate', 'only unknown UIDs: still 200', async ({ api, fresh }) => {
    const ghost = fresh('ghost')
    equal(data(await api.put('/users', { uidsToActivate: [ghost] })), { notFound: [ghost] }, '`data`')
  }),
  ...refusals('8 Deactivate, reactivate', [
    { expects: 'no list to deactivate', method: 'DELETE', path: '/users', body: {}, field: 'uidsToDeactivate', ...bad },
    {
      expects: 'an empty list to deactivate',
      method: 'DELETE',
      path: '/users',
      body: { uidsToDeactivate: [] },
      field: 'uidsToDeactivate',
      ...bad,
    },
    { expects: 'no list to reactivate', method: 'PUT', path: '/users', body: {}, field: 'uidsToActivate', ...bad },
    { expects: 'deleting an unknown user', method: 'DELETE', path: '/users/conf-nobody', ...gone },
  ]),
  ...(['GET /users', 'GET /users/x', 'PUT /users/x', 'DELETE /users/x', 'PUT /users', 'DELETE /users'] as const).map(
    (route) =>
      check('9 Errors', `an authOnly key may not ${route}: 403 AUTH_ERR_NO_ACCESS`, async ({ auth }) => {
        const [method = '', path = ''] = route.split(' ')
        failure(await auth.send(method, path), 403, 'AUTH_ERR_NO_ACCESS')
      }),
  ),
]

// biome-ignore lint/suspicious/noExplicitAny: the other side may answer anything
type Shown = any

export const users: CheckedArea = {
  name: 'users',
  title: 'Users',
  contract: '02',
  checks: [...creation, ...listing, ...changes, ...leaving],
}
