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
import { makeGroup, makeRole, makeUser, makeUsers, say, sayIn, uidsIn } from '../people.ts'

/** How requests are read: what clients write in other ways than the reference shows. */

const urlencoded = { 'content-type': 'application/x-www-form-urlencoded' }
const boundary = 'conf-boundary'
const inParts = { 'content-type': `multipart/form-data; boundary=${boundary}` }

/** Names may stand there more than once. */
type Fields = [name: string, value: string][]

function formOf(fields: Fields): string {
  return new URLSearchParams(fields).toString()
}

function partsOf(fields: Fields): string {
  const parts = fields.map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return `${parts.join('')}--${boundary}--\r\n`
}

/** Both kinds of forms: how each is called, and how it is written. */
const forms = [
  { headers: urlencoded, write: formOf },
  { headers: inParts, write: partsOf },
]

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
    for (const { headers, write } of forms) {
      const uid = server.fresh('form')
      server.afterwards(() => server.api.delete(`/users/${uid}`, { permanent: true }))
      const raw = write(Object.entries({ uid, ...fields }))
      const user = data(await server.api.send('POST', '/users', { raw, headers }))
      equal([user.uid, user.name, user.tags, user.metadata], [uid, 'Form', ['a'], { n: 1 }], 'the record')
      holds(typeof user.authToken === 'string' && !('avatar' in user), 'a token, and no avatar')
    }
  }),
  check('2 Request bodies', 'a form changes; name[], name[0] and repeated names make a list', async (server) => {
    const { uid } = await makeUser(server, { avatar: 'https://example.org/a.png', statusMessage: 'here' })
    const lists = [
      ['tags[]', 'tags[]'],
      ['tags[0]', 'tags[1]'],
      ['tags', 'tags'],
    ] as const
    for (const { headers, write } of forms) {
      for (const [one, two] of lists) {
        const [first, second] = [server.fresh('tag'), server.fresh('tag')]
        const raw = write([
          ['name', first],
          [one, first],
          [two, second],
          ['avatar', ''],
        ])
        const user = data(await server.api.send('PUT', `/users/${uid}`, { raw, headers }))
        equal([user.name, user.tags], [first, [first, second]], `name and tags written as ${one} and ${two}`)
        equal([user.avatar, user.statusMessage], [undefined, 'here'], 'what is cleared, and what is kept')
      }
    }
  }),
  check('2 Request bodies', 'a field named data[text] is the text in data', async (server) => {
    const [a = '', b = ''] = await makeUsers(server, 2)
    for (const { headers, write } of forms) {
      const raw = write([
        ['receiver', b],
        ['receiverType', 'user'],
        ['data[text]', 'In a form'],
      ])
      const sent = data(await server.api.send('POST', '/messages', { raw, headers: { ...headers, onBehalfOf: a } }))
      equal([sent.receiver, sent.data.text], [b, 'In a form'], 'receiver and text')
    }
  }),
  check('2 Request bodies', '`null` counts as not sent, and what is required is then missing', async (server) => {
    const { uid } = await makeUser(server, { avatar: 'https://example.org/a.png', tags: ['t'] })
    const kept = data(await server.api.put(`/users/${uid}`, { avatar: null, tags: null, name: null }))
    equal([kept.avatar, kept.tags], ['https://example.org/a.png', ['t']], 'what is kept')
    const nothing = { avatar: null, link: null, role: null, statusMessage: null, metadata: null, tags: null }
    const { createdAt: _, ...bare } = await makeUser(server, { name: 'Bare', ...nothing, withAuthToken: null })
    equal({ ...bare, uid: '' }, { uid: '', name: 'Bare', role: 'default', status: 'offline' }, 'a user of nulls')
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
  check('2 Request bodies', 'whole numbers stand for ids in every list of them', async (server) => {
    const uid = freshNumber(server)
    const text = String(uid)
    success(await server.api.post('/users', { uid, name: 'Number' }))
    const [a = ''] = await makeUsers(server, 1)
    const { accepted } = data(await server.api.post(`/users/${a}/friends`, { accepted: [uid] }))
    equal([Object.keys(accepted), accepted[text].success], [[text], true], 'the friend')
    success(await server.api.delete(`/users/${a}/friends`, { friends: [uid] }))
    equal(data(await server.api.get(`/users/${a}/friends`)), [], 'friends after that')
    const several = { multipleReceivers: { uids: [uid] }, data: { text: 'hi' } }
    const sent = data(await server.api.post('/messages', several, { onBehalfOf: a }))
    equal(sent.uids[text].data.receiver, text, 'one of several receivers')
    for (const method of ['POST', 'DELETE'] as const) {
      const entries = data(await server.api.send(method, `/users/${a}/blockedusers`, { body: { blockedUids: [uid] } }))
      equal([Object.keys(entries), entries[text].success], [[text], true], `${method} of a block`)
    }
    const gone = data(await server.api.delete('/users', { uidsToDeactivate: [uid] }))
    equal(gone, { deactivatedUids: [text] }, 'the deactivated')
    const back = data(await server.api.put('/users', { uidsToActivate: [uid] }))
    equal(back, { reactivatedUids: [text] }, 'the reactivated')
  }),
  check('2 Request bodies', 'a whole number stands for the id of a message', async (server) => {
    const [a = '', b = ''] = await makeUsers(server, 2)
    const { id } = await say(server, a, b)
    const number = Number(id)
    equal((await say(server, a, b, { parentId: number })).parentId, id, '`parentId`')
    equal((await say(server, a, b, { quotedMessageId: number })).quotedMessageId, id, '`quotedMessageId`')
    success(await server.api.post(`/users/${a}/conversation/read`, { messageId: number }, { onBehalfOf: b }))
    holds(isSeconds(data(await server.api.get(`/messages/${id}`)).readAt), '`readAt` of the message read by its number')
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
  check('7 Pagination', 'in cursor lists `perPage` and `per_page` mean `limit`, which wins', async (server) => {
    const [a = '', b = ''] = await makeUsers(server, 2)
    const { guid } = await makeGroup(server, { members: { participants: [a] } })
    const { id } = await say(server, a, b)
    const own = ['/messages', `/users/${b}/messages`, `/groups/${guid}/messages`, '/threads']
    for (const path of [...own, ...['thread', 'reactions', 'receipts'].map((list) => `/messages/${id}/${list}`)]) {
      for (const search of ['per_page=3', 'perPage=3', 'per_page=9&perPage=8&limit=3', 'limit=3&per_page=9']) {
        const { meta } = success(await server.api.get(`${path}?${search}`, { onBehalfOf: a }))
        equal(meta.current.limit, 3, `the limit of ${path}?${search}`)
      }
    }
  }),
  check('7 Pagination', '`meta.cursor` tells of the whole list, on every page', async (server) => {
    const word = server.fresh('word')
    const older = await makeUser(server, { name: `${word} older` })
    await server.nextSecond()
    const newer = await makeUser(server, { name: `${word} newer` })
    const uids = [older.uid, newer.uid]
    const [actor = ''] = await makeUsers(server, 1)
    success(await server.api.post(`/users/${actor}/friends`, { accepted: uids }))
    success(await server.api.post(`/users/${actor}/blockedusers`, { blockedUids: uids }))
    const { guid } = await makeGroup(server, { members: { participants: uids } })
    await server.nextSecond()
    const { updatedAt } = data(await server.api.put(`/users/${older.uid}`, { statusMessage: 'Changed' }))
    const belowActor = ['friends', 'blockedusers'].map((list) => `/users/${actor}/${list}?`)
    for (const list of [`/users?searchKey=${word}&`, ...belowActor, `/groups/${guid}/members?`]) {
      const seen: string[] = []
      for (const page of [1, 2]) {
        const { data: rows, meta } = success(await server.api.get(`${list}perPage=1&page=${page}`))
        equal(meta.cursor, { updatedAt, affix: 'prepend' }, `\`meta.cursor\` of page ${page} of ${list}`)
        seen.push(...uidsIn(rows))
      }
      equal(seen.toSorted(), uids.toSorted(), `who is on the pages of ${list}`)
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
  check('7 Query values', 'an unknown category or type of messages matches nothing', async (server) => {
    const [a = '', b = ''] = await makeUsers(server, 2)
    const { guid } = await makeGroup(server, { members: { participants: [a] } })
    await say(server, a, b)
    await sayIn(server, guid, a)
    for (const path of ['/messages', `/users/${b}/messages`, `/groups/${guid}/messages`]) {
      const list = async (search: string) => data(await server.api.get(`${path}?${search}`, { onBehalfOf: a }))
      holds((await list('category=message&type=text')).length > 0, `messages in ${path}`)
      for (const name of ['category', 'categories', 'type', 'types']) {
        equal(await list(`${name}=nonsense`), [], `the messages of ${path} with ${name}=nonsense`)
      }
    }
  }),
  check('7 Query values', 'an empty value counts as not sent, and name[0]= makes a list', async (server) => {
    const { uid } = await makeUser(server)
    const found = success(await server.api.get(`/users?searchIn=&searchKey=${uid}&tags=`)).data
    equal(found.length, 1, 'users found')
    equal(success(await server.api.get(`/users?searchKey=${uid}&searchIn[0]=uid`)).data.length, 1, 'users found by UID')
  }),
]

const notGiven: Check[] = [
  check('10.3 Create', 'what a group is not given may be written as nothing', async (server) => {
    const empty = { icon: '', description: '', owner: '', tags: '', metadata: '', type: '', members: {} }
    const nothing = Object.fromEntries(Object.keys(empty).map((name) => [name, null]))
    for (const profile of [empty, nothing]) {
      const group = await makeGroup(server, profile)
      equal([group.type, group.owner, group.membersCount], ['public', 'app_system', 0], 'type, owner and members')
      for (const name of ['icon', 'description', 'tags', 'metadata', 'members']) {
        equal(name in group, false, `whether \`${name}\` is there`)
      }
    }
  }),
  check('10.6 Update', '`null` keeps what a group has', async (server) => {
    const full = { icon: 'https://example.org/i.png', description: 'D', metadata: { a: 1 }, tags: ['t'] }
    const { guid } = await makeGroup(server, full)
    const nothing = { name: null, type: null, owner: null, password: null, unset: null }
    const nulls = { icon: null, description: null, metadata: null, tags: null }
    const { name, type, icon, description, metadata, tags } = data(
      await server.api.put(`/groups/${guid}`, { ...nothing, ...nulls }),
    )
    equal([name, type], ['Conformance', 'public'], 'name and type')
    equal({ icon, description, metadata, tags }, full, 'what is kept')
  }),
  check('13.4 Send', 'what a message is not given may be written as nothing', async (server) => {
    const [a = '', b = ''] = await makeUsers(server, 2)
    const empty = { muid: '', tags: '', quotedMessageId: '', parentId: '', parentMessageId: '', multipleReceivers: '' }
    const nothing = Object.fromEntries(Object.keys(empty).map((name) => [name, null]))
    for (const more of [empty, { ...nothing, category: null, type: null }]) {
      const sent = await say(server, a, b, more)
      equal([sent.receiver, sent.category, sent.type], [b, 'message', 'text'], 'receiver, category and type')
      for (const name of Object.keys(empty)) equal(name in sent, false, `whether \`${name}\` is there`)
    }
  }),
]

export const lenient: CheckedArea = {
  name: 'lenient',
  title: 'How requests are read',
  contract: '00',
  checks: [...bodies, ...notGiven, ...sentences, ...queries],
}
