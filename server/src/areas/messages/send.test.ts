import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump } from '../../../../tests/support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, clientOf, idsIn, say, sayIn } from '../../../../tests/support/talk.ts'

/** What can be sent, to the letter: every refusal with its code and the field it names, every limit on both sides. */

const toAda = { receiver: 'ada', receiverType: 'user' }
const hello = { ...toAda, data: { text: 'Hello' } }
const custom = (data: object) => ({ ...toAda, category: 'custom', type: 'place', data: { customData: {}, ...data } })
const many = (count: number, name: (n: number) => string) => Array.from({ length: count }, (_, n) => name(n))

/** A text with which `data` has exactly so many bytes. */
const textOfData = (bytes: number) => 'x'.repeat(bytes - JSON.stringify({ text: '' }).length)

const refused: [string, object, string, string][] = [
  ['no receiver', { receiverType: 'user', data: { text: 'x' } }, 'ERR_EMPTY_RECEIVER', 'receiver'],
  ['a blank receiver', { ...hello, receiver: ' ' }, 'ERR_EMPTY_RECEIVER', 'receiver'],
  ['several receivers that are none', { ...hello, multipleReceivers: {} }, 'ERR_EMPTY_RECEIVER', 'receiver'],
  ['a receiver of 101 characters', { ...hello, receiver: 'r'.repeat(101) }, 'ERR_BAD_REQUEST', 'receiver'],
  ['no type of receiver', { receiver: 'ada', data: { text: 'x' } }, 'ERR_INVALID_RECEIVER_TYPE', 'receiverType'],
  ['another type of receiver', { ...hello, receiverType: 'room' }, 'ERR_INVALID_RECEIVER_TYPE', 'receiverType'],
  ['an empty category', { ...hello, category: '' }, 'ERR_EMPTY_MESSAGE_CATEGORY', 'category'],
  ['a blank category', { ...hello, category: ' ' }, 'ERR_EMPTY_MESSAGE_CATEGORY', 'category'],
  ['a category that is no text', { ...hello, category: 5 }, 'ERR_BAD_REQUEST', 'category'],
  ...['action', 'call', 'card', 'agentic', 'Message', 'nonsense'].map((category): [string, object, string, string] => [
    `the category ${category}`,
    { ...hello, category, type: 'text' },
    'ERR_INVALID_MESSAGE_CATEGORY',
    'category',
  ]),
  ['an empty type', { ...hello, type: '' }, 'ERR_EMPTY_MESSAGE_TYPE', 'type'],
  ['custom without a type', { ...custom({}), type: undefined }, 'ERR_EMPTY_MESSAGE_TYPE', 'type'],
  ['custom with a blank type', { ...custom({}), type: ' ' }, 'ERR_EMPTY_MESSAGE_TYPE', 'type'],
  ['a type of 101 characters', { ...custom({}), type: 't'.repeat(101) }, 'ERR_BAD_REQUEST', 'type'],
  ['an unknown type', { ...hello, type: 'song' }, 'ERR_INVALID_MESSAGE_TYPE', 'type'],
  [
    'an unknown interactive type',
    { ...hello, category: 'interactive', type: 'poll' },
    'ERR_INVALID_MESSAGE_TYPE',
    'type',
  ],
  ['no data', toAda, 'ERR_BAD_REQUEST', 'data'],
  ['nothing as data', { ...toAda, data: null }, 'ERR_BAD_REQUEST', 'data'],
  ...[[], 'text', 5, true].map((data): [string, object, string, string] => [
    `${JSON.stringify(data)} as data`,
    { ...toAda, data },
    'ERR_INVALID_MESSAGE_DATA',
    'data',
  ]),
  ['data of 10,241 bytes', { ...toAda, data: { text: textOfData(10_241) } }, 'ERR_INVALID_MESSAGE_DATA', 'data'],
  [
    'data of 10,241 bytes in other scripts',
    { ...toAda, data: { text: `${'न'.repeat(3_409)}${'x'.repeat(10_241 - 11 - 3 * 3_409)}` } },
    'ERR_INVALID_MESSAGE_DATA',
    'data',
  ],
  ['no text', { ...toAda, data: {} }, 'ERR_EMPTY_MESSAGE_TEXT', 'data.text'],
  ['an empty text', { ...toAda, data: { text: '' } }, 'ERR_EMPTY_MESSAGE_TEXT', 'data.text'],
  ['a blank text', { ...toAda, data: { text: ' \n\t' } }, 'ERR_EMPTY_MESSAGE_TEXT', 'data.text'],
  ['nothing as text', { ...toAda, data: { text: null } }, 'ERR_EMPTY_MESSAGE_TEXT', 'data.text'],
  ...[5, [], {}].map((text): [string, object, string, string] => [
    `${JSON.stringify(text)} as text`,
    { ...toAda, data: { text } },
    'ERR_INVALID_MESSAGE_TEXT',
    'data.text',
  ]),
  ...[3, [], 'no JSON', '[1]'].map((metadata): [string, object, string, string] => [
    `${JSON.stringify(metadata)} as metadata`,
    { ...toAda, data: { text: 'x', metadata } },
    'ERR_INVALID_METADATA',
    'data.metadata',
  ]),
  ['custom without data', custom({ customData: undefined }), 'ERR_EMPTY_CUSTOM_DATA', 'data.customData'],
  ['custom with nothing as data', custom({ customData: null }), 'ERR_EMPTY_CUSTOM_DATA', 'data.customData'],
  ...['{}', 5, [1]].map((customData): [string, object, string, string] => [
    `${JSON.stringify(customData)} as custom data`,
    custom({ customData }),
    'ERR_INVALID_CUSTOM_DATA',
    'data.customData',
  ]),
  ...Object.entries({ subType: 1, conversationText: {}, updateConversation: 'no', sendNotification: 0 }).map(
    ([name, value]): [string, object, string, string] => [
      `${JSON.stringify(value)} as ${name}`,
      custom({ [name]: value }),
      'ERR_INVALID_MESSAGE_DATA',
      'data',
    ],
  ),
  [
    '11 mentions',
    { ...toAda, data: { text: many(11, (n) => `<@uid:u${n}>`).join() } },
    'ERR_INVALID_MESSAGE_DATA',
    'data',
  ],
  ['a muid of 101 characters', { ...hello, muid: 'm'.repeat(101) }, 'ERR_BAD_REQUEST', 'muid'],
  ['a muid that is no text', { ...hello, muid: 7.5 }, 'ERR_BAD_REQUEST', 'muid'],
  ['26 tags', { ...hello, tags: many(26, (n) => `t${n}`) }, 'ERR_BAD_REQUEST', 'tags'],
  ['a tag of 101 characters', { ...hello, tags: ['ok', 't'.repeat(101)] }, 'ERR_BAD_REQUEST', 'tags.1'],
  ['a blank tag', { ...hello, tags: [' '] }, 'ERR_BAD_REQUEST', 'tags.0'],
  ['tags that are no list', { ...hello, tags: 'red' }, 'ERR_BAD_REQUEST', 'tags'],
  ...['abc', '-1', '1.5', '9'.repeat(16), -1, 1.5, 1e20, {}].flatMap((id) =>
    ['quotedMessageId', 'parentId'].map((name): [string, object, string, string] => [
      `${JSON.stringify(id)} as ${name}`,
      { ...hello, [name]: id },
      'ERR_BAD_REQUEST',
      name,
    ]),
  ),
  [
    '101 receivers',
    { ...hello, multipleReceivers: { uids: many(60, (n) => `u${n}`), guids: many(41, (n) => `g${n}`) } },
    'ERR_BAD_REQUEST',
    'multipleReceivers',
  ],
  ['receivers in a list', { ...hello, multipleReceivers: ['ada'] }, 'ERR_BAD_REQUEST', 'multipleReceivers'],
  ['a text with a NUL', { ...toAda, data: { text: 'a\0b' } }, 'ERR_BAD_REQUEST', 'data.text'],
  ['half a character', { ...toAda, data: { text: 'a\ud83d' } }, 'ERR_BAD_REQUEST', 'data.text'],
  ['half a character in a name', { ...toAda, data: { text: 'a', '\udc00': 1 } }, 'ERR_BAD_REQUEST', 'data'],
]

