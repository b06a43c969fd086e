import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, type House, house } from '../../../../tests/support/house.ts'
import type { Answer } from '../../../../tests/support/http.ts'

const as = (uid: string) => ({ onbehalfof: uid })

function assertFails({ status, body }: Answer, expected: number, code: string): void {
  assert.deepEqual([status, body.error?.code], [expected, code], JSON.stringify(body))
}

for (const database of databases) {
  describe(`conversations on ${database}`, () => {
    let h: House
    let app: AppClient
    let n = 0
    before(async () => {
      h = await house({ database })
      app = await h.app('one')
    })
    after(() => h.close())

    /** Users of their own for a test, by the names it calls them. */
    async function people<Name extends string>(...names: Name[]): Promise<Record<Name, string>> {
      n += 1
      const uids = Object.fromEntries(names.map((name) => [name, `${name}-${n}`])) as Record<Name, string>
      for (const name of names) await app.post('/users', { uid: uids[name], name: `${name} ${n}` })
      return uids
    }

    async function groupOf(owner: string, ...members: string[]): Promise<string> {
      n += 1
      const guid = `g-${n}`
      const participants = { members: { participants: members } }
      assert.equal((await app.post('/groups', { guid, name: `Group ${n}`, ...participants }, as(owner))).status, 200)
      return guid
    }

    async function say(from: string, to: string, words: string, more: object = {}) {
      const body = {
        receiver: to,
        receiverType: to.startsWith('g-') ? 'group' : 'user',
        data: { text: words },
        ...more,
      }
      const answer = await app.post('/messages', body, as(from))
      assert.equal(answer.status, 200, answer.text)
      return answer.body.data
    }

    const withUser = (me: string, other: string) => app.get(`/users/${other}/conversation`, as(me))
    const withGroup = (me: string, guid: string) => app.get(`/groups/${guid}/conversation`, as(me))
    const list = async (me: string, query = '') => (await app.get(`/conversations${query}`, as(me))).body

    it('begin with the first message, for both sides', async () => {
      const { ada, lin } = await people('ada', 'lin')
      assertFails(await withUser(ada, lin), 403, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
      const sent = await say(lin, ada, `Hello <@uid:${ada}>`)
      const { data } = (await withUser(ada, lin)).body
      assert.deepEqual(
        {
          ...data,
          lastMessage: data.lastMessage.id,
          conversationWith: data.conversationWith.uid,
          createdAt: 0,
          updatedAt: 0,
        },
        {
          conversationId: [ada, lin].toSorted().join('_user_'),
          conversationType: 'user',
          unreadMessageCount: '1',
          unreadMentionsCount: 1,
          createdAt: 0,
          updatedAt: 0,
          lastMessage: sent.id,
          conversationWith: lin,
        },
      )
      const own = (await withUser(lin, ada)).body.data
      assert.deepEqual([own.unreadMessageCount, own.lastReadMessageId], ['0', sent.id])
      const { data: rows, meta } = await list(ada)
      assert.equal(rows.length, 1)
      assert.equal(meta.pagination.total, 1)
      assert.equal(meta.cursor.affix, 'prepend')
    })

    it('agree on what is unread wherever it is told', async () => {
      const { ada, lin, max } = await people('ada', 'lin', 'max')
      const guid = await groupOf(ada, lin, max)
      for (let i = 0; i < 3; i += 1) await say(lin, guid, `m${i}`)
      await say(max, guid, `hey <@uid:${ada}>`)
      await say(lin, ada, 'direct')
      const inGroup = async () => (await withGroup(ada, guid)).body.data.unreadMessageCount
      const before = Number(await inGroup())
      const rows = (await list(ada)).data
      const counts = (await app.get('/messages?unread=true&count=true', as(ada))).body.data
      const fetched = (await app.get(`/groups/${guid}/messages?unread=true&limit=100`, as(ada))).body.data
      assert.equal(
        rows.find((row: { conversationType: string }) => row.conversationType === 'group').unreadMessageCount,
        String(before),
      )
      assert.equal(counts.find((each: { entityId: string }) => each.entityId === guid).count, before)
      assert.equal(fetched.length, before)
      assert.equal(counts.find((each: { entityId: string }) => each.entityId === lin).count, 1)
      assert.equal((await list(ada, '?unread=true')).meta.pagination.total, 2)
      // A deleted one does not wait any more, nor do those of somebody who is blocked.
      await app.delete(`/messages/${fetched.at(-1).id}`, undefined, as(ada))
      assert.equal(Number(await inGroup()), before - 1)
      await app.post(`/users/${ada}/blockedusers`, { blockedUids: [lin] })
      assert.equal(Number(await inGroup()), before - 4)
      assert.equal(
        (await list(ada)).data.some((row: { conversationWith: { uid?: string } }) => row.conversationWith.uid === lin),
        false,
      )
      assert.equal((await list(ada, '?includeBlockedUsers=true')).data.length, 2)
    })

    it('are marked delivered and read up to a message, and unread again after one', async () => {
      const { ada, lin } = await people('ada', 'lin')
      const sent: { id: string }[] = []
      for (let i = 0; i < 10; i += 1) sent.push(await say(lin, ada, `m${i}`))
      const unread = async () => (await withUser(ada, lin)).body.data.unreadMessageCount
      const answer = await app.post(`/users/${lin}/conversation/delivered`, undefined, as(ada))
      assert.deepEqual(
        [answer.status, answer.body.data.success, answer.body.data.Message],
        [200, true, answer.body.data.message],
      )
      assert.equal(await unread(), '10')
      await app.post(`/users/${lin}/conversation/read`, { messageId: Number(sent[4]?.id) }, as(ada))
      assert.equal(await unread(), '5')
      const [fifth, sixth] = [4, 5].map((at) => app.get(`/messages/${sent[at]?.id}`, as(lin)))
      assert.ok((await fifth)?.body.data.readAt)
      assert.equal((await sixth)?.body.data.readAt, undefined)
      assert.ok((await sixth)?.body.data.deliveredAt)
      await app.post(`/users/${lin}/conversation/read`, undefined, as(ada))
      assert.equal(await unread(), '0')
      assert.equal(
        (await app.delete(`/users/${lin}/conversation/read`, { messageId: sent[4]?.id }, as(ada))).status,
        200,
      )
      assert.equal(await unread(), '5')
      assertFails(await app.delete(`/users/${lin}/conversation/read`, {}, as(ada)), 400, 'ERR_BAD_REQUEST')
      assertFails(
        await app.post(`/users/${lin}/conversation/read`, { messageId: 999999999 }, as(ada)),
        404,
        'ERR_MESSAGE_ID_NOT_FOUND',
      )
    })

    it('of a group tell when everybody has read', async () => {
      const { ada, lin, max } = await people('ada', 'lin', 'max')
      const guid = await groupOf(ada, lin, max)
      const sent = await say(ada, guid, 'all?')
      const readAt = async () => (await app.get(`/messages/${sent.id}`, as(ada))).body.data.readAt
      await app.post(`/groups/${guid}/conversation/read`, undefined, as(lin))
      assert.equal(await readAt(), undefined)
      await app.post(`/groups/${guid}/conversation/read`, undefined, as(max))
      assert.ok(await readAt())
    })

    it('are hidden by a reset until something new is said', async () => {
      const { ada, lin } = await people('ada', 'lin')
      const old = await say(lin, ada, 'old')
      assert.equal((await app.delete(`/users/${lin}/conversation`, undefined, as(ada))).status, 200)
      assertFails(await withUser(ada, lin), 403, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
      assert.equal((await list(ada)).data.length, 0)
      assert.deepEqual((await app.get(`/users/${lin}/messages`, as(ada))).body.data, [])
      assertFails(await app.get(`/messages/${old.id}`, as(ada)), 403, 'ERR_MESSAGE_NO_ACCESS')
      assert.equal((await withUser(lin, ada)).status, 200)
      const fresh = await say(lin, ada, 'new')
      assert.deepEqual(
        (await app.get(`/users/${lin}/messages`, as(ada))).body.data.map(({ id }: { id: string }) => id),
        [fresh.id],
      )
      assert.equal((await withUser(ada, lin)).body.data.unreadMessageCount, '1')
      await app.delete(`/users/${lin}/conversation`, { preserveOrder: true }, as(ada))
      const [row] = (await list(ada)).data
      assert.deepEqual([row.lastMessage, row.unreadMessageCount], [undefined, '0'])
    })

    it('lose their messages for good where that is asked for', async () => {
      const { ada, lin } = await people('ada', 'lin')
      const sent: { id: string }[] = []
      for (let i = 0; i < 5; i += 1) sent.push(await say(i % 2 ? ada : lin, i % 2 ? lin : ada, `m${i}`))
      await app.delete(`/users/${lin}/conversation`, { deleteMessagesPermanently: true }, as(ada))
      await h.settle()
      for (const { id } of sent) assertFails(await app.get(`/messages/${id}`), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
      await say(lin, ada, 'again')
      assert.equal((await withUser(ada, lin)).body.data.unreadMessageCount, '1')
    })

    it('have tags and pins that are the user’s own', async () => {
      const { ada, lin, max } = await people('ada', 'lin', 'max')
      await say(lin, ada, 'one')
      await say(max, ada, 'two')
      const { data } = (await app.put(`/users/${lin}/conversation`, { tags: ['sport', 'sport'] }, as(ada))).body
      assert.deepEqual(data.tags, ['sport'])
      assert.equal((await list(ada, '?tags=sport')).data.length, 1)
      const tagged = (await list(ada, '?withTags=true')).data.filter((row: { tags?: string[] }) => row.tags)
      assert.deepEqual(
        tagged.map(({ tags }: { tags: string[] }) => tags),
        [['sport']],
      )
      const pinned = (await app.post(`/users/${lin}/conversation/pin`, undefined, as(ada))).body.data
      assert.equal(pinned.pinnedBy, ada)
      assert.equal((await list(ada)).data[0].conversationWith.uid, lin)
      await app.put('/conversations/pinned', { pinnedConversations: [{ uid: max }] })
      assert.equal((await list(ada)).data[0].pinnedBy, 'app_system')
      assertFails(
        await app.post(`/users/${max}/conversation/pin`, undefined, as(ada)),
        403,
        'ERR_SYSTEM_PINNED_CONVERSATION',
      )
      assert.deepEqual((await app.get('/conversations/pinned')).body.data[0].conversationId, `user_${max}`)
      await app.put('/conversations/pinned', { pinnedConversations: [] })
      const others = await people('p1', 'p2', 'p3', 'p4', 'p5')
      for (const other of Object.values(others).slice(0, 4)) {
        assert.equal((await app.post(`/users/${other}/conversation/pin`, undefined, as(ada))).status, 200)
      }
      assertFails(
        await app.post(`/users/${others.p5}/conversation/pin`, undefined, as(ada)),
        400,
        'ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED',
      )
      assert.equal(
        (await app.delete(`/users/${lin}/conversation/pin`, undefined, as(ada))).body.data.pinnedBy,
        undefined,
      )
    })

    it('leave the list with the membership, and come back empty', async () => {
      const { ada, lin } = await people('ada', 'lin')
      const guid = await groupOf(ada, lin)
      await say(ada, guid, 'hello')
      assert.equal((await list(lin)).data.length, 1)
      await app.delete(`/groups/${guid}/members/${lin}`, undefined, as(ada))
      assert.equal((await list(lin)).data.length, 0)
      assertFails(await withGroup(lin, guid), 403, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
      await app.post(`/groups/${guid}/members`, { participants: [lin] }, as(ada))
      const { data } = (await withGroup(lin, guid)).body
      assert.equal(data.unreadMessageCount, '1')
    })

    it('lose what a user said who is deleted for good, and begin anew with a later one of the UID', async () => {
      const { ada, lin } = await people('ada', 'lin')
      const sent = await say(lin, ada, 'soon gone')
      const kept = await say(ada, lin, 'mine')
      await app.delete(`/users/${lin}`, { permanent: true })
      await h.settle()
      assertFails(await app.get(`/messages/${sent.id}`), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
      assert.equal((await app.get(`/messages/${kept.id}`)).status, 200)
      h.clock.setOffset(h.clock.offsetSeconds() + 5)
      await app.post('/users', { uid: lin, name: 'Another' })
      assert.equal((await list(lin)).data.length, 0)
      await say(lin, ada, 'hello, I am new')
      assert.equal((await list(lin)).data.length, 1)
      assert.equal((await withUser(ada, lin)).body.data.unreadMessageCount, '1')
    })

    it('are found by the name of the other side', async () => {
      const { ada, lin } = await people('ada', 'lin')
      const guid = await groupOf(ada)
      await say(lin, ada, 'x')
      await say(ada, guid, 'y')
      assert.equal((await list(ada, '?searchKey=lin')).data.length, 1)
      assert.equal((await list(ada, '?searchKey=group')).data.length, 1)
      assert.equal((await list(ada, '?conversationType=group')).data.length, 1)
      assertFails(await app.get('/conversations?hideAgentic=1&onlyAgentic=1', as(ada)), 400, 'ERR_BAD_REQUEST')
      assert.ok((await app.get('/conversations?perPage=5')).body.data.every((row: { uid: string }) => row.uid))
    })
  })
}
