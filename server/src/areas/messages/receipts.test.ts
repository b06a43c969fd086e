import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, clientOf, say, sayIn } from '../../../../tests/support/talk.ts'
import { logOf } from '../../../../tests/support/told.ts'

for (const database of databases) {
  describe(`receipts on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const later = (seconds = 5) => h.clock.setOffset(h.clock.offsetSeconds() + seconds)
    const groupOf = async (app: AppClient, ...participants: string[]) =>
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants } }))
    const mark = async (
      app: AppClient,
      uid: string,
      what: 'delivered' | 'read',
      path = '/groups/g',
      body: object = {},
    ) => assertSucceeds(await app.post(`${path}/conversation/${what}`, body, as(uid)))
    // biome-ignore lint/suspicious/noExplicitAny: tests look into records freely
    const receipts = async (app: AppClient, id: string, search = ''): Promise<any[]> =>
      assertSucceeds(await app.get(`/messages/${id}/receipts${search}`)).data
    const who = async (app: AppClient, id: string, search = '') =>
      (await receipts(app, id, search)).map(({ sender, receiptType }) => `${sender.uid} ${receiptType}`)

    it('are one row for each user, with both times; reading is also receiving', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max')
      await groupOf(app, 'ada', 'lin', 'max')
      const { id } = await sayIn(app, 'g', 'ada')
      assert.deepEqual(await receipts(app, id), [])
      await mark(app, 'lin', 'delivered')
      later()
      await mark(app, 'lin', 'read')
      await mark(app, 'max', 'read')
      const [lin, max] = await receipts(app, id)
      assert.deepEqual(Object.keys(lin).toSorted(), [
        ...['deliveredAt', 'messageId', 'readAt', 'receiptType', 'receiverId', 'receiverType', 'sender'],
      ])
      assert.deepEqual(
        [lin.messageId, lin.sender.uid, lin.receiverId, lin.receiverType, lin.receiptType],
        [id, 'lin', 'g', 'group', 'read'],
      )
      assert.equal(lin.readAt - lin.deliveredAt >= 5, true)
      assert.equal(max.deliveredAt, max.readAt)
      // Later marks change nothing of what was read before.
      later()
      await sayIn(app, 'g', 'ada')
      await mark(app, 'lin', 'read')
      assert.deepEqual((await receipts(app, id))[0], lin)
    })

    it('between two stand on the message; nobody has one for what they send', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id, updatedAt } = await say(app, 'lin', 'ada')
      const get = async (uid?: string) =>
        assertSucceeds(await app.get(`/messages/${id}`, uid === undefined ? undefined : as(uid))).data
      later()
      await mark(app, 'ada', 'delivered', '/users/lin')
      await mark(app, 'lin', 'read', '/users/ada')
      const delivered = await get('lin')
      assert.deepEqual(['readAt' in delivered, 'deliveredToMeAt' in delivered], [false, false])
      assert.equal(delivered.updatedAt, delivered.deliveredAt)
      assert.ok(delivered.deliveredAt > updatedAt)
      later()
      await mark(app, 'ada', 'read', '/users/lin')
      const read = await get('ada')
      assert.deepEqual([read.deliveredToMeAt, read.readByMeAt], [delivered.deliveredAt, read.readAt])
      assert.deepEqual([read.deliveredAt, read.updatedAt], [delivered.deliveredAt, read.readAt])
      assert.deepEqual(await who(app, id), ['ada read'])
      const note = await say(app, 'ada', 'ada')
      await mark(app, 'ada', 'read', '/users/ada')
      const own = assertSucceeds(await app.get(`/messages/${note.id}`, as('ada'))).data
      assert.deepEqual([await who(app, note.id), 'readAt' in own, 'readByMeAt' in own], [[], false, false])
    })

    it('do not move backwards, other than by marking as unread', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const [one, two] = [await say(app, 'lin', 'ada'), await say(app, 'lin', 'ada')]
      await mark(app, 'ada', 'read', '/users/lin')
      const before = await receipts(app, two.id)
      const log = (await logOf(h, app)).length
      later()
      await mark(app, 'ada', 'read', '/users/lin', { messageId: one.id })
      await mark(app, 'ada', 'delivered', '/users/lin', { messageId: one.id })
      assert.deepEqual([await receipts(app, two.id), (await logOf(h, app)).length], [before, log])
      assertSucceeds(await app.delete('/users/lin/conversation/read', { messageId: one.id }, as('ada')))
      assert.deepEqual([await who(app, one.id), await who(app, two.id)], [['ada read'], ['ada delivery']])
    })

    it('are read on past those who came later and have received nothing', async () => {
      const early = ['ada', 'x1', 'x2', 'x3']
      const app = await appWith(h, ...early, 'b1', 'b2', 'b3', 'b4', 'b5')
      await groupOf(app, ...early)
      const { id } = await sayIn(app, 'g', 'ada')
      assertSucceeds(await app.post('/groups/g/members', { participants: ['b1', 'b2', 'b3', 'b4', 'b5'] }))
      for (const uid of ['x1', 'x2', 'x3']) await mark(app, uid, 'read')
      assert.deepEqual(await who(app, id), ['x1 read', 'x2 read', 'x3 read'])
      const first = assertSucceeds(await app.get(`/messages/${id}/receipts?limit=2`))
      assert.deepEqual(first.meta, {
        current: { limit: 2, count: 2 },
        next: { affix: 'append', id: 'x2' },
        previous: { affix: 'prepend', id: 'x1' },
      })
      assert.deepEqual(await who(app, id, `?limit=2&id=${first.meta.next.id}`), ['x3 read'])
    })

    it('of those who leave go with them and come back, and what was said meanwhile is not theirs', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max')
      await groupOf(app, 'ada', 'lin', 'max')
      const before = await sayIn(app, 'g', 'ada')
      await mark(app, 'lin', 'read')
      const [receipt] = await receipts(app, before.id)
      assertSucceeds(await app.delete('/groups/g/members/lin'))
      later()
      const meanwhile = await sayIn(app, 'g', 'ada')
      assert.deepEqual([await who(app, before.id), await who(app, meanwhile.id)], [[], []])
      assertSucceeds(await app.post('/groups/g/members', { participants: ['lin'] }))
      assert.deepEqual(await receipts(app, before.id), [receipt])
      assert.deepEqual(await who(app, meanwhile.id), [])
      await mark(app, 'max', 'read')
      const { readAt } = assertSucceeds(await app.get(`/messages/${meanwhile.id}`)).data
      assert.ok(readAt, 'everybody has passed it')
    })

    it('are right when everybody reads and speaks at once', async () => {
      const uids = ['ada', 'lin', 'max', 'zoe']
      const app = await appWith(h, ...uids)
      await groupOf(app, ...uids)
      const { id } = await sayIn(app, 'g', 'ada')
      await Promise.all(
        ['lin', 'max', 'zoe'].flatMap((uid) => [
          mark(app, uid, 'delivered'),
          mark(app, uid, 'read'),
          sayIn(app, 'g', uid),
          mark(app, uid, 'read'),
        ]),
      )
      assert.deepEqual(await who(app, id), ['lin read', 'max read', 'zoe read'])
      const all = (await logOf(h, app)).filter(({ name }) => name === 'receipt.readByAll')
      const reached = all.map(({ payload }) => Number(payload.messageId))
      assert.ok(reached.some((message) => message >= Number(id)))
      assert.deepEqual(
        reached,
        reached.toSorted((a, b) => a - b),
      )
      assert.equal(new Set(reached).size, reached.length)
      const { readAt } = assertSucceeds(await app.get(`/messages/${id}`)).data
      assert.ok(readAt)
    })

    it('are for those who see the message, a hundred at a time for clients', async () => {
      const app = await appWith(h, 'ada', 'lin', 'out')
      const { id } = await say(app, 'lin', 'ada')
      const path = `/messages/${id}/receipts`
      assertFails(await app.get(path, as('out')), 403, 'ERR_MESSAGE_NO_ACCESS')
      assertFails(await app.get(path, as('ghost')), 404, 'ERR_UID_NOT_FOUND')
      assertFails(await app.get('/messages/999999/receipts'), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
      assertFails(await app.get(`${path}?limit=0`), 400, 'ERR_BAD_REQUEST')
      const client = await clientOf(h, app, 'lin')
      assert.equal(assertSucceeds(await client.get(`${path}?limit=1000`)).meta.current.limit, 100)
    })

    it('stand with the last message of a conversation', async () => {
      const app = await appWith(h, 'ada', 'lin')
      await say(app, 'lin', 'ada')
      const last = async () => assertSucceeds(await app.get('/users/ada/conversation', as('lin'))).data.lastMessage
      assert.deepEqual((await last()).receipts, { data: [] })
      await mark(app, 'ada', 'read', '/users/lin')
      const { data } = (await last()).receipts
      assert.deepEqual([data.length, data[0].sender.uid, data[0].receiptType], [1, 'ada', 'read'])
    })
  })

  describe(`bots on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    it('speak as themselves, whoever is named beside them, and are refused like anybody', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/roles', { role: 'bot', name: 'Bots' }))
      assertSucceeds(await app.post('/users', { uid: 'robo', name: 'Robo', role: 'bot' }))
      const body = { receiver: 'ada', receiverType: 'user', data: { text: 'beep' } }
      const speak = (more: object, headers?: Record<string, string>) =>
        app.post('/bots/ROBO/messages', { ...body, ...more }, headers)
      const { data } = assertSucceeds(await speak({}, as('lin')))
      assert.deepEqual([data.sender, data.receiver, data.conversationId], ['robo', 'ada', 'ada_user_robo'])
      assert.equal('threadSubscribed' in data, false)
      const { data: many } = assertSucceeds(await speak({ multipleReceivers: { uids: ['lin', 'ghost'] } }))
      assert.deepEqual([many.uids.lin.success, many.uids.ghost.error.code], [true, 'ERR_UID_NOT_FOUND'])
      const refused: [object, number, string][] = [
        [{ receiver: '' }, 400, 'ERR_EMPTY_RECEIVER'],
        [{ receiverType: 'room' }, 400, 'ERR_INVALID_RECEIVER_TYPE'],
        [{ data: { text: '' } }, 400, 'ERR_EMPTY_MESSAGE_TEXT'],
        [{ category: 'action' }, 400, 'ERR_INVALID_MESSAGE_CATEGORY'],
        [{ receiver: 'ghost' }, 404, 'ERR_UID_NOT_FOUND'],
        [{ receiver: 'ghost', receiverType: 'group' }, 404, 'ERR_GUID_NOT_FOUND'],
        [{ parentId: 999_999 }, 404, 'ERR_MESSAGE_ID_NOT_FOUND'],
      ]
      for (const [more, status, code] of refused) assertFails(await speak(more), status, code)
      assertSucceeds(await app.post('/users/ada/blockedusers', { blockedUids: ['robo'] }))
      assertFails(await speak({}), 403, 'ERR_BLOCKED_SENDER')
      const client = await clientOf(h, app, 'ada')
      assertFails(await client.post('/bots/robo/messages', body), 403, 'AUTH_ERR_NO_ACCESS')
    })
  })
}
