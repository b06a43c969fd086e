import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, say, sayIn } from '../../../../tests/support/talk.ts'
import { type Logged, logOf } from '../../../../tests/support/told.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into records freely
type Fields = any

for (const database of databases) {
  describe(`delivered, read and unread on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database, environment: { PARLEY_LIMIT_UNREAD: '5' } })
    })
    after(() => h.close())

    const seen = async (app: AppClient, ids: string[], uid: string): Promise<[boolean, boolean][]> => {
      const messages: Fields[] = []
      for (const id of ids) messages.push(assertSucceeds(await app.get(`/messages/${id}`, as(uid))).data)
      return messages.map(({ deliveredAt, readAt }) => [deliveredAt !== undefined, readAt !== undefined])
    }
    const unread = async (app: AppClient, path: string, uid: string) =>
      Number(assertSucceeds(await app.get(`${path}/conversation`, as(uid))).data.unreadMessageCount)
    const receipts = (log: Logged[]) => log.filter(({ name }) => name.startsWith('receipt.') || name.endsWith('Unread'))
    const crewOf = async (app: AppClient, owner: string, ...participants: string[]) =>
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', members: { participants } }, as(owner)))

    it('takes ids of messages as numbers or digits, and no other number', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      for (const messageId of [2 ** 63, 1e15, -1, 1.5, '1e3', '9'.repeat(16), {}]) {
        for (const path of ['delivered', 'read']) {
          const refused = await app.post(`/users/lin/conversation/${path}`, { messageId }, as('ada'))
          assertFails(refused, 400, 'ERR_BAD_REQUEST')
        }
      }
      const takenBack = await app.delete('/users/lin/conversation/read', { messageId: 2 ** 63 }, as('ada'))
      assertFails(takenBack, 400, 'ERR_BAD_REQUEST')
      for (const messageId of [id, Number(id)]) {
        assertSucceeds(await app.post('/users/lin/conversation/read', { messageId }, as('ada')))
      }
    })

    it('leaves the time of a delivery as it was when messages are marked as unread', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const [first, second, third] = [
        await say(app, 'lin', 'ada'),
        await say(app, 'lin', 'ada'),
        await say(app, 'lin', 'ada'),
      ]
      const path = '/users/lin/conversation'
      assertSucceeds(await app.post(`${path}/delivered`, { messageId: third.id }, as('ada')))
      const deliveredAt = h.clock.now()
      h.clock.setOffset(h.clock.offsetSeconds() + 100)
      assertSucceeds(await app.post(`${path}/read`, { messageId: second.id }, as('ada')))
      assertSucceeds(await app.delete(`${path}/read`, { messageId: first.id }, as('ada')))
      for (const { id } of [first, second, third]) {
        assert.equal(assertSucceeds(await app.get(`/messages/${id}`, as('lin'))).data.deliveredAt, deliveredAt)
      }
    })

    it('tells the same of the last message as the message itself, also of what the app did', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const settings = { 'core.conversations.updateOnMessageActions': true }
      assertSucceeds(await h.management.post(`/apps/${app.id}/settings`, { settings }))
      const said = await say(app, 'lin', 'ada', 'hello')
      const whoHas = async (id: string) => {
        const { data } = assertSucceeds(await app.get(`/messages/${id}/receipts`))
        const { lastMessage } = assertSucceeds(await app.get('/users/lin/conversation', as('ada'))).data
        assert.deepEqual([lastMessage.id, lastMessage.receipts.data], [id, data])
        return data.map(({ sender }: Fields) => sender.uid)
      }
      const readBy = async (uid: string, other: string) =>
        assertSucceeds(await app.post(`/users/${other}/conversation/read`, undefined, as(uid)))
      assert.deepEqual(await whoHas(said.id), [])
      await readBy('ada', 'lin')
      assert.deepEqual(await whoHas(said.id), ['ada'])
      const { id } = assertSucceeds(await app.put(`/messages/${said.id}`, { data: { text: 'changed' } })).data
      await readBy('ada', 'lin')
      await readBy('lin', 'ada')
      assert.deepEqual(await whoHas(id), ['ada', 'lin'])
    })

    it('goes up to and including a message, or to the last, for what others sent', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const ids: string[] = []
      for (let n = 0; n < 4; n += 1) ids.push((await say(app, 'lin', 'ada', `m${n}`)).id)
      const own = await say(app, 'ada', 'lin', 'mine')
      // Speaking is reading; so it begins anew here.
      for (let n = 0; n < 4; n += 1) ids.push((await say(app, 'lin', 'ada', `n${n}`)).id)
      const mark = (what: string, body?: object) => app.post(`/users/lin/conversation/${what}`, body, as('ada'))
      const [none, got, all] = [
        [false, false],
        [true, false],
        [true, true],
      ]
      const after = async (what: string, body: object | undefined) => {
        const { data } = assertSucceeds(await mark(what, body))
        assert.deepEqual([data.success, typeof data.message, data.Message], [true, 'string', data.message])
        return seen(app, ids.slice(4), 'lin')
      }
      assert.deepEqual(await seen(app, ids.slice(0, 4), 'lin'), [all, all, all, all])
      assert.deepEqual(await after('delivered', { messageId: Number(ids[5]) }), [got, got, none, none])
      assert.deepEqual(await after('read', { messageId: ids[4] }), [all, got, none, none])
      assert.equal(await unread(app, '/users/lin', 'ada'), 3)
      assert.deepEqual(await after('delivered', { messageId: ids[4] }), [all, got, none, none], 'never backwards')
      assert.deepEqual(await after('read', { messageId: ids[6] }), [all, all, all, none], 'reading is receiving')
      assert.deepEqual(await after('delivered', undefined), [all, all, all, got])
      assert.deepEqual(await after('read', {}), [all, all, all, all])
      assert.equal(await unread(app, '/users/lin', 'ada'), 0)
      const given: Fields[] = assertSucceeds(await app.get(`/messages/${own.id}/receipts`, as('ada'))).data
      assert.deepEqual(
        given.map(({ sender }) => sender.uid),
        ['lin'],
        'nobody has a receipt for what they sent',
      )
    })

    it('goes back to a message: of ten, marked at the fifth, five are unread', async () => {
      const app = await appWith(h, 'ada', 'lin')
      await crewOf(app, 'lin', 'ada')
      const ids: string[] = []
      for (let n = 0; n < 10; n += 1) ids.push((await sayIn(app, 'crew', 'lin', `m${n}`)).id)
      assertSucceeds(await app.post('/groups/crew/conversation/read', {}, as('ada')))
      const back = (messageId: unknown) => app.delete('/groups/crew/conversation/read', { messageId }, as('ada'))
      const { data } = assertSucceeds(await back(ids[4]))
      assert.deepEqual([data.success, typeof data.message, 'Message' in data], [true, 'string', false])
      assert.equal(await unread(app, '/groups/crew', 'ada'), 5)
      const told = (await logOf(h, app)).filter(({ name }) => name === 'conversation.markedUnread')
      assert.deepEqual(
        told.map(({ audience, payload, told: webhook }) => [
          audience,
          payload.conversation.unreadMessageCount,
          webhook,
        ]),
        [[['user:ada'], '5', undefined]],
      )
    })

    it('goes back behind what was read by speaking, which stays received', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const ids = [(await say(app, 'lin', 'ada')).id, (await say(app, 'lin', 'ada')).id]
      await say(app, 'ada', 'lin')
      assertSucceeds(await app.delete('/users/lin/conversation/read', { messageId: ids[0] }, as('ada')))
      assert.deepEqual(await seen(app, ids, 'lin'), [
        [true, true],
        [true, false],
      ])
    })

    it('tells how far it goes: to a word that its author waits for, and beyond to what was done', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max')
      await crewOf(app, 'lin', 'ada')
      const { id } = await sayIn(app, 'crew', 'lin')
      assertSucceeds(await app.post('/groups/crew/members', { participants: ['max'] }))
      assertSucceeds(await app.post('/groups/crew/conversation/read', {}, as('ada')))
      const read = (await logOf(h, app)).filter(({ name }) => name === 'receipt.read')
      const { lastReadMessageId } = assertSucceeds(await app.get('/groups/crew/conversation', as('ada'))).data
      assert.deepEqual(
        read.map(({ payload }) => [payload.messageId, payload.upTo]),
        [[id, lastReadMessageId]],
      )
      assert.notEqual(lastReadMessageId, id)
    })

    it('refuses a message that is not there, or not there for the user, and changes nothing', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max')
      const hidden = await say(app, 'lin', 'ada', 'Old')
      assertSucceeds(await app.delete('/users/lin/conversation', {}, as('ada')))
      await say(app, 'lin', 'ada', 'New')
      const elsewhere = await say(app, 'max', 'ada')
      const bad: [unknown, number, string][] = [
        [999_999_999, 404, 'ERR_MESSAGE_ID_NOT_FOUND'],
        [0, 404, 'ERR_MESSAGE_ID_NOT_FOUND'],
        [elsewhere.id, 404, 'ERR_MESSAGE_ID_NOT_FOUND'],
        [hidden.id, 404, 'ERR_MESSAGE_ID_NOT_FOUND'],
        ['x', 400, 'ERR_BAD_REQUEST'],
        [-1, 400, 'ERR_BAD_REQUEST'],
        [1.5, 400, 'ERR_BAD_REQUEST'],
        [{}, 400, 'ERR_BAD_REQUEST'],
      ]
      for (const [method, what] of [
        ['POST', 'delivered'],
        ['POST', 'read'],
      ] as const) {
        for (const [messageId, status, code] of bad) {
          const sending = { method, body: { messageId }, headers: as('ada') }
          const answer = await app.send(`/users/lin/conversation/${what}`, sending)
          assertFails(answer, status, code)
          if (status === 400) assert.deepEqual(Object.keys(answer.body.error.details), ['messageId'])
        }
      }
      for (const [body, code] of [
        [{}, 'ERR_BAD_REQUEST'],
        [{ messageId: hidden.id }, 'ERR_MESSAGE_ID_NOT_FOUND'],
        [{ messageId: elsewhere.id }, 'ERR_MESSAGE_ID_NOT_FOUND'],
      ] as const) {
        const answer = await app.delete('/users/lin/conversation/read', body, as('ada'))
        assert.equal(answer.body.error.code, code)
      }
      assert.equal(await unread(app, '/users/lin', 'ada'), 1)
    })

    it('can be taken back five times a minute', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      // Two windows, so that the end of one in the middle does not matter.
      const answers: number[] = []
      for (let n = 0; n < 12; n += 1) {
        answers.push((await app.delete('/users/lin/conversation/read', { messageId: id }, as('ada'))).status)
      }
      assert.ok(answers.includes(429))
      assert.deepEqual(answers.slice(0, 5), [200, 200, 200, 200, 200])
    })

    it('tells the author of the newest message between two, and the user’s other devices', async () => {
      const app = await appWith(h, 'ada', 'lin')
      await say(app, 'lin', 'ada')
      const { id } = await say(app, 'lin', 'ada')
      const mark = async (what: string) =>
        assertSucceeds(await app.post(`/users/lin/conversation/${what}`, {}, as('ada')))
      await mark('delivered')
      await mark('read')
      await mark('read')
      const told = receipts(await logOf(h, app))
      assert.deepEqual(
        told.map(({ name, audience, told: webhook }) => [name, audience, webhook?.trigger]),
        [
          ['receipt.delivered', ['user:lin', 'user:ada'], 'message_delivery_receipt'],
          ['receipt.read', ['user:lin', 'user:ada'], 'message_read_receipt'],
        ],
      )
      const { user, timestamp, ...body } = told[1]?.told?.data.body ?? {}
      assert.deepEqual([body, user.uid, typeof timestamp], [{ action: 'read', messageId: id }, 'ada', 'number'])
      const { sender, receiver, receiverType, messageSender, type } = told[1]?.told?.data ?? {}
      assert.deepEqual([sender, receiver, receiverType, messageSender, type], ['ada', 'lin', 'user', 'lin', 'receipts'])
    })

    it('tells the members of a group, and once everybody has come so far, of that too', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max')
      await crewOf(app, 'ada', 'lin', 'max')
      const { id } = await sayIn(app, 'crew', 'ada')
      for (const uid of ['lin', 'max']) {
        const { data } = assertSucceeds(await app.post('/groups/crew/conversation/read', {}, as(uid)))
        assert.deepEqual([data.success, 'Message' in data], [true, false])
      }
      const told = receipts(await logOf(h, app))
      const ends = (name: string) => told.filter((each) => each.name === name)
      for (const name of ['receipt.delivered', 'receipt.read']) {
        assert.deepEqual(
          ends(name).map(({ audience, payload }) => [audience, payload.sender, payload.messageId]),
          [
            [['group:crew'], 'lin', id],
            [['group:crew'], 'max', id],
          ],
        )
      }
      for (const [name, trigger] of [
        ['receipt.deliveredToAll', 'message_delivered_to_all'],
        ['receipt.readByAll', 'message_read_by_all'],
      ] as const) {
        const [event, ...more] = ends(name)
        assert.deepEqual(more, [])
        assert.deepEqual(
          [event?.payload.sender, event?.payload.messageSender, event?.payload.messageId, event?.told?.trigger],
          ['app_system', 'ada', id, trigger],
        )
      }
      assert.deepEqual(await seen(app, [id], 'ada'), [[true, true]])
    })
  })
}
