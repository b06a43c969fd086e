import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, say, sayIn } from '../../../../tests/support/talk.ts'
import { toldTo } from '../../../../tests/support/told.ts'
import { hasLink, mentionedIn } from './mentions.ts'

it('a text names users by <@uid:…>, in any letter case, each once', () => {
  for (const [text, expected] of [
    ['<@uid:ada> and <@uid:ADA>', ['ada']],
    ['<@uid:ada><@uid:lin-2_x>', ['ada', 'lin-2_x']],
    ['@ada <@ada> <@uid:> <@uid: ada> <uid:ada> <@uid:ada', []],
    [`<@uid:${'u'.repeat(100)}>`, ['u'.repeat(100)]],
    [`<@uid:${'u'.repeat(101)}>`, []],
    ['<@uid:ädа>', []],
    ['<<@uid:ada>>', ['ada']],
  ] as const) {
    assert.deepEqual(mentionedIn(text), expected, text)
  }
})

it('a text has a link where a web address begins', () => {
  for (const text of ['http://a', 'see HTTPS://example.org/x', '(www.example.org)', 'a\nhttps://b'])
    assert.ok(hasLink(text), text)
  for (const text of ['example.org', 'http:// ', 'awww.example', 'ftp://x', '']) assert.ok(!hasLink(text), text)
})

