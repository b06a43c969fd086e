import {
  type Check,
  type CheckedArea,
  check,
  data,
  equal,
  failure,
  holds,
  isSeconds,
  type Server,
  success,
} from '../check.ts'
import { makeRole, makeUser, makeUsers } from '../people.ts'

/** How requests are read: what clients write in other ways than the reference shows. */

const urlencoded = { 'content-type': 'application/x-www-form-urlencoded' }
const boundary = 'conf-boundary'
const inParts = { 'content-type': `multipart/form-data; boundary=${boundary}` }

function formOf(fields: Record<string, string>): string {
  return new URLSearchParams(fields).toString()
}

function partsOf(fields: Record<string, string>): string {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return `${parts.join('')}--${boundary}--\r\n`
}

/** A whole number that nobody has used as an id. */
function freshNumber(server: Server): number {
  const number = Math.floor(Date.now() / 1000) * 10_000 + Math.floor(Math.random() * 10_000)
  server.afterwards(() => server.api.delete(`/users/${number}`, { permanent: true }))
  return number
}

const bodies: Check[] = [
  check('2 Request bodies', '`[]` is an empty body', async (server) => {
    const { uid } = await makeUser(server)
    const empty = { raw: '[]' }
    equal(data(await server.api.send('PUT', `/users/${uid}`, empty)).uid, uid, 'the record')
    const { authToken } = data(await server.api.send('POST', `/users/${uid}/auth_tokens`, empty))
    const path = `/users/${uid}/auth_tokens/${authToken}`
    equal(data(await server.api.send('PUT', path, empty)).authToken, authToken, 'the token')
    success(await server.api.send('DELETE', path, empty))
    success(await server.api.send('DELETE', `/users/${uid}/auth_tokens`, empty))
    failure(await server.api.send('POST', '/users', empty), 400, 'ERR_BAD_REQUEST', 'uid')
  }),
  check('2 Request bodies', 'an array with entries, or no object at all: 400 ERR_BAD_REQUEST', async ({ api }) => {
    for (const raw of ['[{"uid":"x","name":"X"}]', '"text"', '3', 'true', 'null']) {
      failure(await api.send('POST', '/users', { raw }), 400, 'ERR_BAD_REQUEST')
    }
  }),
  check('2 Request bodies', 'a body of a GET is ignored', async (server) => {
    const { uid } = await makeUser(server)
    for (const raw of ['[]', '{', '{"uid":"other"}']) {
      equal(data(await server.api.send('GET', `/users/${uid}`, { raw })).uid, uid, '`uid`')
    }
  }),
  check('2 Request bodies', 'JSON is read under any content type', async (server) => {
    const { uid } = await makeUser(server)
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream']) {
      const sending = { raw: JSON.stringify({ name: type }), headers: { 'content-type': type } }
      equal(data(await server.api.send('PUT', `/users/${uid}`, sending)).name, type, '`name`')
    }
  }),
  check('2 Request bodies', 'a form says what its JSON twin says', async (server) => {
    const fields = { name: 'Form', withAuthToken: '1', 'tags[]': 'a', metadata: '{"n":1}', avatar: '' }
    for (const [headers, write] of [[urlencoded, formOf] as const, [inParts, partsOf] as const]) {
      const uid = server.fresh('form')
      server.afterwards(() => server.api.delete(`/users/${uid}`, { permanent: true }))
      const user = data(await server.api.send('POST', '/users', { raw: write({ uid, ...fields }), headers }))
      equal([user.uid, user.name, user.tags, user.metadata], [uid, 'Form', ['a'], { n: 1 }], 'the record')
      holds(typeof user.authToken === 'string' && !('avatar' in user), 'a token, and no avatar')
    }
  }),
  check('2 Request bodies', '`null` counts as not sent, and what is required is then missing', async (server) => {
    const { uid } = await makeUser(server, { avatar: 'https://example.org/a.png', tags: ['t'] })
    const kept = data(await server.api.put(`/users/${uid}`, { avatar: null, tags: null, name: null }))
    equal([kept.avatar, kept.tags], ['https://example.org/a.png', ['t']], 'what is kept')
    failure(await server.api.post('/users', { uid: server.fresh('u'), name: null }), 400, 'ERR_BAD_REQUEST', 'name')
  }),
  check('2 Request bodies', 'an empty text counts as not sent when something is created', async (server) => {
    const empty = { avatar: '', link: '', role: '', statusMessage: '', metadata: '', tags: '', withAuthToken: '' }
    const user = await makeUser(server, empty)
    equal([user.avatar, user.role, user.tags, user.authToken], [undefined, 'default', undefined, undefined], 'the user')
  }),
  check('2 Request bodies', 'an empty text in an update clears what can be cleared', async (server) => {
    const full = { avatar: 'https://example.org/a', link: 'https://example.org/l', statusMessage: 'here', tags: ['t'] }
    const { uid } = await makeUser(server, full)
    const cleared = { avatar: '', link: '', statusMessage: '', role: '', metadata: '' }
    const user = data(await server.api.put(`/users/${uid}`, cleared))
    equal([user.avatar, user.link, user.statusMessage, user.tags], [undefined, undefined, undefined, ['t']], 'the user')
    failure(await server.api.put(`/users/${uid}`, { name: '' }), 400, 'ERR_BAD_REQUEST', 'name')
    const { role } = await makeRole(server)
    success(await server.api.put(`/roles/${role}`, { description: 'for a while' }))
    equal(data(await server.api.put(`/roles/${role}`, { description: '' })).description, undefined, '`description`')
    const guid = server.fresh('g')
    server.afterwards(() => server.api.delete(`/groups/${guid}`))
    success(await server.api.post('/groups', { guid, name: 'G', icon: 'https://example.org/i', description: 'd' }))
    const group = data(await server.api.put(`/groups/${guid}`, { icon: '', description: '', type: '' }))
    equal([group.icon, group.description, group.type], [undefined, undefined, 'public'], 'the group')
  }),
  check('2 Request bodies', 'a whole number is taken for an id, also in lists; answers show text', async (server) => {
    const [uid, guid] = [freshNumber(server), freshNumber(server)]
    equal(data(await server.api.post('/users', { uid, name: 'Number' })).uid, String(uid), '`uid`')
    server.afterwards(() => server.api.delete(`/groups/${guid}`))
    const group = data(await server.api.post('/groups', { guid, name: 'G', members: { participants: [uid] } }))
    equal([group.guid, group.membersCount], [String(guid), 1], 'the group')
    const sent = { receiver: guid, receiverType: 'group', muid: 7, data: { text: 'hi' } }
    const message = data(await server.api.post('/messages', sent))
    equal([message.receiver, message.muid], [String(guid), '7'], 'the message')
    for (const wrong of [1.5, -1, 2 ** 53]) {
      failure(await server.api.post('/users', { uid: wrong, name: 'No' }), 400, 'ERR_BAD_REQUEST', 'uid')
    }
  }),
  check('9 Sizes', 'a blank is a password', async (server) => {
    const guid = server.fresh('locked')
    server.afterwards(() => server.api.delete(`/groups/${guid}`))
    const locked = { guid, name: 'L', type: 'password' }
    failure(await server.api.post('/groups', { ...locked, password: '' }), 400, 'ERR_EMPTY_GROUP_PASS')
    success(await server.api.post('/groups', { ...locked, password: ' ' }))
    success(await server.api.put(`/groups/${guid}`, { password: ' ' }))
  }),
]

