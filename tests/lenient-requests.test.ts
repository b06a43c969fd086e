import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from './support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from './support/house.ts'
import type { Sending } from './support/http.ts'
import { appWith, as, idsIn, say } from './support/talk.ts'
import { multipart, urlencoded } from './support/twins.ts'

/** What clients write in other ways than the schemas describe; that it does the same is for the twins to show. */

const messagesAMinute = 20

for (const database of databases) {
  describe(`lenient requests on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database, environment: { PARLEY_LIMIT_MESSAGES: String(messagesAMinute) } })
      app = await appWith(h, 'ada', 'lin')
    })
    after(() => h.close())

    const send = (method: string, path: string, { headers, ...sending }: Sending) =>
      app.send(path, { method, ...sending, headers: { apikey: app.apiKey, ...headers } })

    it('take whole numbers for ids, also in lists, and answer text', async () => {
      const { data: user } = assertSucceeds(await app.post('/users', { uid: 1000, name: 'Number' }))
      assert.equal(user.uid, '1000')
      const group = { guid: 77, name: 'G', owner: 1000, members: { participants: [1000, 'ada'] } }
      const { data } = assertSucceeds(await app.post('/groups', group))
      assert.deepEqual([data.guid, data.owner, Object.keys(data.members.participants)], ['77', '1000', ['1000', 'ada']])
      const sent = { receiver: 1000, receiverType: 'user', muid: 5, data: { text: 'hi', metadata: null }, tags: null }
      const { data: message } = assertSucceeds(await app.post('/messages', sent, as('ada')))
      assert.deepEqual([message.receiver, message.muid, message.data.metadata], ['1000', '5', undefined])
      const many = { multipleReceivers: { uids: [1000], guids: [77] }, data: { text: 'hi' } }
      const { data: outcomes } = assertSucceeds(await app.post('/messages', many, as('ada')))
      assert.deepEqual([outcomes.uids['1000'].success, outcomes.guids['77'].success], [true, true])
      for (const uid of [1.5, -1, 2 ** 53, true, [1]]) {
        assertFails(await app.post('/users', { uid, name: 'No' }), 400, 'ERR_BAD_REQUEST')
      }
    })

    it('count several receivers given as numbers against the allowance of their sender', async () => {
      const own = await appWith(h, 'ada')
      const uids = Array.from({ length: messagesAMinute + 5 }, (_, n) => n + 1)
      for (const uid of uids) assertSucceeds(await own.post('/users', { uid, name: 'N' }))
      const many = { multipleReceivers: { uids }, data: { text: 'hi' } }
      const { data } = assertSucceeds(await own.post('/messages', many, as('ada')))
      const codes = Object.values(data.uids as Record<string, { error?: { code: string } }>).map(
        ({ error }) => error?.code,
      )
      assert.ok(codes.includes('ERR_TOO_MANY_REQUESTS'), String(codes))
    })

    it('in a form mean by 1e3 a text, never the user 1000', async () => {
      assertSucceeds(
        await send(
          'POST',
          '/users',
          urlencoded([
            ['uid', '1e3'],
            ['name', 'Text'],
          ]),
        ),
      )
      assert.equal(assertSucceeds(await app.get('/users/1e3')).data.name, 'Text')
      // In JSON it is another way to write the number.
      assertFails(await send('POST', '/users', { raw: '{"uid":1e3,"name":"N"}' }), 400, 'ERR_UID_ALREADY_EXISTS')
    })

    it('may come as a form in parts, whatever its characters', async () => {
      const form = multipart([
        ['uid', 'parts'],
        ['name', 'a \ufffd b'],
        ['tags[]', 'x'],
        ['metadata', '{"@private":{}}'],
      ])
      const { data } = assertSucceeds(await send('POST', '/users', form))
      assert.deepEqual([data.name, data.tags, data.metadata], ['a \ufffd b', ['x'], { '@private': {} }])
      const broken = Buffer.from(String(multipart([['name', '@']]).raw).replace('@', '\u00ff'), 'latin1')
      const { headers = {} } = form
      assertFails(await send('PUT', '/users/parts', { raw: broken, headers }), 400, 'ERR_BAD_REQUEST')
      const file = String(multipart([['name', 'x']]).raw).replace('name="name"', 'name="name"; filename="a.txt"')
      assertFails(await send('PUT', '/users/parts', { raw: file, headers }), 400, 'ERR_BAD_REQUEST')
      assertFails(await send('PUT', '/users/parts', multipart([['name', 'x'.repeat(20_000)]])), 413, 'ERR_BAD_REQUEST')
      assert.equal(assertSucceeds(await app.get('/users/parts')).data.name, 'a \ufffd b')
    })

    it('clear by an empty text what can be cleared, keep by null, and refuse what must not be empty', async () => {
      const full = { avatar: 'https://a.example/x', link: 'https://a.example/y', statusMessage: 'here', tags: ['t'] }
      assertSucceeds(await app.post('/users', { uid: 'full', name: 'Full', ...full }))
      const shown = async () => {
        const { avatar, link, statusMessage, tags } = assertSucceeds(await app.get('/users/full')).data
        return { avatar, link, statusMessage, tags }
      }
      const nothing = { avatar: null, link: null, statusMessage: null, tags: null, name: null, role: '', metadata: '' }
      assertSucceeds(await app.put('/users/full', nothing))
      assert.deepEqual(await shown(), full)
      assertFails(await app.put('/users/full', { name: '' }), 400, 'ERR_BAD_REQUEST')
      assertSucceeds(await app.put('/users/full', { avatar: '', link: '', statusMessage: '', tags: '' }))
      assert.deepEqual(await shown(), { avatar: undefined, link: undefined, statusMessage: undefined, tags: ['t'] })
      assertSucceeds(await app.post('/groups', { guid: 'c', name: 'C', icon: 'https://a.example/i', description: 'd' }))
      const { data: group } = assertSucceeds(await app.put('/groups/c', { icon: '', description: '', type: '' }))
      assert.deepEqual([group.icon, group.description, group.type], [undefined, undefined, 'public'])
      assertSucceeds(await app.post('/roles', { role: 7, name: 'R', description: 'd' }))
      assert.equal(assertSucceeds(await app.put('/roles/7', { description: '' })).data.description, undefined)
      assertFails(await app.post('/apikeys', { name: 'k', scope: '' }), 400, 'ERR_BAD_REQUEST')
      const mute = { receiver: 'ada', receiverType: 'user', data: { text: 'x' } }
      assertFails(await app.post('/messages', { ...mute, category: '' }), 400, 'ERR_EMPTY_MESSAGE_CATEGORY')
      assertFails(await app.post('/messages', { ...mute, type: '' }), 400, 'ERR_EMPTY_MESSAGE_TYPE')
    })

    it('never take a password away by what counts as not sent', async () => {
      assertSucceeds(await app.post('/groups', { guid: 'locked', name: 'L', type: 'password', password: ' ' }))
      for (const body of [
        { type: '', password: '' },
        { type: null, password: null },
        { type: 'password', password: '' },
      ]) {
        assert.equal(assertSucceeds(await app.put('/groups/locked', body)).data.type, 'password')
      }
      const { authToken } = assertSucceeds(await app.post('/users/ada/auth_tokens')).data
      const join = (body: object) => send('POST', '/groups/locked/join', { body, headers: { apikey: '', authToken } })
      assertFails(await join({ password: '' }), 400, 'ERR_EMPTY_GROUP_PASS')
      assertFails(await join({ password: '  ' }), 403, 'ERR_WRONG_GROUP_PASS')
      assertSucceeds(await join({ password: ' ' }))
    })

    it('are told apart by their Idempotency-Key, in whichever way they come', async () => {
      const key = { 'idempotency-key': 'twins' }
      const form = (name: string, made = urlencoded) => {
        const { raw = '', headers } = made([
          ['uid', 'again'],
          ['name', name],
        ])
        return send('POST', '/users', { raw, headers: { ...headers, ...key } })
      }
      const first = assertSucceeds(await form('One'))
      assert.deepEqual(assertSucceeds(await form('One')), first)
      assertFails(await form('Two'), 400, 'ERR_BAD_REQUEST')
      assertFails(await form('Two', multipart), 400, 'ERR_BAD_REQUEST')
    })

    it('say that something exists already in the words that clients look for', async () => {
      const taken: [string, object][] = [
        ['/users', { uid: 'ada', name: 'A' }],
        ['/roles', { role: 'default', name: 'D' }],
        ['/apikeys', { name: 'Auth Key' }],
      ]
      assertSucceeds(await app.post('/groups', { guid: 'taken', name: 'T', members: { participants: ['ada'] } }))
      for (const [path, body] of [...taken, ['/groups', { guid: 'taken', name: 'T' }] as const]) {
        const answer = await app.post(path, body)
        assert.equal(answer.status, 400, answer.text)
        assert.match(answer.body.error.message, /already exists/)
      }
      const { data } = assertSucceeds(await app.post('/groups/taken/members', { participants: ['ada'] }))
      assert.match(data.participants.ada.error.message, /already joined/)
    })

    it('of lists of users answer the newest change of the whole list on every page', async () => {
      const own = await appWith(h, 'ada', 'lin', 'max')
      assertSucceeds(await own.post('/users/ada/friends', { accepted: ['lin', 'max'] }))
      assertSucceeds(await own.post('/users/ada/blockedusers', { blockedUids: ['lin', 'max'] }))
      const [participants, usersToBan] = [
        ['lin', 'max'],
        ['lin', 'max'],
      ]
      assertSucceeds(await own.post('/groups', { guid: 'g', name: 'G', members: { participants } }))
      assertSucceeds(await own.post('/groups', { guid: 'b', name: 'B', members: { usersToBan } }))
      const inGroups = ['/groups/g/members', '/groups/b/bannedusers']
      for (const changed of ['lin', 'max']) {
        h.clock.setOffset(h.clock.offsetSeconds() + 60)
        const { updatedAt } = assertSucceeds(await own.put(`/users/${changed}`, { name: 'Changed' })).data
        for (const path of ['/users', '/users/ada/friends', '/users/ada/blockedusers', ...inGroups]) {
          for (const page of [1, 2]) {
            const { meta } = assertSucceeds(await own.get(`${path}?perPage=1&page=${page}`))
            assert.deepEqual(meta.cursor, { updatedAt, affix: 'prepend' }, `${path}, page ${page}`)
          }
          assert.equal('cursor' in assertSucceeds(await own.get(`${path}?page=9`)).meta, false)
        }
      }
    })

    it('that found no message are read on without losing one of the same second', async () => {
      const own = await appWith(h, 'ada', 'lin')
      const list = async (path: string) => assertSucceeds(await own.get(path, as('ada')))
      const empty = await list('/users/lin/messages')
      assert.deepEqual([empty.data, empty.meta.previous.affix, empty.meta.next.id], [[], 'prepend', undefined])
      const { id } = await say(own, 'lin', 'ada')
      const { data, meta } = await list(`/users/lin/messages?${new URLSearchParams(empty.meta.next)}`)
      assert.deepEqual([idsIn(data), meta.next.id, meta.previous.id], [[id], id, id])
      const last = await list(`/users/lin/messages?${new URLSearchParams(meta.next)}`)
      assert.deepEqual([last.data, last.meta.next], [[], meta.next])
      const threads = await list('/threads')
      assert.deepEqual([threads.data, Object.keys(threads.meta.next)], [[], ['affix', 'updatedAt']])
    })
  })
}
