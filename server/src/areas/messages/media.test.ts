import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, say } from '../../../../tests/support/talk.ts'
import { logOf } from '../../../../tests/support/told.ts'
import { form, formType, type Part, stream } from '../../../../tests/support/uploads.ts'
import { tenantDb } from '../../storage/tenant.ts'

const attachment = {
  url: 'https://files.example.org/plan.pdf',
  name: 'plan.pdf',
  mimeType: 'application/pdf',
  extension: 'pdf',
}
const without = (name: string) => Object.fromEntries(Object.entries(attachment).filter(([each]) => each !== name))
const toAda = { receiver: 'ada', receiverType: 'user' }
const media = (attachments: unknown, type = 'file') => ({ ...toAda, type, data: { attachments } })

const field = (name: string, content: string): Part => ({ field: name, content })
const file = (name = 'file'): Part => ({
  field: name,
  content: 'rows of oak',
  filename: 'plan.txt',
  type: 'text/plain',
})
const head = [field('receiver', 'ada'), field('receiverType', 'user')]

for (const database of databases) {
  describe(`media messages on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', 'lin', 'max')
      assertSucceeds(await app.put('/users/max', { name: 'Max' }))
    })
    after(() => h.close())

    const send = (body: object) => app.post('/messages', body, as('lin'))
    const sendForm = (...parts: Part[]) =>
      app.send('/messages', {
        method: 'POST',
        raw: form(...parts),
        headers: { ...as('lin'), 'content-type': formType },
      })

    it('keep attachments as they are given, of whatever type the message is', async () => {
      for (const type of ['image', 'audio', 'video', 'file']) {
        const given = { ...attachment, size: '2048', extra: [1] }
        const { data } = assertSucceeds(await send(media([given, attachment], type))).data
        assert.deepEqual(data.attachments, [{ ...given, size: 2048 }, attachment])
        assert.equal(data.url, attachment.url)
      }
      for (const size of [0, 1, Number.MAX_SAFE_INTEGER]) {
        const { data } = assertSucceeds(await send(media([{ ...attachment, size }]))).data
        assert.equal(data.attachments[0].size, size)
      }
    })

    it('are in the log by the keys of their files, and told with addresses signed when they are told', async () => {
      const { id } = assertSucceeds(await sendForm(...head, field('type', 'file'), file())).data
      const quoting = { ...toAda, data: { text: 'This one' }, quotedMessageId: id }
      assertSucceeds(await app.post('/messages', quoting, as('lin')))
      for (const act of ['reactions/wave', 'pin', 'save']) {
        assertSucceeds(await app.post(`/messages/${id}/${act}`, undefined, as('ada')))
      }
      const side = '/users/lin/conversation'
      assertSucceeds(await app.put(side, { tags: ['oak'] }, as('ada')))
      assertSucceeds(await app.post(`${side}/pin`, undefined, as('ada')))
      assertSucceeds(await app.delete(`${side}/pin`, undefined, as('ada')))
      assertSucceeds(await app.post(`${side}/read`, undefined, as('ada')))
      assertSucceeds(await app.delete(`${side}/read`, { messageId: id }, as('ada')))
      assertSucceeds(await app.put(`/messages/${id}`, { data: { caption: 'Oak' } }, as('lin')))
      const rows = await tenantDb(h.service.house.database.reader, app.id)
        .select('events')
        .select(['events.name', 'events.payload'])
        .where('events.payload', 'like', '%plan.txt%')
        .execute()
      const names = [
        ...['markedUnread', 'pinned', 'tagged', 'unpinned'].map((name) => `conversation.${name}`),
        ...['actionWritten', 'edited', 'pinned', 'saved', 'sent'].map((name) => `message.${name}`),
        'reaction.added',
      ]
      assert.deepEqual([...new Set(rows.map(({ name }) => name))].toSorted(), names)
      for (const { name, payload } of rows) assert.doesNotMatch(payload, /\/files\//, name)

      // Long after what was signed at first has ended.
      h.clock.setOffset(h.clock.offsetSeconds() + 30 * 24 * 3600)
      const addresses = (await logOf(h, app)).flatMap(({ payload }) =>
        [...JSON.stringify(payload).matchAll(/"url":"(https:[^"]*\/files\/[^"]*)"/g)].map(([, url]) => url ?? ''),
      )
      assert.ok(addresses.length >= rows.length)
      for (const url of new Set(addresses)) assert.equal((await stream(h, url)).bytes.toString(), 'rows of oak')
    })

    it('are in actions by the keys of their files, too, and shown there with addresses signed then', async () => {
      const { id } = assertSucceeds(await sendForm(...head, field('type', 'file'), file())).data
      const edited = assertSucceeds(await app.put(`/messages/${id}`, { data: { caption: 'Oak' } }, as('lin'))).data
      const { data } = await tenantDb(h.service.house.database.reader, app.id)
        .select('messages')
        .select('messages.data')
        .where('messages.id', '=', Number(edited.id))
        .executeTakeFirstOrThrow()
      assert.match(data, /plan\.txt/)
      assert.doesNotMatch(data, /\/files\//)

      // Long after what was signed at first has ended.
      h.clock.setOffset(h.clock.offsetSeconds() + 30 * 24 * 3600)
      const shown = [
        assertSucceeds(await app.get(`/messages/${edited.id}`)).data,
        ...assertSucceeds(await app.get('/users/lin/messages?categories=action', as('ada'))).data,
      ]
      assert.ok(shown.length > 1)
      for (const action of shown) {
        const { attachments, url } = action.data.entities.on.entity.data
        assert.equal(attachments[0].url, url)
        assert.equal((await stream(h, url)).bytes.toString(), 'rows of oak')
      }
    })

    it('are one file where only an address is given', async () => {
      const at = (url: unknown, more: object = {}) => ({ ...toAda, type: 'video', data: { url, ...more } })
      for (const [url, name, extension, mimeType] of [
        ['https://files.example.org/a/Boat.MP4?x=1#y', 'Boat.MP4', 'mp4', 'video/mp4'],
        ['http://files.example.org/notes.weird', 'notes.weird', 'weird', 'application/octet-stream'],
        ['https://files.example.org/a/', 'video', '', 'application/octet-stream'],
        ['https://files.example.org', 'video', '', 'application/octet-stream'],
      ]) {
        const { data } = assertSucceeds(await send(at(url, { caption: 'Look', attachments: [] }))).data
        assert.deepEqual(data.attachments, [{ url, name, extension, mimeType }])
        assert.deepEqual([data.url, data.caption], [url, 'Look'])
        assert.equal(assertSucceeds(await send(at(url))).data.data.attachments.length, 1)
      }
      const both = assertSucceeds(await send(at('https://other.example.org/x.png', { attachments: [attachment] }))).data
      assert.deepEqual([both.data.attachments, both.data.url], [[attachment], attachment.url])
      for (const url of ['ftp://files.example.org/x', 'x.png', 5, { a: 1 }, 'https://']) {
        assertFails(await send(at(url)), 400, 'ERR_INVALID_MEDIA_MESSAGE')
      }
      for (const url of ['', null]) assertFails(await send(at(url)), 400, 'ERR_EMPTY_MESSAGE_FILE')
      const text = await send({ ...toAda, data: { text: 'x', url: 'https://files.example.org/x.png' } })
      assert.equal('attachments' in assertSucceeds(text).data.data, false)
    })

    it('are not the only ones that name attachments: none may name what its sender may not attach', async () => {
      const own = await appWith(h, 'ada', 'lin')
      const { role } = assertSucceeds(await own.post('/roles', { role: 'painter', name: 'Painter' })).data
      assertSucceeds(await own.put('/users/lin', { role }))
      const permissions = { 'sendMessage.mimeTypes': ['image/*'] }
      assertSucceeds(await own.put(`/roles/${role}/permissions`, { permissions }))
      const picture = { ...attachment, mimeType: 'image/png' }
      const kinds = [
        { data: { text: 'Look' } },
        { category: 'custom', type: 'place', data: { customData: {} } },
        { category: 'interactive', type: 'form', data: { interactiveData: {} } },
      ]
      for (const kind of kinds) {
        const naming = (attachments: unknown) =>
          own.post('/messages', { ...toAda, ...kind, data: { ...kind.data, attachments } }, as('lin'))
        for (const said of [undefined, [], 'plan.pdf', {}, [picture]]) assertSucceeds(await naming(said))
        for (const said of [attachment, {}, null, 'plan.pdf', { mimeType: 7 }, { mimeType: { toString: 1 } }]) {
          assertFails(await naming([picture, said]), 403, 'ERR_PERMISSION_DENIED')
        }
      }
    })

    it('need attachments that make sense', async () => {
      const wrong: [unknown, string][] = [
        [undefined, 'ERR_EMPTY_MESSAGE_FILE'],
        [null, 'ERR_EMPTY_MESSAGE_FILE'],
        [[], 'ERR_EMPTY_MESSAGE_FILE'],
        [{}, 'ERR_INVALID_MEDIA_MESSAGE'],
        ['https://a.example.org', 'ERR_INVALID_MEDIA_MESSAGE'],
        [[null], 'ERR_INVALID_MEDIA_MESSAGE'],
        [['https://a.example.org'], 'ERR_INVALID_MEDIA_MESSAGE'],
        ...['url', 'name', 'mimeType', 'extension'].flatMap((name): [unknown, string][] => [
          [[without(name)], 'ERR_INVALID_MEDIA_MESSAGE'],
          [[{ ...attachment, [name]: '' }], 'ERR_INVALID_MEDIA_MESSAGE'],
          [[{ ...attachment, [name]: 5 }], 'ERR_INVALID_MEDIA_MESSAGE'],
        ]),
        ...['ftp://a.example.org/x', 'plan.pdf', 'https://', 'javascript:alert(1)'].map((url): [unknown, string] => [
          [{ ...attachment, url }],
          'ERR_INVALID_MEDIA_MESSAGE',
        ]),
        ...[-1, 1.5, '12 KB', null, 2 ** 53].map((size): [unknown, string] => [
          [{ ...attachment, size }],
          'ERR_INVALID_MEDIA_MESSAGE',
        ]),
        [Array.from({ length: 11 }, () => attachment), 'ERR_FILE_COUNT_EXCEEDED'],
      ]
      for (const [attachments, code] of wrong) {
        const answer = await send(media(attachments))
        assertFails(answer, 400, code)
        assert.deepEqual(Object.keys(answer.body.error.details), ['data.attachments'], answer.text)
      }
      const ten = assertSucceeds(await send(media(Array.from({ length: 10 }, () => attachment)))).data
      assert.equal(ten.data.attachments.length, 10)
      assertFails(
        await send({ ...media([attachment]), data: { attachments: [attachment], text: 5 } }),
        400,
        'ERR_INVALID_MESSAGE_TEXT',
      )
    })

    it('come as forms, whose fields are read like a body', async () => {
      const parts = [
        ...head,
        field('data', '{"text":"for <@uid:max>"}'),
        field('metadata', '{"from":"form"}'),
        field('tags', '["a","b"]'),
        field('muid', '007'),
        field('bogus', 'ignored'),
        file(),
        file('files[]'),
      ]
      const { type, tags, muid, data } = assertSucceeds(await sendForm(...parts)).data
      assert.deepEqual([type, tags, muid], ['file', ['a', 'b'], '007'])
      assert.deepEqual(
        [data.text, data.metadata, Object.keys(data.mentions)],
        ['for <@uid:max>', { from: 'form' }, ['max']],
      )
      assert.deepEqual(
        data.attachments.map(({ name, size }: { name: string; size: number }) => [name, size]),
        [
          ['plan.txt', 11],
          ['plan.txt', 11],
        ],
      )
      const both = [
        ...head,
        field('data', '{"metadata":{"from":"data"}}'),
        field('metadata', '{"from":"form"}'),
        file(),
      ]
      assert.deepEqual(assertSucceeds(await sendForm(...both)).data.data.metadata, { from: 'data' })
      const listed = [...head, field('tags[]', 'x'), field('tags[]', 'y'), field('type', 'image'), file('files[0]')]
      const sent = assertSucceeds(await sendForm(...listed)).data
      assert.deepEqual([sent.tags, sent.type], [['x', 'y'], 'image'])
      const plain = assertSucceeds(await sendForm(...head, field('data', '{"text":"no file"}'))).data
      assert.deepEqual([plain.type, plain.data.text], ['text', 'no file'])
    })

    it('come as forms to many, and each receiver has the file', async () => {
      const { data } = assertSucceeds(
        await sendForm(field('multipleReceivers', '{"uids":["ada","max","ghost"]}'), file()),
      )
      assert.equal(data.uids.ghost.error.code, 'ERR_UID_NOT_FOUND')
      for (const uid of ['ada', 'max']) {
        const { pathname, host } = new URL(data.uids[uid].data.data.url)
        const fetched = await h.client.send(host.split(':')[0] ?? '', pathname)
        assert.deepEqual([fetched.status, fetched.text], [200, 'rows of oak'])
      }
    })

    it('refuse forms that make no sense, whatever file they bring', async () => {
      const wrong: [Part[], string][] = [
        [[file()], 'ERR_EMPTY_RECEIVER'],
        [[field('receiver', 'ada'), file()], 'ERR_INVALID_RECEIVER_TYPE'],
        [[...head, field('type', 'text'), field('data', '{"text":"x"}'), file()], 'ERR_INVALID_MEDIA_MESSAGE'],
        [[...head, field('type', ''), file()], 'ERR_EMPTY_MESSAGE_TYPE'],
        [[...head, field('type', 'song'), file()], 'ERR_INVALID_MESSAGE_TYPE'],
        [[...head, field('category', 'custom'), field('data', '{"customData":{}}'), file()], 'ERR_EMPTY_MESSAGE_TYPE'],
        [
          [...head, field('category', 'custom'), field('type', 'a'), field('data', '{"customData":{}}'), file()],
          'ERR_INVALID_MEDIA_MESSAGE',
        ],
        [[...head, field('category', 'action'), file()], 'ERR_INVALID_MESSAGE_CATEGORY'],
        [[...head, field('data', '{no JSON'), file()], 'ERR_INVALID_MESSAGE_DATA'],
        [[...head, field('data', '[]'), file()], 'ERR_INVALID_MESSAGE_DATA'],
        [[...head, field('metadata', 'no JSON'), file()], 'ERR_INVALID_METADATA'],
        [[...head, field('tags', 'red'), file()], 'ERR_BAD_REQUEST'],
        [[...head, field('multipleReceivers', 'ada'), file()], 'ERR_BAD_REQUEST'],
        [[...head, field('quotedMessageId', 'abc'), file()], 'ERR_BAD_REQUEST'],
        [[...head, field('data', '{"text":"\\u0000"}'), file()], 'ERR_BAD_REQUEST'],
        [[...head, file('picture')], 'ERR_BAD_REQUEST'],
        [[...head, field('type', 'file')], 'ERR_BAD_REQUEST'],
        [[...head, field('type', 'file'), field('data', '{}')], 'ERR_EMPTY_MESSAGE_FILE'],
        [[...head, ...Array.from({ length: 11 }, () => file())], 'ERR_FILE_COUNT_EXCEEDED'],
      ]
      for (const [parts, code] of wrong) {
        const answer = await sendForm(...parts)
        assert.deepEqual([answer.status, answer.body.error?.code], [400, code], answer.text)
      }
      const together = [
        ...head,
        field('data', JSON.stringify({ attachments: [attachment] })),
        ...Array.from({ length: 10 }, () => file()),
      ]
      assertFails(await sendForm(...together), 400, 'ERR_FILE_COUNT_EXCEEDED')
    })

    it('keep their files when their words are edited, however many the app allows', async () => {
      const roomy = await house({ database, environment: { PARLEY_FILES_MAX: '12' } })
      const own = await appWith(roomy, 'ada', 'lin')
      const all = Array.from({ length: 12 }, () => attachment)
      const { id } = await say(own, 'lin', 'ada', '', { type: 'file', data: { attachments: all, text: 'before' } })
      const edit = { data: { text: 'after', attachments: [], url: 'x' } }
      const { data: action } = assertSucceeds(await own.put(`/messages/${id}`, edit, as('lin')))
      const { text, attachments, url } = action.data.entities.on.entity.data
      assert.deepEqual([text, attachments, url], ['after', all, attachment.url])
      assertSucceeds(await own.put(`/messages/${id}`, { data: { text: '' } }, as('lin')))
      await roomy.close()
    })
  })
}