const sentences: Check[] = [
  check('5 Words', 'what is taken is said to exist already', async (server) => {
    const { uid } = await makeUser(server)
    const { role } = await makeRole(server)
    const guid = server.fresh('taken')
    server.afterwards(() => server.api.delete(`/groups/${guid}`))
    success(await server.api.post('/groups', { guid, name: 'T', members: { participants: [uid] } }))
    const [key] = data(await server.api.get('/apikeys?perPage=1'))
    for (const [path, body] of [
      ['/users', { uid, name: 'Again' }],
      ['/groups', { guid, name: 'Again' }],
      ['/roles', { role, name: 'Again' }],
      ['/apikeys', { name: key.name }],
    ] as const) {
      const answer = await server.api.post(path, body)
      equal(answer.status, 400, `the status of a second one at ${path}`)
      holds(/already exists/.test(answer.body.error.message), `"already exists" in the message of ${path}`)
    }
    const again = data(await server.api.post(`/groups/${guid}/members`, { participants: [uid] }))
    holds(/already joined/.test(again.participants[uid].error.message), '"already joined" of a member')
  }),
]

const queries: Check[] = [
  check('7 Pagination', '`per_page` means `perPage`, which wins', async ({ api }) => {
    for (const search of ['per_page=2', 'per_page=9&per_page=2', 'per_page=9&perPage=2']) {
      equal(success(await api.get(`/users?${search}`)).meta.pagination.per_page, 2, `\`per_page\` of ${search}`)
    }
  }),
  check('7 Pagination', 'cursors stand on every page, also on an empty one', async (server) => {
    const [a = '', b = ''] = await makeUsers(server, 2)
    const list = async (search: string) =>
      success(await server.api.get(`/users/${b}/messages?${search}`, { onBehalfOf: a }))
    const empty = (await list('perPage=3')).meta
    equal(
      [empty.current, empty.next.affix, empty.previous.affix],
      [{ limit: 3, count: 0 }, 'append', 'prepend'],
      '`meta`',
    )
    holds(isSeconds(empty.next.sentAt) && !('id' in empty.next), 'a time to read on from')
    const sent = { receiver: b, receiverType: 'user', data: { text: 'hi' } }
    const { id, sentAt } = data(await server.api.post('/messages', sent, { onBehalfOf: a }))
    const follow = (cursor: Record<string, string>) => list(new URLSearchParams(cursor).toString())
    const { data: rows, meta } = await follow(empty.next)
    equal([rows.length, meta.next], [1, { affix: 'append', sentAt, id }], 'what came in the same second')
    equal(meta.previous, { affix: 'prepend', sentAt, id }, '`previous`')
    const end = await follow(meta.next)
    equal([end.data, end.meta.next, end.meta.previous.id], [[], meta.next, id], 'the end')
  }),
  check('7 Query values', 'on the chat host a boolean that is none counts as not sent', async ({ api }) => {
    success(await api.get('/users?withTags=maybe&perPage=1'))
    success(await api.get('/conversations?withUserAndGroupTags=tag1&perPage=1'))
  }),
  check('7 Query values', 'an empty value counts as not sent, and name[0]= makes a list', async (server) => {
    const { uid } = await makeUser(server)
    const found = success(await server.api.get(`/users?searchIn=&searchKey=${uid}&tags=`)).data
    equal(found.length, 1, 'users found')
    equal(success(await server.api.get(`/users?searchKey=${uid}&searchIn[0]=uid`)).data.length, 1, 'users found by UID')
  }),
]

export const lenient: CheckedArea = {
  name: 'lenient',
  title: 'How requests are read',
  contract: '00',
  checks: [...bodies, ...sentences, ...queries],
}
