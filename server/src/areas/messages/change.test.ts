import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump } from '../../../../tests/support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, idsIn, say, sayIn } from '../../../../tests/support/talk.ts'

const attachments = [{ url: 'https://a.example.org/x.png', name: 'x.png', mimeType: 'image/png', extension: 'png' }]
const url = attachments[0]?.url
const button = { elementType: 'button', elementId: 'go', buttonText: 'Go', action: { actionType: 'customAction' } }
const card = { text: 'Row?', cardActions: [button] }

/** What was sent, what an edit says, and what the message is then. */
const edits: [string, object, object, object][] = [
  [
    'text and metadata; what else there is stays',
    { data: { text: 'one', metadata: { a: 1, b: 2 }, own: [1] } },
    { text: 'two', metadata: { c: 3 }, own: [2], new: 1 },
    { text: 'two', metadata: { c: 3 }, own: [1] },
  ],
  ['only metadata', { data: { text: 'one' } }, { metadata: '{"a":1}' }, { text: 'one', metadata: { a: 1 } }],
  [
    'the caption of media',
    { type: 'image', data: { attachments, text: 'one' } },
    { text: 'two', attachments: [], url: 'https://evil.example.org' },
    { attachments, url, text: 'two' },
  ],
  [
    'media that had no caption',
    { type: 'image', data: { attachments } },
    { text: 'two' },
    { attachments, url, text: 'two' },
  ],
  [
    'custom data, as a whole',
    { category: 'custom', type: 'place', data: { customData: { dock: 4, row: 1 }, subType: 's' } },
    { customData: { dock: 5 }, text: 'x', subType: 'other', updateConversation: false },
    { customData: { dock: 5 }, text: 'x', subType: 's' },
  ],
  [
    'what an interactive message shows and wants',
    { category: 'interactive', type: 'card', data: { interactiveData: card } },
    {
      interactiveData: { ...card, text: 'Sail?' },
      interactionGoal: { type: 'anyOf', elementIds: ['go'] },
      allowSenderInteraction: true,
    },
    {
      interactiveData: { ...card, text: 'Sail?' },
      interactionGoal: { type: 'anyOf', elementIds: ['go'] },
      allowSenderInteraction: true,
    },
  ],
]

const plain = { data: { text: 'one' } }
const place = { category: 'custom', type: 'place', data: { customData: {} } }
const refusedEdits: [string, object, object, string, string][] = [
  ['nothing', plain, {}, 'ERR_BAD_REQUEST', 'data'],
  ['nothing as data', plain, { data: null }, 'ERR_BAD_REQUEST', 'data'],
  ['a list as data', plain, { data: [] }, 'ERR_INVALID_MESSAGE_DATA', 'data'],
  ['too much data', plain, { data: { text: 'x'.repeat(10_230) } }, 'ERR_INVALID_MESSAGE_DATA', 'data'],
  ['an empty text', plain, { data: { text: '' } }, 'ERR_EMPTY_MESSAGE_TEXT', 'data.text'],
  ['a blank text', plain, { data: { text: ' ' } }, 'ERR_EMPTY_MESSAGE_TEXT', 'data.text'],
  ['a text that is none', plain, { data: { text: 5 } }, 'ERR_INVALID_MESSAGE_TEXT', 'data.text'],
  ['metadata that are none', plain, { data: { metadata: [] } }, 'ERR_INVALID_METADATA', 'data.metadata'],
  ['custom data that are none', place, { data: { customData: 'x' } }, 'ERR_INVALID_CUSTOM_DATA', 'data.customData'],
  ['no custom data', place, { data: { customData: null } }, 'ERR_EMPTY_CUSTOM_DATA', 'data.customData'],
  [
    '11 mentions',
    plain,
    { data: { text: Array.from({ length: 11 }, (_, n) => `<@uid:u${n}>`).join() } },
    'ERR_INVALID_MESSAGE_DATA',
    'data',
  ],
  ['26 tags', plain, { tags: Array.from({ length: 26 }, (_, n) => `t${n}`) }, 'ERR_BAD_REQUEST', 'tags'],
  ['a blank tag', plain, { tags: [''] }, 'ERR_BAD_REQUEST', 'tags.0'],
  [
    'a card that makes no sense',
    { category: 'interactive', type: 'card', data: { interactiveData: card } },
    { data: { interactiveData: { cardActions: [button, button] } } },
    'ERR_INVALID_MESSAGE_DATA',
    'data',
  ],
]

