import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, idsIn, say, sayIn } from '../../../../tests/support/talk.ts'
import { logOf } from '../../../../tests/support/told.ts'
import { tenantDb } from '../../storage/tenant.ts'

/** One user's side of a conversation: what it shows, how it lives, and how it is tagged, reset and deleted. */

for (const database of databases) {
  describe(`a side of a conversation on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const one = async (app: AppClient, uid: string, path: string) =>
      assertSucceeds(await app.get(`${path}/conversation`, as(uid))).data
    const later = () => h.clock.setOffset(h.clock.offsetSeconds() + 5)
    const crewOf = async (app: AppClient, owner: string, ...participants: string[]) =>
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', members: { participants } }, as(owner)))

    it('shows the whole record, with receipts of the last message and one’s own place in a group', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const first = await say(app, 'lin', 'ada', 'One')
      assertSucceeds(await app.post('/users/lin/conversation/read', {}, as('ada')))
      later()
      const last = await say(app, 'lin', 'ada', 'Two <@uid:ada>')
      assertSucceeds(await app.post('/users/lin/conversation/delivered', {}, as('ada')))
      const { lastMessage, conversationWith, ...rest } = await one(app, 'ada', '/users/lin')
      assert.deepEqual(rest, {
        conversationId: 'ada_user_lin',
        conversationType: 'user',
        unreadMessageCount: '1',
        unreadMentionsCount: 1,
        lastReadMessageId: first.id,
        createdAt: first.sentAt,
        updatedAt: last.sentAt,
      })
      assert.deepEqual([conversationWith.uid, conversationWith.conversationId], ['lin', 'ada_user_lin'])
      assert.equal('tags' in conversationWith, false)
      const { receipts, ...message } = lastMessage
      assert.equal(message.id, last.id)
      assert.deepEqual(
        receipts.data.map((each: { receiptType: string; sender: { uid: string } }) => [
          each.receiptType,
          each.sender.uid,
        ]),
        [['delivery', 'ada']],
      )
      await crewOf(app, 'ada', 'lin')
      const { hasJoined, scope, joinedAt, guid } = (await one(app, 'lin', '/groups/crew')).conversationWith
      assert.deepEqual([hasJoined, scope, typeof joinedAt, guid], [true, 'participant', 'number', 'crew'])
    })

    it('begins with the first message, or with being in a group', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max')
      assertFails(await app.get('/users/lin/conversation', as('ada')), 403, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew' }, as('ada')))
      const { lastMessage, unreadMessageCount } = await one(app, 'ada', '/groups/crew')
      assert.deepEqual([lastMessage, unreadMessageCount], [undefined, '0'])
      assert.equal(assertSucceeds(await app.get('/conversations', as('ada'))).data.length, 1)
      await sayIn(app, 'crew', 'ada')
      assertSucceeds(await app.post('/groups/crew/members', { participants: ['lin'] }, as('ada')))
      assert.equal((await one(app, 'lin', '/groups/crew')).unreadMessageCount, '1', 'that one was added')
    })

    it('is moved by what is said, but not by quiet custom messages, edits and deletions', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const first = await say(app, 'lin', 'ada', 'One')
      const quiet = { category: 'custom', type: 'sign', data: { customData: { a: 1 }, updateConversation: false } }
      const moves: [string, () => Promise<unknown>, string | undefined, boolean][] = [
        ['a quiet custom message', () => say(app, 'lin', 'ada', '', quiet), first.id, false],
        ['an edit', () => app.put(`/messages/${first.id}`, { data: { text: '1' } }, as('lin')), first.id, false],
        ['a reply', () => say(app, 'lin', 'ada', 'R', { parentId: first.id }), 'itself', true],
        ['a message', () => say(app, 'lin', 'ada', 'Two'), 'itself', true],
      ]
      for (const [what, happens, shows, moved] of moves) {
        const { updatedAt } = await one(app, 'ada', '/users/lin')
        later()
        const said = (await happens()) as { id: string }
        const side = await one(app, 'ada', '/users/lin')
        assert.equal(side.lastMessage.id, shows === 'itself' ? said.id : shows, what)
        assert.equal(side.updatedAt > updatedAt, moved, what)
      }
      const { lastMessage } = await one(app, 'ada', '/users/lin')
      assertSucceeds(await app.delete(`/messages/${lastMessage.id}`, undefined, as('lin')))
      assert.equal((await one(app, 'ada', '/users/lin')).lastMessage, undefined, 'a deleted last message')
      await say(app, 'ada', 'lin', 'Mine')
      const own = await one(app, 'ada', '/users/lin')
      assert.deepEqual([own.unreadMessageCount, own.lastReadMessageId], ['0', own.lastMessage.id])
    })

    it('has tags of its own: all are replaced, and none are seen by the other', async () => {
      const app = await appWith(h, 'ada', 'lin')
      await say(app, 'lin', 'ada')
      await crewOf(app, 'ada', 'lin')
      for (const path of ['/users/lin', '/groups/crew']) {
        const put = (tags: unknown) => app.put(`${path}/conversation`, { tags }, as('ada'))
        assert.deepEqual(assertSucceeds(await put(['a', 'b'])).data.tags, ['a', 'b'])
        assert.deepEqual(assertSucceeds(await put(['c'])).data.tags, ['c'])
        const other = assertSucceeds(await app.get('/conversations?withTags=true', as('lin'))).data
        assert.ok(other.every((row: object) => !('tags' in row)))
        assert.deepEqual(assertSucceeds(await put([])).data.tags, [])
        const most = Array.from({ length: 25 }, (_, n) => `${n}`.padEnd(100, 'x'))
        assert.equal(assertSucceeds(await put(most)).data.tags.length, 25)
        for (const [tags, field] of [
          [[...most, 'more'], 'tags'],
          [['x'.repeat(101)], 'tags.0'],
          [[' '], 'tags.0'],
          ['a', 'tags'],
          [undefined, 'tags'],
        ] as const) {
          const refused = await put(tags)
          assertFails(refused, 400, 'ERR_BAD_REQUEST')
          assert.deepEqual(Object.keys(refused.body.error.details), [field])
        }
        const [row] = assertSucceeds(await app.get(`/conversations?withTags=true&tags=${most[0]}`, as('ada'))).data
        assert.equal(row.tags.length, 25, 'what was refused has changed nothing')
        assertSucceeds(await put([]))
      }
    })

    it('is reset for its user alone', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const reset = (body: object) => app.delete('/users/lin/conversation', body, as('ada'))
      await say(app, 'lin', 'ada', 'Old')
      const { success, message } = assertSucceeds(await reset({ conversationWith: 'lin' })).data
      assert.deepEqual([success, typeof message], [true, 'string'])
      assertFails(await reset({}), 403, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
      assert.equal((await one(app, 'lin', '/users/ada')).lastMessage.data.text, 'Old')
      await say(app, 'lin', 'ada', 'New')
      assertSucceeds(await reset({ preserveOrder: true }))
      const kept = await one(app, 'ada', '/users/lin')
      assert.deepEqual([kept.lastMessage, kept.unreadMessageCount], [undefined, '0'])
      for (const body of [{ preserveOrder: 'x' }, { deleteMessagesPermanently: 3 }]) {
        const refused = await reset(body)
        assertFails(refused, 400, 'ERR_BAD_REQUEST')
        assert.deepEqual(Object.keys(refused.body.error.details), Object.keys(body))
      }
      // In a group, messages are not removed for good this way.
      await crewOf(app, 'ada', 'lin')
      const { id } = await sayIn(app, 'crew', 'lin')
      assertSucceeds(await app.delete('/groups/crew/conversation', { deleteMessagesPermanently: true }, as('ada')))
      await h.settle()
      assert.equal(assertSucceeds(await app.get(`/messages/${id}`, as('lin'))).data.data.text, 'Hello')
    })

    it('is emptied for good on both sides, and keeps its place where that is asked for', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      const body = { deleteMessagesPermanently: true, preserveOrder: true }
      assertSucceeds(await app.delete('/users/lin/conversation', body, as('ada')))
      assert.equal((await one(app, 'ada', '/users/lin')).lastMessage, undefined)
      assertFails(await app.get('/users/ada/conversation', as('lin')), 403, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
      assert.deepEqual(assertSucceeds(await app.get('/messages', as('lin'))).data, [])
      await h.settle()
      assertFails(await app.get(`/messages/${id}`), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
    })

    it('is deleted for everybody by its id; the messages stay in the store without their content', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max', 'out')
      const direct = await say(app, 'lin', 'ada', 'Secret')
      await crewOf(app, 'ada', 'lin', 'max')
      const inGroup = await sayIn(app, 'crew', 'lin', 'Secret')
      assertSucceeds(await app.post(`/messages/${inGroup.id}/reactions/yes`, undefined, as('max')))
      for (const { id } of [direct, inGroup]) {
        assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'Secret as before' } }, as('lin')))
      }
      for (const [id, message, paths] of [
        ['ada_user_lin', direct, { ada: '/users/lin', lin: '/users/ada' }],
        ['group_crew', inGroup, { ada: '/groups/crew', lin: '/groups/crew', max: '/groups/crew' }],
      ] as const) {
        const answer = await app.delete(`/conversations/${id}`, undefined, as('ada'))
        assert.equal(assertSucceeds(answer).data.success, true)
        assert.equal(answer.headers.deprecation, 'true')
        assert.match(String(answer.headers.link), /rel="successor-version"/)
        for (const [uid, path] of Object.entries(paths)) {
          assertFails(await app.get(`${path}/conversation`, as(uid)), 403, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
          assertFails(await app.get(`/messages/${message.id}`, as(uid)), 403, 'ERR_MESSAGE_NO_ACCESS')
          assert.deepEqual(assertSucceeds(await app.get(`${path}/messages`, as(uid))).data, [])
        }
        await h.settle()
        const kept = assertSucceeds(await app.get(`/messages/${message.id}`)).data
        assert.deepEqual(
          [kept.deletedBy, typeof kept.deletedAt, Object.keys(kept.data)],
          ['ada', 'number', ['entities']],
        )
      }
      assert.deepEqual(assertSucceeds(await app.get('/messages?searchKey=secret')).data, [])
      assert.doesNotMatch((await app.get('/messages')).text, /Secret/, 'nor does the history of edits tell it')
      assert.deepEqual(assertSucceeds(await app.get(`/messages/${inGroup.id}/reactions`)).data, [])
      const told = (await logOf(h, app)).filter(({ name }) => name === 'conversation.deleted')
      assert.deepEqual(
        told.map(({ audience }) => audience),
        [['user:ada', 'user:lin'], ['group:crew']],
      )
      assert.deepEqual(assertSucceeds(await app.get('/messages', as('max'))).data, [])
      const { id } = await sayIn(app, 'crew', 'lin', 'Anew')
      assert.deepEqual(idsIn(assertSucceeds(await app.get('/groups/crew/messages', as('max'))).data), [id])
      assert.equal((await one(app, 'max', '/groups/crew')).lastMessage.id, id)
      assert.deepEqual(await auditOf(app), [])
    })

    /** What the doctor says about the numbers of an app's conversations. */
    async function auditOf(app: AppClient): Promise<string[]> {
      const { auditTimeline } = await import('../timeline/audit.ts')
      return auditTimeline(tenantDb(h.service.house.database.reader, app.id))
    }

    it('loses its messages in batches, however many there are', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      await h.service.house.database.write(async (connection) => {
        const db = tenantDb(connection, app.id)
        const [row] = await db.select('messages').selectAll().where('messages.id', '=', Number(id)).execute()
        const { id: _, app_id: __, ...copy } = row as NonNullable<typeof row>
        const rows = Array.from({ length: 205 }, (_, n) => ({ ...copy, seq: 2 + n, counted: 2 + n }))
        await db.insert('messages', rows).execute()
        await db.update('conversations').set({ last_seq: 206, last_counted: 206, shown_seq: 206 }).execute()
      })
      assertSucceeds(await app.delete('/conversations/ada_user_lin', undefined, as('ada')))
      await h.settle()
      const left = assertSucceeds(await app.get('/messages?limit=1000&hideDeleted=true')).data
      const kept = assertSucceeds(await app.get('/messages?limit=1000')).data
      assert.deepEqual([left.length, kept.length], [0, 206])
    })

    it('of somebody else, or of nobody, is refused with the reason', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max', 'ban')
      await say(app, 'lin', 'ada')
      const members = { participants: ['lin'], usersToBan: ['ban'] }
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', members }, as('ada')))
      const ways = [
        ['GET', ''],
        ['PUT', ''],
        ['DELETE', ''],
        ['POST', '/delivered'],
        ['POST', '/read'],
        ['DELETE', '/read'],
        ['POST', '/pin'],
        ['DELETE', '/pin'],
      ] as const
      const body = { tags: ['a'], messageId: 1 }
      for (const [method, end] of ways) {
        const ask = (uid: string | undefined, path: string) =>
          app.send(`${path}/conversation${end}`, {
            method,
            ...(method !== 'GET' && { body }),
            ...(uid !== undefined && { headers: as(uid) }),
          })
        const refusals: (readonly [string | undefined, string, number, string])[] = [
          [undefined, '/users/lin', 400, 'ERR_BAD_REQUEST'],
          ['nobody', '/users/lin', 404, 'ERR_UID_NOT_FOUND'],
          ['ada', '/users/nobody', 404, 'ERR_UID_NOT_FOUND'],
          ['ada', '/groups/nowhere', 404, 'ERR_GUID_NOT_FOUND'],
          ['max', '/groups/crew', 403, method === 'GET' ? 'ERR_CONVERSATION_NOT_ACCESSIBLE' : 'ERR_GROUP_NOT_JOINED'],
          ['ban', '/groups/crew', 403, 'ERR_BANNED_GROUPMEMBER'],
          // Nothing need have been said for a pin.
          ...(end === '/pin' ? [] : ([['max', '/users/lin', 403, 'ERR_CONVERSATION_NOT_ACCESSIBLE']] as const)),
        ]
        for (const [uid, path, status, code] of refusals) assertFails(await ask(uid, path), status, code)
        const { details } = (await ask(undefined, '/users/lin')).body.error
        assert.deepEqual(Object.keys(details), ['onBehalfOf'])
      }
      for (const method of ['GET', 'DELETE']) {
        const ask = (uid: string | undefined, id: string) =>
          app.send(`/conversations/${id}`, { method, ...(uid !== undefined && { headers: as(uid) }) })
        assertFails(await ask(undefined, 'ada_user_lin'), 400, 'ERR_BAD_REQUEST')
        assertFails(await ask('ada', 'ada_user_nobody'), 404, 'ERR_CONVERSATION_NOT_FOUND')
        assertFails(await ask('max', 'ada_user_lin'), 403, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
        const notIn = method === 'GET' ? 'ERR_CONVERSATION_NOT_ACCESSIBLE' : 'ERR_GROUP_NOT_JOINED'
        assertFails(await ask('max', 'group_crew'), 403, notIn)
        assertFails(await ask('ban', 'group_crew'), 403, 'ERR_BANNED_GROUPMEMBER')
      }
      const known = await app.get('/conversations/ADA_user_lin', as('ada'))
      assert.equal(assertSucceeds(known).data.conversationId, 'ada_user_lin')
      assert.equal(known.headers.deprecation, 'true')
    })

    it('of a deleted group is gone at once, and a later group of the GUID begins empty and listed', async () => {
      const app = await appWith(h, 'ada', 'lin')
      await crewOf(app, 'ada', 'lin')
      await sayIn(app, 'crew', 'ada')
      const listed = async () => assertSucceeds(await app.get('/conversations', as('lin'))).data.length
      assertSucceeds(await app.delete('/groups/crew'))
      assert.equal(await listed(), 0)
      await crewOf(app, 'ada', 'lin')
      assert.equal(await listed(), 1)
      await h.settle()
      assert.equal(await listed(), 1)
      assert.equal(assertSucceeds(await app.get('/groups/crew/messages?category=message', as('lin'))).data.length, 0)
    })

    for (const end of ['leave', 'kick', 'ban'] as const) {
      it(`of a group goes with a ${end}`, async () => {
        const app = await appWith(h, 'ada', 'lin')
        await crewOf(app, 'ada', 'lin')
        const ends = {
          leave: async () => {
            const { authToken } = assertSucceeds(await app.post('/users/lin/auth_tokens')).data
            return h.client.send(app.host, '/v3/groups/crew/leave', { method: 'POST', headers: { authToken } })
          },
          kick: () => app.delete('/groups/crew/members/lin'),
          ban: () => app.post('/groups/crew/bannedusers/lin'),
        }
        assertSucceeds(await ends[end]())
        assert.deepEqual(assertSucceeds(await app.get('/conversations', as('lin'))).data, [])
        assert.equal(assertSucceeds(await app.get('/conversations')).data.length, 1)
      })
    }
  })
}