/** Texts that must come back as they went, and what is special about them. */
const texts: Record<string, string> = {
  markup: '<b>&amp;</b> "quoted" \\n \\u0041',
  spaces: ' \t two  spaces \r\n and \n lines ',
  controls: `a${String.fromCharCode(...many(31, String).map((_, n) => n + 1))}\u007f\u0085b`,
  separators: 'a\u2028b\u2029c\ufeffd\u00a0e',
  'both directions': '\u202eabc\u202c \u200fשלום\u200e مرحبا',
  'four bytes': '𠜎𡃁 𝒳 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👨‍👩‍👧‍👦',
  'two forms of a letter': 'é vs é',
  'joined letters': 'ﷺ'.repeat(3_000),
  Indic: 'नमस्ते ক্ষ தமிழ்',
  'not characters': 'a\ufffe\uffffb',
  SQL: `'; DROP TABLE messages; -- %_ \\' "`,
  'like a number': '0123',
}

for (const database of databases) {
  describe(`sending on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', 'lin', 'max')
      assertSucceeds(
        await app.post('/groups', { guid: 'crew', name: 'Crew', members: { participants: ['lin', 'ada'] } }),
      )
    })
    after(() => h.close())

    const send = (body: object, uid = 'lin') => app.post('/messages', body, as(uid))

    it('refuses what is wrong, says what it is, and writes nothing', async () => {
      const before = (await dump(h)).messages
      for (const [name, body, code, field] of refused) {
        const answer = await send(body)
        assert.deepEqual([answer.status, answer.body.error?.code], [400, code], `${name}: ${answer.text}`)
        assert.deepEqual(Object.keys(answer.body.error.details ?? {}), [field], `${name}: ${answer.text}`)
      }
      for (const [body, status, code] of [
        [{ ...hello, receiver: 'ghost' }, 404, 'ERR_UID_NOT_FOUND'],
        [{ ...hello, receiver: 'r'.repeat(100) }, 404, 'ERR_UID_NOT_FOUND'],
        [{ ...hello, receiver: 'ghost', receiverType: 'group' }, 404, 'ERR_GUID_NOT_FOUND'],
        [{ ...hello, receiver: 'app_system' }, 404, 'ERR_UID_NOT_FOUND'],
        [{ ...hello, quotedMessageId: '9'.repeat(15) }, 404, 'ERR_MESSAGE_ID_NOT_FOUND'],
        [{ ...hello, parentId: 999_999_999_999_999 }, 404, 'ERR_MESSAGE_ID_NOT_FOUND'],
      ] as const) {
        assertFails(await send(body), status, code)
      }
      assertFails(await send(hello, 'ghost'), 404, 'ERR_UID_NOT_FOUND')
      const raw = Buffer.from('{"receiver":"ada","receiverType":"user","data":{"text":"\xff"}}', 'latin1')
      assertFails(await app.send('/messages', { method: 'POST', raw, headers: as('lin') }), 400, 'ERR_BAD_REQUEST')
      assert.deepEqual((await dump(h)).messages, before)
    })

    it('takes what is just within the limits', async () => {
      for (const [name, body] of [
        ['data of 10,240 bytes', { ...toAda, data: { text: textOfData(10_240) } }],
        ['10 mentions', { ...toAda, data: { text: many(10, (n) => `<@uid:u${n}><@uid:U${n}>`).join() } }],
        ['25 tags of 100 characters', { ...hello, tags: many(25, (n) => `${n}`.padStart(100, 't')) }],
        ['the same tag 25 times', { ...hello, tags: many(25, () => 'same') }],
        ['a muid of 100 characters', { ...hello, muid: 'm'.repeat(100) }],
        ['a type of 100 characters', { ...custom({}), type: 't'.repeat(100) }],
        ['an id as a number', { ...hello, quotedMessageId: Number((await say(app, 'lin', 'ada')).id) }],
        ['100 receivers', { ...hello, multipleReceivers: { uids: many(100, (n) => `u${n}`) } }],
        ['the same receivers twice', { ...hello, multipleReceivers: { uids: many(200, (n) => `u${n % 100}`) } }],
      ] as const) {
        const answer = await send(body)
        assert.equal(answer.status, 200, `${name}: ${answer.text}`)
      }
    })

    it('keeps texts and other data to the letter, wherever they are shown', async () => {
      for (const [name, text] of Object.entries(texts)) {
        const more = {
          own: { [text.slice(0, 50)]: [text.slice(0, 50), 1.5, null, true, { deep: [] }] },
          metadata: { text: text.slice(0, 50) },
        }
        const { id, data } = await say(app, 'lin', 'ada', text, {
          data: { text, ...more },
          muid: `m ${name}`,
          tags: [name],
        })
        for (const shown of [data, assertSucceeds(await app.get(`/messages/${id}`, as('ada'))).data.data]) {
          assert.deepEqual([shown.text, shown.own, shown.metadata], [text, more.own, more.metadata], name)
        }
        const { data: listed } = assertSucceeds(await app.get(`/messages?id=${Number(id) - 1}&limit=1&withTags=1`))
        assert.deepEqual([listed[0].data.text, listed[0].muid, listed[0].tags], [text, `m ${name}`, [name]])
        const edit = { data: { text: `${text}!` } }
        const { data: action } = assertSucceeds(await app.put(`/messages/${id}`, edit, as('lin')))
        assert.equal(action.data.entities.on.entity.data.text, `${text}!`, name)
      }
    })

    it('keeps other data of any kind as it is, and lets nobody say what only the service says', async () => {
      for (const attachments of ['abc', 5, null, {}, [null], [1], [{ url: 'parley-file:abc' }]]) {
        const { id, data } = await say(app, 'lin', 'ada', 'plain', { data: { text: 'plain', attachments } })
        assert.deepEqual(data.attachments, attachments)
        const { data: found } = assertSucceeds(await app.get(`/messages?hasAttachments=true&id=${Number(id) - 1}`))
        assert.deepEqual(found, [])
        assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'other' } }, as('lin')))
      }
      const forged = {
        entities: 1,
        mentions: { max: {} },
        reactions: [1],
        moderation: { status: 'approved' },
        interactions: [1],
      }
      const { data } = await say(app, 'lin', 'ada', '', { data: { text: 'x', ...forged } })
      assert.deepEqual(Object.keys(data), ['text', 'entities'])
      assert.equal(data.entities.sender.entity.uid, 'lin')
    })

    it('fills in the usual category and type', async () => {
      for (const [sent, expected] of [
        [{}, ['message', 'text']],
        [{ category: 'message' }, ['message', 'text']],
        [{ category: 'interactive' }, ['interactive', 'card']],
        [{ category: 'custom', type: 'text' }, ['custom', 'text']],
      ] as const) {
        const data = { text: 'x', customData: {}, interactiveData: {} }
        const { category, type } = await say(app, 'lin', 'ada', '', { ...sent, data })
        assert.deepEqual([category, type], expected)
      }
    })

    it('finds receivers in any letter case', async () => {
      const { receiver, conversationId } = await say(app, 'lin', 'ADA')
      assert.deepEqual([receiver, conversationId], ['ada', 'ada_user_lin'])
      assert.equal((await sayIn(app, 'CREW', 'lin')).conversationId, 'group_crew')
      const twice = { uids: ['Max', 'MAX'], guids: ['Crew', 'crew'] }
      const { data } = assertSucceeds(await send({ multipleReceivers: twice, data: { text: 'once' } }))
      assert.deepEqual([Object.keys(data.uids), Object.keys(data.guids)], [['max'], ['crew']])
    })

    it('tells each of several receivers apart, whatever else is named as receiver', async () => {
      assertSucceeds(await app.post('/users/max/blockedusers', { blockedUids: ['lin'] }))
      const multipleReceivers = { uids: ['ada', 'max', 'ghost', '__proto__'], guids: ['crew'] }
      const { data } = assertSucceeds(
        await send({ receiver: 'nobody', receiverType: 'room', multipleReceivers, data: { text: 'x' } }),
      )
      const told = Object.entries({ ...data.uids, ...data.guids }).map(([id, outcome]) => {
        const {
          success,
          data: message,
          error,
        } = outcome as { success: boolean; data?: { receiver: string }; error?: object }
        if (error) assert.deepEqual(Object.keys(error), ['code', 'message'])
        return [id, success, message?.receiver ?? (error as { code: string }).code]
      })
      assert.deepEqual(told, [
        ['ada', true, 'ada'],
        ['max', false, 'ERR_BLOCKED_SENDER'],
        ['ghost', false, 'ERR_UID_NOT_FOUND'],
        ['__proto__', false, 'ERR_UID_NOT_FOUND'],
        ['crew', true, 'crew'],
      ])
      assertFails(await send({ multipleReceivers, data: {} }), 400, 'ERR_EMPTY_MESSAGE_TEXT')
      const asApp = assertSucceeds(
        await app.post('/messages', { multipleReceivers: { uids: ['max'] }, data: { text: 'x' } }),
      )
      assert.equal(asApp.data.uids.max.data.sender, 'app_system')
      assertSucceeds(await app.delete('/users/max/blockedusers', { blockedUids: ['lin'] }))
    })

    it('is heard once under a muid, a blank one being none', async () => {
      const ids = async (body: object) => {
        const sends = await Promise.all(many(10, () => '').map(() => send(body)))
        return new Set(sends.map((answer) => assertSucceeds(answer).data.id)).size
      }
      assert.equal(await ids({ ...hello, muid: 'once' }), 1)
      assert.equal(await ids({ ...hello, receiver: 'crew', receiverType: 'group', muid: 'once' }), 1)
      assert.equal(await ids({ ...hello, muid: '' }), 10)
      assert.equal('muid' in (await say(app, 'lin', 'ada', 'x', { muid: '' })), false)
    })

    it('goes to whom the path names, whatever the body says of that', async () => {
      const own = await appWith(h, 'ada', 'lin', 'max')
      assertSucceeds(await own.post('/groups', { guid: 'crew', name: 'Crew', members: { participants: ['lin'] } }))
      const elsewhere = { receiver: 'max', receiverType: 'group', multipleReceivers: { uids: ['max'] }, sender: 'max' }
      const body = { ...elsewhere, data: { text: 'Hello' }, tags: ['a'], muid: 'm' }
      for (const [path, receiver, receiverType] of [
        ['/users/ADA/messages', 'ada', 'user'],
        ['/groups/crew/messages', 'crew', 'group'],
      ]) {
        const { data } = assertSucceeds(await own.post(`${path}`, body, as('lin')))
        assert.deepEqual(
          [data.sender, data.receiver, data.receiverType, data.data.text, data.tags, data.muid],
          ['lin', receiver, receiverType, 'Hello', ['a'], 'm'],
        )
        assert.equal(assertSucceeds(await own.post(`${path}`, { data: { text: 'x' } })).data.sender, 'app_system')
        assertFails(await own.post(`${path}`, {}, as('lin')), 400, 'ERR_BAD_REQUEST')
      }
      assertFails(await own.post('/users/ghost/messages', body), 404, 'ERR_UID_NOT_FOUND')
      assertFails(await own.post('/groups/ghost/messages', body), 404, 'ERR_GUID_NOT_FOUND')
      assertFails(await own.post('/groups/crew/messages', body, as('max')), 403, 'ERR_GROUP_NOT_JOINED')
      assert.deepEqual(assertSucceeds(await own.get('/users/max/messages')).data, [])
    })

    it('is by whoever acts, never by whom the body calls the sender', async () => {
      const client = await clientOf(h, app, 'lin')
      const posing = { ...hello, sender: 'ada' }
      assert.equal(assertSucceeds(await client.post('/messages', posing)).data.sender, 'lin')
      assert.equal(assertSucceeds(await client.post('/users/ada/messages', posing)).data.sender, 'lin')
      assert.equal(assertSucceeds(await app.post('/messages', posing, as('lin'))).data.sender, 'lin')
      assert.equal(assertSucceeds(await app.post('/messages', posing)).data.sender, 'app_system')
    })

    it('is done once under an Idempotency-Key, as is every other change', async () => {
      const { id } = await say(app, 'lin', 'ada')
      const twice = async (method: string, path: string, body: object, key: string) => {
        const sending = { method, body, headers: { ...as('lin'), 'Idempotency-Key': key } }
        const [first, second] = [await app.send(path, sending), await app.send(path, sending)]
        assert.equal(first.status, 200, first.text)
        assert.equal(second.text, first.text, path)
        return first.body.data
      }
      const sent = await twice('POST', '/messages', hello, 'send')
      await twice('POST', '/messages', { multipleReceivers: { uids: ['ada', 'max'] }, data: { text: 'x' } }, 'many')
      await twice('PUT', `/messages/${id}`, { data: { text: 'edited' } }, 'edit')
      await twice('DELETE', `/messages/${id}`, {}, 'delete')
      assertSucceeds(await app.delete(`/messages/${sent.id}`, { permanent: true }))
      const { data } = assertSucceeds(await app.get(`/users/ada/messages?limit=100&id=${Number(id) - 1}`, as('lin')))
      assert.deepEqual(
        data.map(
          ({ category, data: { action } }: { category: string; data: { action?: string } }) => action ?? category,
        ),
        ['message', 'message', 'edited', 'deleted'],
      )
    })

    it('goes to oneself: notes that nobody else sees, and nobody has to read', async () => {
      const own = await appWith(h, 'ada', 'lin')
      const note = await say(own, 'ada', 'ada', 'buy oars')
      const { conversationId, sender, receiver, data } = note
      assert.deepEqual([conversationId, sender, receiver], ['ada_user_ada', 'ada', 'ada'])
      assert.equal(data.entities.receiver.entity.conversationId, 'ada_user_ada')
      const { data: notes } = assertSucceeds(await own.get('/users/ada/messages', as('ada')))
      assert.deepEqual(idsIn(notes), [note.id])
      assertFails(await own.get(`/messages/${note.id}`, as('lin')), 403, 'ERR_MESSAGE_NO_ACCESS')
      assert.deepEqual(assertSucceeds(await own.get('/messages?unread=true&count=true', as('ada'))).data, [])
    })

    it('names who spoke and to whom, as they were', async () => {
      assertSucceeds(await app.post('/users', { uid: 'zoe', name: 'Zoe', tags: ['t'], metadata: { a: 1 } }))
      const { id, data } = await say(app, 'zoe', 'ada')
      assert.deepEqual(Object.keys(data.entities), ['sender', 'receiver'])
      const { sender, receiver } = data.entities
      assert.deepEqual([sender.entityType, sender.entity.name, receiver.entityType], ['user', 'Zoe', 'user'])
      assert.equal(receiver.entity.conversationId, 'ada_user_zoe')
      assertSucceeds(await app.put('/users/zoe', { name: 'Zoë' }))
      const later = assertSucceeds(await app.get(`/messages/${id}`)).data
      assert.equal(later.data.entities.sender.entity.name, 'Zoe')
      const { data: inGroup } = await sayIn(app, 'crew', 'lin')
      assert.deepEqual(
        [inGroup.entities.receiver.entityType, inGroup.entities.receiver.entity.conversationId],
        ['group', 'group_crew'],
      )
      const { data: byApp } = assertSucceeds(await app.post('/messages', hello))
      assert.deepEqual([byApp.sender, byApp.data.entities.sender.entity.name], ['app_system', 'System'])
      assert.equal('threadSubscribed' in byApp, false)
    })

    it('of the kind that does not update a conversation leaves its last message and counts alone', async () => {
      const own = await appWith(h, 'ada', 'lin')
      const first = await say(own, 'lin', 'ada', 'first')
      const quiet = { category: 'custom', type: 'ping', data: { customData: {}, updateConversation: false } }
      await say(own, 'lin', 'ada', '', quiet)
      const last = async () => {
        const { data } = assertSucceeds(await own.get('/users/lin/conversation', as('ada')))
        return [data.lastMessage.id, Number(data.unreadMessageCount)]
      }
      assert.deepEqual(await last(), [first.id, 1])
      const loud = await say(own, 'lin', 'ada', '', { ...quiet, data: { customData: {} } })
      assert.deepEqual(await last(), [loud.id, 2])
    })

    it('counts 30 messages a minute for a user, and none for the app', async () => {
      const limited = await house({ database, environment: { PARLEY_LIMIT_MESSAGES: '30' } })
      const own = await appWith(limited, 'ada', 'lin')
      const outcomes = new Set<number>()
      // Two windows of a minute hold at most 60.
      for (let n = 0; n < 61; n += 1) {
        const { status, headers } = await own.post('/messages', hello, as('lin'))
        outcomes.add(status)
        // Whose allowance is used up is what the headers tell of.
        if (status === 429) assert.deepEqual([headers['x-rate-limit'], headers['x-rate-limit-remaining']], ['30', '0'])
        else assert.notEqual(headers['x-rate-limit'], '30')
      }
      assert.deepEqual([...outcomes].toSorted(), [200, 429])
      for (let n = 0; n < 61; n += 1) assertSucceeds(await own.post('/messages', hello))
      await limited.close()
    })
  })
}