for (const database of databases) {
  describe(`changing messages on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', 'lin', 'max')
      assertSucceeds(
        await app.post('/groups', {
          guid: 'crew',
          name: 'Crew',
          members: { moderators: ['max'], participants: ['lin', 'ada'] },
        }),
      )
    })
    after(() => h.close())

    const now = async (id: string, uid?: string) =>
      assertSucceeds(await app.get(`/messages/${id}`, uid === undefined ? undefined : as(uid))).data

    for (const [name, sent, data, expected] of edits) {
      it(`edits ${name}`, async () => {
        const { id } = await say(app, 'lin', 'ada', '', sent)
        assertSucceeds(await app.put(`/messages/${id}`, { data }, as('lin')))
        const { entities, ...content } = (await now(id)).data
        assert.deepEqual(content, expected)
        assert.deepEqual(Object.keys(entities), ['sender', 'receiver'])
      })
    }

    it('refuses edits that make no message, and leaves it as it was', async () => {
      for (const [name, sent, edit, code, field] of refusedEdits) {
        const { id } = await say(app, 'lin', 'ada', '', sent)
        const before = await now(id)
        const answer = await app.put(`/messages/${id}`, edit, as('lin'))
        assertFails(answer, 400, code)
        assert.deepEqual(Object.keys(answer.body.error.details), [field], name)
        assert.deepEqual(await now(id), before, name)
      }
    })

    it('finds an edited message by what it says now', async () => {
      const { id } = await say(app, 'lin', 'ada', 'oldword https://example.org <@uid:max>', { tags: ['old'] })
      assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'newword' }, tags: ['new'] }, as('lin')))
      const found = async (asked: string) =>
        idsIn(assertSucceeds(await app.get(`/messages?id=${Number(id) - 1}&${asked}`)).data).includes(id)
      for (const asked of ['searchKey=newword', 'tags=new', 'hasLinks=false', 'hasMentions=false']) {
        assert.equal(await found(asked), true, asked)
      }
      for (const asked of ['searchKey=oldword', 'tags=old', 'hasLinks=true', 'hasMentions=true', 'mentionedUids=max']) {
        assert.equal(await found(asked), false, asked)
      }
      assert.equal('mentions' in (await now(id)).data, false)
    })

    it('tells of it in the history: who, where, and the message as it is now', async () => {
      const direct = await say(app, 'lin', 'ada')
      const grouped = await sayIn(app, 'crew', 'lin')
      for (const [message, actor, receiver, entityType] of [
        [direct, 'lin', 'ada', 'user'],
        [direct, undefined, 'ada', 'user'],
        [grouped, 'max', 'crew', 'group'],
        [grouped, undefined, 'crew', 'group'],
      ] as const) {
        const headers = actor === undefined ? undefined : as(actor)
        const by = actor ?? 'app_system'
        const answer = await app.put(`/messages/${message.id}`, { data: { text: `by ${by}` } }, headers)
        const { data: action } = assertSucceeds(answer)
        assert.deepEqual(
          [action.category, action.type, action.sender, action.receiver, action.conversationId],
          ['action', 'message', by, receiver, message.conversationId],
        )
        const { entities, ...rest } = action.data
        assert.deepEqual([rest, Object.keys(entities).toSorted()], [{ action: 'edited' }, ['by', 'for', 'on']])
        assert.deepEqual([entities.by.entityType, entities.by.entity.uid], ['user', by])
        assert.deepEqual(
          [entities.for.entityType, entities.for.entity.uid ?? entities.for.entity.guid],
          [entityType, receiver],
        )
        assert.equal(entities.on.entityType, 'message')
        const { id, editedBy, editedAt, updatedAt, data } = entities.on.entity
        assert.deepEqual([id, editedBy, data.text], [message.id, by, `by ${by}`])
        assert.deepEqual([editedAt, updatedAt], [action.sentAt, action.sentAt])
        assert.ok(Number(action.id) > Number(message.id))
        assert.deepEqual((await now(action.id)).data, action.data)
      }
    })

    it('takes all content of a deleted message, and keeps that it was there', async () => {
      const sent = await say(app, 'lin', 'ada', 'gone <@uid:max>', {
        muid: 'kept',
        tags: ['gone'],
        data: { text: 'gone', own: 1, metadata: {} },
      })
      assertSucceeds(await app.post(`/messages/${sent.id}/reactions/yes`, undefined, as('ada')))
      assertSucceeds(await app.post(`/messages/${sent.id}/pin`, undefined, as('ada')))
      const { data: action } = assertSucceeds(await app.delete(`/messages/${sent.id}`, undefined, as('lin')))
      assert.deepEqual([action.category, action.data.action], ['action', 'deleted'])
      const { entity } = action.data.entities.on
      for (const left of [entity, await now(sent.id, 'ada'), await now(sent.id)]) {
        assert.deepEqual(Object.keys(left.data), ['entities'])
        assert.deepEqual([left.id, left.muid, left.deletedBy, left.deletedAt], [sent.id, 'kept', 'lin', action.sentAt])
        assert.equal(left.updatedAt, left.deletedAt)
        for (const name of ['tags', 'pinnedAt', 'pinnedBy']) assert.equal(name in left, false, name)
      }
      assert.equal((await now(action.id)).data.action, 'deleted')
    })

    it('for good leaves nothing, not even that it happened', async () => {
      const sent = await say(app, 'lin', 'ada')
      assertFails(await app.delete(`/messages/${sent.id}`, { permanent: 'true' }, as('lin')), 400, 'ERR_BAD_REQUEST')
      const { data: action } = assertSucceeds(await app.delete(`/messages/${sent.id}`, { permanent: true }, as('lin')))
      assert.deepEqual([action.data.action, action.data.entities.on.entity.id], ['deleted', sent.id])
      await h.settle()
      for (const path of ['', '/receipts', '/reactions', '/thread']) {
        assertFails(await app.get(`/messages/${sent.id}${path}`), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
      }
      const { data } = assertSucceeds(await app.get(`/messages?id=${Number(sent.id) - 1}`))
      assert.deepEqual(data, [])
    })

    it('for good shows it for the last time, to whoever did it, and is no reason to keep a word of it', async () => {
      const sent = await say(app, 'lin', 'ada', 'a word: xylophone')
      assertSucceeds(await app.put(`/messages/${sent.id}`, { data: { metadata: { n: 1 } } }, as('lin')))
      const was = assertSucceeds(await app.get(`/messages/${sent.id}`)).data
      const remove = () =>
        app.send(`/messages/${sent.id}`, {
          method: 'DELETE',
          body: { permanent: true },
          headers: { 'Idempotency-Key': 'last sight' },
        })
      const { data: action } = assertSucceeds(await remove())
      const { by, on, for: where } = action.data.entities
      assert.deepEqual(on, { entity: was, entityType: 'message' })
      assert.deepEqual([was.data.text, was.editedBy, 'deletedAt' in was], ['a word: xylophone', 'lin', false])
      assert.ok(Number(action.id) > Number(was.id))
      assert.deepEqual([by.entity.uid, where.entity.uid, action.receiver], ['app_system', 'ada', 'ada'])
      const again = assertSucceeds(await remove()).data
      assert.deepEqual([again.id, Object.keys(again.data.entities.on.entity.data)], [action.id, ['entities']])
      const next = await say(app, 'lin', 'ada')
      assert.ok(Number(next.id) > Number(action.id), 'the number is nobody else’s')
      await h.settle()
      // The log may still tell of when it was sent and edited, for as long as it is kept.
      const { events = [], ...tables } = await dump(h)
      const stored = [...Object.values(tables).flat(), ...events.filter((event) => event.includes('message.purged'))]
      assert.deepEqual(
        stored.filter((row) => row.includes('xylophone')),
        [],
      )
    })

    it('is not for actions, nor for what is deleted, whoever asks', async () => {
      const { id } = await say(app, 'lin', 'ada')
      const { data: edited } = assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'x' } }, as('lin')))
      const { data: deleted } = assertSucceeds(await app.delete(`/messages/${id}`, undefined, as('lin')))
      for (const headers of [as('lin'), undefined]) {
        for (const each of [id, edited.id, deleted.id]) {
          assertFails(
            await app.put(`/messages/${each}`, { data: { text: 'y' } }, headers),
            403,
            'ERR_MESSAGE_ACTION_NOT_ALLOWED',
          )
          assertFails(await app.delete(`/messages/${each}`, undefined, headers), 403, 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
        }
        assertFails(
          await app.delete(`/messages/${edited.id}`, { permanent: true }, headers),
          403,
          'ERR_MESSAGE_ACTION_NOT_ALLOWED',
        )
      }
    })

    it('finds no message under what is no id', async () => {
      for (const id of ['abc', '0', '-1', '1e3', '1.0', '%20', '9'.repeat(15), '9'.repeat(20), '%D9%A3']) {
        for (const answer of [
          await app.get(`/messages/${id}`),
          await app.put(`/messages/${id}`, { data: { text: 'x' } }),
          await app.delete(`/messages/${id}`),
        ]) {
          assertFails(answer, 404, 'ERR_MESSAGE_ID_NOT_FOUND')
        }
      }
      const { id } = await say(app, 'lin', 'ada')
      assertFails(await app.get(`/messages/${id}`, as('ghost')), 404, 'ERR_UID_NOT_FOUND')
    })

    it('changes neither counts nor the last message; a deleted last message is not shown', async () => {
      const own = await appWith(h, 'ada', 'lin')
      const [first, last] = [await say(own, 'lin', 'ada', 'first'), await say(own, 'lin', 'ada', 'last')]
      const shown = async () => {
        const { data } = assertSucceeds(await own.get('/users/lin/conversation', as('ada')))
        return [data.lastMessage?.id, Number(data.unreadMessageCount)]
      }
      assertSucceeds(await own.put(`/messages/${first.id}`, { data: { text: 'edited' } }, as('lin')))
      assert.deepEqual(await shown(), [last.id, 2])
      assertSucceeds(await own.delete(`/messages/${first.id}`, undefined, as('lin')))
      assert.deepEqual(await shown(), [last.id, 1])
      assertSucceeds(await own.delete(`/messages/${last.id}`, undefined, as('lin')))
      assert.deepEqual(await shown(), [undefined, 0])
    })
  })
}
