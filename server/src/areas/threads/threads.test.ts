import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { plansOf, rowsRead, statementsOf } from '../../../../tests/support/plans.ts'
import { appWith, as, clientOf, idsIn, say, sayIn } from '../../../../tests/support/talk.ts'
import { logOf } from '../../../../tests/support/told.ts'
import { placeOfUsers } from '../timeline/index.ts'
import { listThreads } from './list.ts'

for (const database of databases) {
  describe(`threads on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const reply = (app: AppClient, id: string, uid: string, body: object = { data: { text: 'Reply' } }) =>
      app.post(`/messages/${id}/thread`, body, as(uid))
    const replied = async (app: AppClient, id: string, uid: string, text = 'Reply') =>
      assertSucceeds(await reply(app, id, uid, { data: { text } })).data
    const get = async (app: AppClient, id: string, uid?: string) =>
      assertSucceeds(await app.get(`/messages/${id}`, uid === undefined ? undefined : as(uid))).data
    const list = async (app: AppClient, search = '', uid?: string) =>
      assertSucceeds(await app.get(`/threads${search}`, uid === undefined ? undefined : as(uid)))

    describe('replies', () => {
      it('go to the conversation of the message where no receiver is given', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const parent = await say(app, 'lin', 'ada')
        for (const [uid, receiver] of [
          ['ada', 'lin'],
          ['lin', 'ada'],
        ] as const) {
          const message = await replied(app, parent.id, uid)
          assert.deepEqual(
            [message.parentId, message.receiver, message.receiverType, message.sender],
            [parent.id, receiver, 'user', uid],
          )
        }
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants: ['ada', 'lin'] } }))
        const said = await sayIn(app, 'g', 'ada')
        const { receiver, receiverType } = await replied(app, said.id, 'lin')
        assert.deepEqual([receiver, receiverType], ['g', 'group'])
      })

      it('count on the message, and move its time', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const parent = await say(app, 'lin', 'ada')
        assert.equal('replyCount' in (await get(app, parent.id)), false)
        await replied(app, parent.id, 'ada')
        const last = await replied(app, parent.id, 'lin')
        const { replyCount, updatedAt } = await get(app, parent.id)
        assert.deepEqual([replyCount, updatedAt], [2, last.sentAt])
      })

      it('are the app’s own in a group and where it is one of the two, and nowhere else', async () => {
        const app = await appWith(h, 'ada', 'lin')
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants: ['ada'] } }))
        const text = { data: { text: 'x' } }
        const toAda = { receiver: 'ada', receiverType: 'user', ...text }
        const { data: told } = assertSucceeds(await app.post('/messages', toAda))
        for (const [parent, body] of [
          [told, toAda],
          [await sayIn(app, 'g', 'ada'), { receiver: 'g', receiverType: 'group', ...text }],
        ]) {
          for (const answer of [
            await app.post(`/messages/${parent.id}/thread`, text),
            await app.post('/messages', { ...body, parentId: Number(parent.id) }),
          ]) {
            const { sender, receiver, parentId } = assertSucceeds(answer).data
            assert.deepEqual([sender, receiver, parentId], ['app_system', body.receiver, parent.id])
          }
        }
        const { id } = await say(app, 'lin', 'ada')
        for (const refused of [
          await app.post(`/messages/${id}/thread`, text),
          await app.post(`/messages/${id}/thread`, toAda),
          await app.post('/messages', { ...toAda, parentId: id }),
        ]) {
          assertFails(refused, 400, 'ERR_BAD_REQUEST')
          assert.deepEqual(Object.keys(refused.body.error.details), ['onBehalfOf'])
        }
        assert.equal('replyCount' in (await get(app, id)), false)
      })

      it('name their message by parentId, or by parentMessageId where that is absent', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const [one, two] = [await say(app, 'lin', 'ada'), await say(app, 'lin', 'ada')]
        const said = async (more: object) => (await say(app, 'ada', 'lin', 'x', more)).parentId
        assert.equal(await said({ parentMessageId: one.id }), one.id)
        assert.equal(await said({ parentMessageId: Number(one.id), parentId: two.id }), two.id)
      })

      it('ignore several receivers, and refuse a receiver of another conversation', async () => {
        const app = await appWith(h, 'ada', 'lin', 'max')
        const parent = await say(app, 'lin', 'ada')
        const many = { data: { text: 'x' }, multipleReceivers: { uids: ['max'] } }
        assert.equal(assertSucceeds(await reply(app, parent.id, 'ada', many)).data.receiver, 'lin')
        const elsewhere = { data: { text: 'x' }, receiver: 'max', receiverType: 'user' }
        assertFails(await reply(app, parent.id, 'ada', elsewhere), 400, 'ERR_WRONG_MESSAGE_THREAD')
      })

      it('begin no thread of their own, nor do actions', async () => {
        const app = await appWith(h, 'ada', 'lin', 'out')
        const parent = await say(app, 'lin', 'ada')
        const first = await replied(app, parent.id, 'ada')
        assertFails(await reply(app, first.id, 'lin'), 400, 'ERR_MESSAGE_THREAD_NESTING')
        const { data: action } = assertSucceeds(await app.put(`/messages/${parent.id}`, { data: { text: 'x' } }))
        // The app's action stands in the conversation of the two.
        assertFails(await reply(app, action.id, 'ada'), 400, 'ERR_WRONG_MESSAGE_THREAD_CATEGORY')
        assertFails(await reply(app, '9999999', 'ada'), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
        assertFails(await reply(app, parent.id, 'out'), 403, 'ERR_MESSAGE_NO_ACCESS')
      })

      it('are refused for the same reasons with a parentId', async () => {
        const app = await appWith(h, 'ada', 'lin', 'max')
        const [parent, elsewhere] = [await say(app, 'lin', 'ada'), await say(app, 'lin', 'max')]
        const nested = await replied(app, parent.id, 'ada')
        const { data: action } = assertSucceeds(await app.put(`/messages/${parent.id}`, { data: { text: 'x' } }))
        const cases: [unknown, number, string][] = [
          [elsewhere.id, 400, 'ERR_WRONG_MESSAGE_THREAD'],
          [nested.id, 400, 'ERR_MESSAGE_THREAD_NESTING'],
          [action.id, 400, 'ERR_WRONG_MESSAGE_THREAD_CATEGORY'],
          ['9999999', 404, 'ERR_MESSAGE_ID_NOT_FOUND'],
          ['x', 400, 'ERR_BAD_REQUEST'],
          [-1, 400, 'ERR_BAD_REQUEST'],
        ]
        for (const [parentId, status, code] of cases) {
          const body = { receiver: 'lin', receiverType: 'user', data: { text: 'x' }, parentId }
          assertFails(await app.post('/messages', body, as('ada')), status, code)
        }
        assert.equal((await get(app, parent.id)).replyCount, 1)
      })

      it('are of any category that can be sent, with tags and files', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const { id } = await say(app, 'lin', 'ada')
        const url = 'https://example.org/a.png'
        const bodies: object[] = [
          { receiver: 'LIN', receiverType: 'user', data: { text: 'x' }, tags: ['a'] },
          { category: 'custom', type: 'place', data: { customData: { a: 1 } } },
          { type: 'image', data: { attachments: [{ url, name: 'a.png', mimeType: 'image/png', extension: 'png' }] } },
        ]
        for (const body of bodies) {
          const { data } = assertSucceeds(await reply(app, id, 'ada', body))
          assert.deepEqual([data.parentId, data.receiver], [id, 'lin'])
        }
        assertFails(await reply(app, id, 'ada', { category: 'action', data: {} }), 400, 'ERR_INVALID_MESSAGE_CATEGORY')
        assertFails(await reply(app, id, 'ghost'), 404, 'ERR_UID_NOT_FOUND')
      })

      it('go with a user who is deleted for good, and are counted no more', async () => {
        const app = await appWith(h, 'ada', 'lin', 'max')
        assertSucceeds(
          await app.post('/groups', { guid: 'g', name: 'G', members: { participants: ['ada', 'lin', 'max'] } }),
        )
        const [one, two] = [await sayIn(app, 'g', 'ada'), await sayIn(app, 'g', 'ada')]
        await replied(app, one.id, 'max')
        await replied(app, two.id, 'max')
        const kept = await replied(app, two.id, 'lin')
        assertSucceeds(await app.delete('/users/max', { permanent: true }))
        await h.settle()
        assert.equal('replyCount' in (await get(app, one.id)), false)
        assert.equal((await get(app, two.id)).replyCount, 1)
        const { data } = await list(app, '', 'ada')
        assert.deepEqual([idsIn(data), data[0].lastReply.id], [[two.id], kept.id])
        assertSucceeds(await app.post('/users', { uid: 'max', name: 'Another' }))
        assertSucceeds(await app.post('/groups/g/members', { participants: ['max'] }))
        assert.deepEqual((await list(app, '?participatedByMe=true', 'max')).data, [])
        assert.equal((await get(app, two.id, 'max')).threadSubscribed, false)
      })

      it('do not outlive the message when it is removed for good at that moment', async () => {
        const app = await appWith(h, 'ada', 'lin')
        for (let round = 0; round < 6; round += 1) {
          const { id } = await say(app, 'lin', 'ada')
          const answers = await Promise.all([
            ...['ada', 'lin', 'ada'].map((uid) => reply(app, id, uid)),
            app.delete(`/messages/${id}`, { permanent: true }),
            reply(app, id, 'lin'),
          ])
          for (const { status } of answers) assert.ok(status === 200 || status === 404)
        }
        await h.settle()
        const { data } = assertSucceeds(await app.get('/messages?limit=1000'))
        assert.deepEqual(data, [])
      })

      it('are checked like any message', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const parent = await say(app, 'lin', 'ada')
        assertFails(await reply(app, parent.id, 'ada', { data: { text: '' } }), 400, 'ERR_EMPTY_MESSAGE_TEXT')
        assertFails(await reply(app, parent.id, 'ada', {}), 400, 'ERR_BAD_REQUEST')
        assertSucceeds(await app.post('/users/ada/blockedusers', { blockedUids: ['lin'] }))
        assertFails(await reply(app, parent.id, 'ada'), 403, 'ERR_BLOCKED_RECEIVER')
        assert.equal('replyCount' in (await get(app, parent.id)), false)
      })

      it('follow what a group allows its members', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const members = { participants: ['lin'] }
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members }, as('ada')))
        const said = await sayIn(app, 'g', 'ada')
        const permissions = { sendThreadedMessage: 'deny' }
        assertSucceeds(await app.put('/groups/g/scopes/participant/permissions', { permissions }))
        assertFails(await reply(app, said.id, 'lin'), 403, 'ERR_PERMISSION_DENIED')
        await sayIn(app, 'g', 'lin')
        await replied(app, said.id, 'ada')
      })

      it('stand in the conversation unless they are hidden, are its last message, and are not counted as unread', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const parent = await say(app, 'lin', 'ada')
        const answer = await replied(app, parent.id, 'lin')
        const listed = async (search: string) =>
          idsIn(assertSucceeds(await app.get(`/users/lin/messages${search}`, as('ada'))).data)
        assert.deepEqual(await listed(''), [parent.id, answer.id])
        assert.deepEqual(await listed('?hideReplies=true'), [parent.id])
        const { data } = assertSucceeds(await app.get('/users/lin/conversation', as('ada')))
        assert.deepEqual([data.lastMessage.id, data.unreadMessageCount], [answer.id, '1'])
        assert.equal((await get(app, parent.id, 'ada')).unreadRepliesCount, 1)
        assertSucceeds(await app.post('/users/lin/conversation/read', {}, as('ada')))
        assert.equal((await get(app, parent.id, 'ada')).unreadRepliesCount, 0)
      })

      it('are listed with their parent where that is asked for', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const parent = await say(app, 'lin', 'ada', 'Parent')
        await replied(app, parent.id, 'ada')
        const path = '/users/lin/messages?withParent=true&hideReplies=false'
        const { data } = assertSucceeds(await app.get(path, as('ada')))
        assert.equal('parent' in data[0], false)
        assert.deepEqual([data[1].parent.id, data[1].parent.data.text], [parent.id, 'Parent'])
      })

      it('are read on and back', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const parent = await say(app, 'lin', 'ada')
        const ids: string[] = []
        for (let n = 0; n < 12; n += 1) ids.push((await replied(app, parent.id, n % 2 ? 'ada' : 'lin', `r${n}`)).id)
        const read = async (search: string, uid = 'ada') =>
          assertSucceeds(await app.get(`/messages/${parent.id}/thread${search}`, as(uid)))
        assert.equal((await read('')).meta.current.limit, 100)
        const first = await read('?limit=10')
        assert.deepEqual(idsIn(first.data), ids.slice(0, 10))
        assert.deepEqual([first.meta.current, first.meta.next.id], [{ limit: 10, count: 10 }, ids[9]])
        assert.deepEqual(idsIn((await read(`?id=${ids[9]}`)).data), ids.slice(10))
        assert.deepEqual(idsIn((await read('?affix=prepend&limit=2')).data), ids.slice(10))
        assert.deepEqual(
          idsIn((await read('?sender=lin&limit=100')).data),
          ids.filter((_, n) => n % 2 === 0),
        )
        assert.deepEqual(idsIn((await read('?searchKey=r11')).data), [ids[11]])
        const client = await clientOf(h, app, 'ada')
        const { meta } = assertSucceeds(await client.get(`/messages/${parent.id}/thread?limit=1000`))
        assert.equal(meta.current.limit, 100)
      })

      it('stay when the message is deleted, and go when it is removed for good', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const parent = await say(app, 'lin', 'ada')
        const [one, two] = [await replied(app, parent.id, 'ada'), await replied(app, parent.id, 'lin')]
        assertSucceeds(await app.delete(`/messages/${two.id}`, { permanent: true }))
        assert.equal((await get(app, parent.id)).replyCount, 1)
        assertSucceeds(await app.delete(`/messages/${parent.id}`))
        assert.deepEqual(idsIn(assertSucceeds(await app.get(`/messages/${parent.id}/thread`)).data), [one.id])
        assertSucceeds(await app.delete(`/messages/${parent.id}`, { permanent: true }))
        await h.settle()
        assertFails(await app.get(`/messages/${one.id}`), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
      })

      it('are counted right when they come at once', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const parent = await say(app, 'lin', 'ada')
        const both = Array.from({ length: 20 }, (_, n) => replied(app, parent.id, n % 2 ? 'ada' : 'lin'))
        const edits = Array.from({ length: 5 }, (_, n) =>
          app.put(`/messages/${parent.id}`, { data: { text: `edit ${n}` } }, as('lin')),
        )
        await Promise.all(both)
        for (const answer of await Promise.all(edits)) assertSucceeds(answer)
        assert.equal((await get(app, parent.id)).replyCount, 20)
      })
    })

    describe('the list', () => {
      it('has messages with replies, the latest activity first, each with its last reply', async () => {
        const app = await appWith(h, 'ada', 'lin', 'max')
        await say(app, 'lin', 'ada', 'no thread')
        const one = await say(app, 'lin', 'ada', 'one')
        const two = await say(app, 'lin', 'max', 'two')
        const lasts = []
        for (const [id, uid] of [
          [two.id, 'max'],
          [one.id, 'ada'],
        ]) {
          h.clock.setOffset(h.clock.offsetSeconds() + 5)
          lasts.push(await replied(app, id, uid))
        }
        const { data, meta } = await list(app)
        assert.deepEqual(idsIn(data), [one.id, two.id])
        assert.deepEqual(
          data.map((row: { replyCount: number; lastReply: { id: string } }) => [row.replyCount, row.lastReply.id]),
          [
            [1, lasts[1].id],
            [1, lasts[0].id],
          ],
        )
        assert.deepEqual(meta, {
          current: { limit: 100, count: 2 },
          next: { affix: 'append', updatedAt: lasts[0].sentAt, id: two.id },
          previous: { affix: 'prepend', updatedAt: lasts[1].sentAt, id: one.id },
        })
        assert.deepEqual(idsIn((await list(app, '', 'ada')).data), [one.id])
        assert.deepEqual(idsIn((await list(app, '?uid=max', 'lin')).data), [two.id])
        const page = await list(app, '?limit=1')
        assert.deepEqual(page.meta.next, { affix: 'append', updatedAt: lasts[1].sentAt, id: one.id })
        assert.deepEqual(idsIn((await list(app, `?limit=1&updatedAt=${lasts[1].sentAt}`)).data), [two.id])
        const back = await list(app, `?affix=prepend&updatedAt=${lasts[0].sentAt}`)
        assert.deepEqual(idsIn(back.data), [one.id])
      })

      it('does not lose threads of one second at the end of a page', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const parents: string[] = []
        for (let n = 0; n < 6; n += 1) parents.push((await say(app, 'lin', 'ada', `p${n}`)).id)
        for (const [n, id] of parents.entries()) {
          if (n % 2 === 0) h.clock.setOffset(h.clock.offsetSeconds() + 5)
          await replied(app, id, 'ada')
        }
        const seen: string[] = []
        let search = '?limit=3'
        for (let page = 0; page < 10 && search !== ''; page += 1) {
          const { data, meta } = await list(app, search, 'ada')
          seen.push(...idsIn(data))
          search = data.length > 0 ? `?limit=3&updatedAt=${meta.next.updatedAt}` : ''
        }
        assert.deepEqual(seen.toSorted(), parents.toSorted())
      })

      it('counts what the acting user has not read', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const parent = await say(app, 'ada', 'lin')
        await replied(app, parent.id, 'lin', 'for <@uid:ada>')
        await replied(app, parent.id, 'lin', 'and more')
        const search = '?withUnreadReplyCount=true&withMentionCount=true'
        const [row] = (await list(app, search, 'ada')).data
        assert.deepEqual([row.unreadReplyCount, row.unreadMentionCount], [2, 1])
        const [own] = (await list(app, search, 'lin')).data
        assert.deepEqual([own.unreadReplyCount, own.unreadMentionCount], [0, 0])
        assertSucceeds(await app.post('/users/lin/conversation/read', {}, as('ada')))
        const [read] = (await list(app, search, 'ada')).data
        assert.deepEqual([read.unreadReplyCount, read.unreadMentionCount], [0, 0])
        assert.equal('unreadReplyCount' in (await list(app, '', 'ada')).data[0], false)
      })

      // Another one each time: what a role allows is read once for each who acts.
      const ada = () => ({ uid: 'ada', role: 'default', roleId: null })

      it('takes the same few statements whatever its length', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const query = { withUnreadReplyCount: true, withMentionCount: true }
        const counts: number[] = []
        for (const more of [2, 10]) {
          for (let n = 0; n < more; n += 1) {
            const { id } = await say(app, n % 2 ? 'ada' : 'lin', n % 2 ? 'lin' : 'ada')
            await replied(app, id, 'lin', 'for <@uid:ada>')
            assertSucceeds(await app.post(`/messages/${id}/reactions/yes`, undefined, as('ada')))
          }
          const statements = await statementsOf(h, app, async (view) => {
            const { threads } = await listThreads(view, query, { viewer: ada(), conversationKey: undefined })
            assert.ok(threads.length >= more && threads.every(({ lastReply }) => lastReply))
          })
          counts.push(statements.length)
        }
        assert.equal(counts[0], counts[1])
      })

      it('looks at no threads but those of the user who asks', async () => {
        const app = await appWith(h, 'ada', 'lin', 'max')
        const { id } = await say(app, 'lin', 'ada')
        await replied(app, id, 'ada')
        const { id: foreign } = await say(app, 'max', 'lin')
        const many = 1_500
        await h.service.house.database.write(async ({ query }) => {
          // As many threads of others, newer than the one.
          const columns = sql.raw(
            'app_id, conversation_key, sender, receiver, receiver_type, category, type, data, counted, counts, sent_at',
          )
          await sql`INSERT INTO messages (${columns}, seq, updated_at, reply_count)
            SELECT ${columns}, messages.seq + n.n, messages.updated_at + n.n, 1 FROM messages
            CROSS JOIN (WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${many}) SELECT n FROM n) AS n
            WHERE messages.app_id = ${app.id} AND messages.id = ${Number(foreign)}`.execute(query)
          if (database === 'postgres') await sql`ANALYZE messages`.execute(query)
        })
        for (const query of [{}, { participatedByMe: true }, { uid: 'lin' }]) {
          const conversationKey = 'uid' in query ? placeOfUsers('ada', 'lin').conversationKey : undefined
          const plans = await plansOf(h, app, async (view) => {
            const { threads } = await listThreads(view, query, { viewer: ada(), conversationKey })
            assert.deepEqual(idsIn(threads), [id])
          })
          for (const plan of plans) {
            if (database === 'sqlite')
              assert.doesNotMatch(plan, /messages USING [A-Z ]*INDEX \w+ \(app_id=\?\)|SCAN messages/)
            else assert.ok(rowsRead(plan, ['messages']) < 100, plan)
          }
        }
      })

      it('is whole while replies come in', async () => {
        const uids = ['ada', 'lin', 'max', 'zoe']
        const app = await appWith(h, ...uids)
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants: uids } }))
        const parents: string[] = []
        for (let n = 0; n < 8; n += 1) parents.push((await sayIn(app, 'g', 'ada', `p${n}`)).id)
        const listing = Array.from({ length: 6 }, () => list(app, '?guid=g&participatedByMe=true', 'ada'))
        const replies = await Promise.all(parents.flatMap((id) => uids.map((uid) => replied(app, id, uid))))
        for (const { data } of await Promise.all(listing)) {
          for (const row of data) assert.ok(row.lastReply && row.replyCount > 0, JSON.stringify(row))
        }
        const { data } = await list(app, '', 'ada')
        assert.deepEqual(idsIn(data).toSorted(), parents.toSorted())
        for (const row of data) {
          const own = replies.filter(({ parentId }) => parentId === row.id)
          assert.equal(row.replyCount, uids.length)
          assert.equal(row.lastReply.id, String(Math.max(...own.map(({ id }) => Number(id)))))
        }
      })

      it('finds nothing for an unknown affix', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const { id } = await say(app, 'lin', 'ada')
        await replied(app, id, 'ada')
        const paths = ['/threads', `/messages/${id}/thread`, `/messages/${id}/reactions`, `/messages/${id}/receipts`]
        assertSucceeds(await app.post(`/messages/${id}/reactions/yes`, undefined, as('ada')))
        for (const path of paths) {
          assert.equal(assertSucceeds(await app.get(path)).data.length, 1, path)
          assert.deepEqual(assertSucceeds(await app.get(`${path}?affix=sideways`)).data, [], path)
        }
      })

      it('refuses what makes no sense', async () => {
        const app = await appWith(h, 'ada', 'out')
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G' }, as('ada')))
        const wrong = ['participatedByMe=true', 'withUnreadReplyCount=1', 'withMentionCount=1', 'uid=ada&guid=g']
        for (const search of wrong) assertFails(await app.get(`/threads?${search}`), 400, 'ERR_BAD_REQUEST')
        assertFails(await app.get('/threads?uid=ghost', as('ada')), 404, 'ERR_UID_NOT_FOUND')
        assertFails(await app.get('/threads?guid=ghost', as('ada')), 404, 'ERR_GUID_NOT_FOUND')
        assertFails(await app.get('/threads?guid=g', as('out')), 403, 'ERR_GROUP_NOT_JOINED')
        assert.equal((await list(app, '?limit=5000')).meta.current.limit, 1000)
      })
    })

    describe('following', () => {
      const followed = async (app: AppClient, uid: string) =>
        idsIn((await list(app, '?participatedByMe=true', uid)).data)
      const set = async (app: AppClient, method: 'post' | 'delete', id: string, uid: string) =>
        assertSucceeds(await app[method](`/messages/${id}/thread/subscription`, undefined, as(uid)))

      it('comes by beginning, replying and being named; and by asking, also without replies', async () => {
        const app = await appWith(h, 'ada', 'lin', 'max', 'zoe')
        const members = { participants: ['ada', 'lin', 'max', 'zoe'] }
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members }))
        const parent = await sayIn(app, 'g', 'ada')
        const quiet = await sayIn(app, 'g', 'ada', 'nobody replies')
        await replied(app, parent.id, 'lin', 'ask <@uid:max>')
        for (const uid of ['ada', 'lin', 'max']) assert.deepEqual(await followed(app, uid), [parent.id], uid)
        assert.deepEqual(await followed(app, 'zoe'), [])
        for (let n = 0; n < 2; n += 1) {
          assert.deepEqual((await set(app, 'post', quiet.id, 'zoe')).data, { success: true })
        }
        assert.deepEqual(await followed(app, 'zoe'), [quiet.id])
        const { threadSubscribed: own } = await get(app, parent.id, 'ada')
        const { threadSubscribed: other } = await get(app, parent.id, 'zoe')
        assert.deepEqual([own, other], [true, false])
        assert.equal('threadSubscribed' in (await get(app, parent.id)), false)
      })

      it('ends when asked to, until one replies or is named again', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const parent = await say(app, 'ada', 'lin')
        await replied(app, parent.id, 'lin')
        for (let n = 0; n < 2; n += 1) await set(app, 'delete', parent.id, 'ada')
        await set(app, 'delete', parent.id, 'lin')
        assert.deepEqual([await followed(app, 'ada'), await followed(app, 'lin')], [[], []])
        assert.equal((await get(app, parent.id, 'ada')).threadSubscribed, false)
        // Somebody else's reply does not bring back who has left.
        await replied(app, parent.id, 'lin')
        assert.deepEqual([await followed(app, 'ada'), await followed(app, 'lin')], [[], [parent.id]])
        await replied(app, parent.id, 'lin', '<@uid:ada>')
        assert.deepEqual(await followed(app, 'ada'), [parent.id])
      })

      it('answers no more than that it was done, and is told once', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const { id } = await say(app, 'ada', 'lin')
        const ask = (method: 'post' | 'delete') =>
          app[method](`/messages/${id}/thread/subscription`, undefined, as('lin'))
        for (const method of ['post', 'delete'] as const) {
          for (const answer of await Promise.all([ask(method), ask(method), ask(method)])) {
            assert.deepEqual(assertSucceeds(answer), { data: { success: true } })
          }
        }
        const names = (await logOf(h, app)).map(({ name }) => name).filter((name) => name.startsWith('thread.'))
        assert.deepEqual(names, ['thread.followed', 'thread.unfollowed'])
      })

      it('is for messages one sees, and for those that begin a thread', async () => {
        const app = await appWith(h, 'ada', 'lin', 'out')
        const parent = await say(app, 'ada', 'lin')
        const answer = await replied(app, parent.id, 'lin')
        for (const method of ['post', 'delete'] as const) {
          const ask = (id: string, uid?: string) =>
            app[method](`/messages/${id}/thread/subscription`, undefined, uid === undefined ? undefined : as(uid))
          assertFails(await ask(answer.id, 'ada'), 400, 'ERR_MESSAGE_THREAD_NESTING')
          assertFails(await ask(parent.id, 'out'), 403, 'ERR_MESSAGE_NO_ACCESS')
          assertFails(await ask('999999', 'ada'), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
          assertFails(await ask(parent.id), 400, 'ERR_BAD_REQUEST')
        }
      })
    })
  })
}