for (const database of databases) {
  describe(`what messages point at on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', 'lin', 'max', 'off')
      assertSucceeds(
        await app.post('/groups', { guid: 'crew', name: 'Crew', members: { participants: ['lin', 'ada'] } }),
      )
      assertSucceeds(await app.put('/users/max', { tags: ['vip'] }))
      assertSucceeds(await app.delete('/users', { uidsToDeactivate: ['off'] }))
    })
    after(() => h.close())

    const quote = (quotedMessageId: string, uid = 'lin', more: object = {}) =>
      app.post(
        '/messages',
        { receiver: 'ada', receiverType: 'user', data: { text: 'q' }, quotedMessageId, ...more },
        as(uid),
      )

    it('are users who exist, as they were, wherever the message is shown', async () => {
      const text = 'for <@uid:MAX>, <@uid:ghost>, <@uid:off> and <@uid:ada>'
      const { id, data } = await sayIn(app, 'crew', 'lin', text)
      assert.deepEqual([data.text, Object.keys(data.mentions)], [text, ['max', 'ada']])
      assert.deepEqual([data.mentions.max.name, 'tags' in data.mentions.max], ['MAX', false])
      const { data: custom } = await say(app, 'lin', 'ada', '', {
        category: 'custom',
        type: 'c',
        data: { text, customData: {} },
      })
      assert.deepEqual(Object.keys(custom.mentions), ['max', 'ada'])
      assert.equal('mentions' in (await say(app, 'lin', 'ada', 'for <@uid:ghost>')).data, false)
      assertSucceeds(await app.put('/users/max', { name: 'Maxim' }))
      const later = assertSucceeds(await app.get(`/messages/${id}`)).data
      assert.equal(later.data.mentions.max.name, 'MAX')
      assertSucceeds(await app.put('/users/max', { name: 'MAX' }))
    })

    it('are users with tags and blocks, seen by whoever asks for that', async () => {
      assertSucceeds(await app.post('/users/ada/blockedusers', { blockedUids: ['max'] }))
      const { conversationId } = await say(app, 'lin', 'ada', 'for <@uid:max>')
      const mentioned = async (uid: string | undefined, asked: string) => {
        const path = `/messages?conversationId=${conversationId}&affix=prepend&limit=1&${asked}`
        const { data } = assertSucceeds(await app.get(path, uid === undefined ? undefined : as(uid)))
        return data[0].data.mentions.max
      }
      const blocks = async (uid: string | undefined) => {
        const { blockedByMe, hasBlockedMe } = await mentioned(uid, 'mentionsWithBlockedInfo=true')
        return [blockedByMe, hasBlockedMe]
      }
      assert.deepEqual(await blocks('ada'), [true, false])
      assert.deepEqual(await blocks('lin'), [false, false])
      assert.deepEqual(await blocks(undefined), [undefined, undefined])
      assert.equal('blockedByMe' in (await mentioned('ada', '')), false)
      assert.deepEqual((await mentioned(undefined, 'mentionsWithTagInfo=true')).tags, ['vip'])
      const both = await mentioned('ada', 'mentionswithTagInfo=1&mentionsWithBlockedInfo=1')
      assert.deepEqual([both.tags, both.blockedByMe], [['vip'], true])
      assertSucceeds(await app.delete('/users/ada/blockedusers', { blockedUids: ['max'] }))
    })

    it('are told one by one to webhooks', async () => {
      const { id } = await say(app, 'lin', 'ada', 'for <@uid:max> and <@uid:ada>')
      const told = (await toldTo(h, app)).filter(
        ({ trigger, data }) => trigger === 'user_mentioned' && data.message.id === id,
      )
      assert.deepEqual(told.map(({ data }) => Object.keys(data.message.data.mentions)).toSorted(), [['ada'], ['max']])
    })

    it('do not call upon anyone across a block, in either direction, though the name stands there', async () => {
      const own = await appWith(h, 'ann', 'bo', 'cy', 'di')
      const members = { participants: ['bo', 'cy', 'di'] }
      assertSucceeds(await own.post('/groups', { guid: 'g', name: 'G', members }, as('ann')))
      assertSucceeds(await own.post('/users/bo/blockedusers', { blockedUids: ['ann'] }))
      assertSucceeds(await own.post('/users/ann/blockedusers', { blockedUids: ['cy'] }))
      const { id } = await sayIn(own, 'g', 'ann', 'Hello')
      const text = '<@uid:bo> <@uid:cy> <@uid:di>'
      const body = { data: { text } }
      const reply = assertSucceeds(await own.post(`/messages/${id}/thread`, body, as('ann'))).data
      assert.deepEqual(Object.keys(reply.data.mentions), ['bo', 'cy', 'di'])
      const told = (await toldTo(h, own)).filter(({ trigger }) => trigger === 'user_mentioned')
      assert.deepEqual(
        told.map(({ data }) => Object.keys(data.message.data.mentions)),
        [['di']],
      )
      const follows = async (uid: string) =>
        assertSucceeds(await own.get(`/messages/${id}`, as(uid))).data.threadSubscribed
      assert.deepEqual([await follows('bo'), await follows('cy'), await follows('di')], [false, false, true])
    })

    it('are quoted messages of the same conversation, one level deep', async () => {
      const first = await say(app, 'lin', 'ada', 'first', { tags: ['t'] })
      const second = assertSucceeds(await quote(first.id)).data
      assert.deepEqual([second.quotedMessageId, second.quotedMessage.id], [first.id, first.id])
      const third = assertSucceeds(await quote(second.id)).data
      assert.deepEqual([third.quotedMessage.quotedMessageId, 'quotedMessage' in third.quotedMessage], [first.id, false])
      for (const shown of [
        assertSucceeds(await app.get(`/messages/${third.id}`, as('ada'))).data,
        assertSucceeds(await app.get(`/messages?id=${second.id}&limit=1`)).data[0],
      ]) {
        assert.equal(shown.quotedMessage.id, second.id)
      }
      const own = assertSucceeds(
        await app.post('/messages', { receiver: 'ada', receiverType: 'user', data: { text: 'x' } }),
      ).data
      for (const [id, status, code] of [
        ['999999999', 404, 'ERR_MESSAGE_ID_NOT_FOUND'],
        [(await sayIn(app, 'crew', 'lin')).id, 403, 'ERR_MESSAGE_NO_ACCESS'],
        [(await say(app, 'lin', 'max')).id, 403, 'ERR_MESSAGE_NO_ACCESS'],
        [own.id, 403, 'ERR_MESSAGE_NO_ACCESS'],
        [
          assertSucceeds(await app.put(`/messages/${first.id}`, { data: { text: 'edited' } }, as('lin'))).data.id,
          403,
          'ERR_MESSAGE_ACTION_NOT_ALLOWED',
        ],
      ] as const) {
        assertFails(await quote(id), status, code)
      }
    })

    it('are quoted messages as they are now: edited, deleted, or gone', async () => {
      const quoted = await say(app, 'lin', 'ada', 'first', { tags: ['t'] })
      const { id } = assertSucceeds(await quote(quoted.id, 'lin')).data
      const shown = async () => assertSucceeds(await app.get(`/messages/${id}`, as('ada'))).data
      assertSucceeds(await app.put(`/messages/${quoted.id}`, { data: { text: 'second' } }, as('lin')))
      assert.equal((await shown()).quotedMessage.data.text, 'second')
      assertSucceeds(await app.delete(`/messages/${quoted.id}`, undefined, as('lin')))
      const { quotedMessage } = await shown()
      assert.deepEqual(
        [typeof quotedMessage.deletedAt, Object.keys(quotedMessage.data), 'tags' in quotedMessage],
        ['number', ['entities'], false],
      )
      assert.equal(assertSucceeds(await quote(quoted.id)).data.quotedMessage.deletedBy, 'lin')
      assertSucceeds(await app.delete(`/messages/${quoted.id}`, { permanent: true }))
      const after = await shown()
      assert.deepEqual([after.quotedMessageId, 'quotedMessage' in after], [quoted.id, false])
      assertFails(await quote(quoted.id), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
    })

    it('are tags, each once, replaced as a whole by an edit', async () => {
      const { id, tags } = await say(app, 'lin', 'ada', 'x', { tags: ['b', 'a', 'b'] })
      assert.deepEqual(tags, ['b', 'a'])
      const now = async () => assertSucceeds(await app.get(`/messages/${id}`)).data
      assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'y' } }, as('lin')))
      assert.deepEqual((await now()).tags, ['b', 'a'])
      assertSucceeds(await app.put(`/messages/${id}`, { tags: ['c'] }, as('lin')))
      assert.deepEqual([(await now()).tags, (await now()).data.text], [['c'], 'y'])
      assertSucceeds(await app.put(`/messages/${id}`, { tags: [] }, as('lin')))
      assert.equal('tags' in (await now()), false)
      assert.equal('tags' in (await say(app, 'lin', 'ada', 'x', { tags: [] })), false)
    })
  })
}
