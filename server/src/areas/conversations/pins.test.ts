import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, clientOf, say } from '../../../../tests/support/talk.ts'
import { logOf } from '../../../../tests/support/told.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into records freely
type Fields = any

for (const database of databases) {
  describe(`pinned conversations on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const pin = (app: AppClient, uid: string, path: string) => app.post(`${path}/conversation/pin`, undefined, as(uid))
    const unpin = (app: AppClient, uid: string, path: string) =>
      app.delete(`${path}/conversation/pin`, undefined, as(uid))
    const listed = async (app: AppClient, uid: string, query = ''): Promise<[string, string | undefined][]> =>
      assertSucceeds(await app.get(`/conversations${query}`, as(uid))).data.map(
        ({ conversationWith: { uid: other, guid }, pinnedBy }: Fields) => [other ?? guid, pinnedBy],
      )
    const later = () => h.clock.setOffset(h.clock.offsetSeconds() + 5)
    const toldOf = async (app: AppClient) =>
      (await logOf(h, app))
        .filter(({ name }) => name.endsWith('inned'))
        .map(({ name, payload, audience, told }) => [
          name,
          payload.conversation.conversationId,
          audience,
          told?.trigger,
        ])

    it('are the user’s own: at most 5, the newest first, and told to the user’s devices', async () => {
      const others = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6']
      const app = await appWith(h, 'ada', ...others)
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew' }, as('ada')))
      const first = assertSucceeds(await pin(app, 'ada', '/groups/crew')).data
      assert.deepEqual([first.pinnedBy, first.conversationId], ['ada', 'group_crew'])
      later()
      // Pinned again it keeps its time, and nothing is told.
      assert.equal(assertSucceeds(await pin(app, 'ada', '/groups/crew')).data.pinnedAt, first.pinnedAt)
      for (const other of others.slice(0, 4)) {
        later()
        const { lastMessage, unreadMessageCount } = assertSucceeds(await pin(app, 'ada', `/users/${other}`)).data
        assert.deepEqual([lastMessage, unreadMessageCount], [undefined, '0'])
      }
      const full = await pin(app, 'ada', '/users/p5')
      assertFails(full, 400, 'ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED')
      const mine: [string, string][] = ['p4', 'p3', 'p2', 'p1', 'crew'].map((who) => [who, 'ada'])
      assert.deepEqual(await listed(app, 'ada'), mine, 'also without messages, and nothing of what was refused')
      await say(app, 'p6', 'ada')
      assert.deepEqual(await listed(app, 'ada'), [...mine, ['p6', undefined]])
      assert.deepEqual(await listed(app, 'p1'), [], 'the other side has nothing of it')
      const after = assertSucceeds(await unpin(app, 'ada', '/users/p3')).data
      assert.deepEqual([after.conversationId, after.pinnedBy, after.pinnedAt], ['ada_user_p3', undefined, undefined])
      assertSucceeds(await pin(app, 'ada', '/users/p6'))
      const expected = [
        ...['group_crew', 'ada_user_p1', 'ada_user_p2', 'ada_user_p3', 'ada_user_p4'].map((id) => ['pinned', id]),
        ['unpinned', 'ada_user_p3'],
        ['pinned', 'ada_user_p6'],
      ].map(([what, id]) => [`conversation.${what}`, id, ['user:ada'], `conversation_${what}`])
      assert.deepEqual(await toldOf(app), expected)
    })

    it('five at once, and no sixth', async () => {
      const others = Array.from({ length: 8 }, (_, n) => `p${n}`)
      const app = await appWith(h, 'ada', ...others)
      const answers = await Promise.all(others.map((other) => pin(app, 'ada', `/users/${other}`)))
      assert.equal(answers.filter(({ status }) => status === 200).length, 5)
      assert.equal((await listed(app, 'ada', '?pinnedBy=me')).length, 5)
    })

    it('unpinning what is not pinned changes nothing, not even that there is a conversation', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { conversationId, pinnedBy } = assertSucceeds(await unpin(app, 'ada', '/users/lin')).data
      assert.deepEqual([conversationId, pinnedBy], ['ada_user_lin', undefined])
      assertFails(await app.get('/users/lin/conversation', as('ada')), 403, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
      assert.deepEqual([await listed(app, 'ada'), await toldOf(app)], [[], []])
    })

    it('pinning brings back what a reset has hidden, empty', async () => {
      const app = await appWith(h, 'ada', 'lin')
      await say(app, 'lin', 'ada', 'Old')
      assertSucceeds(await app.delete('/users/lin/conversation', undefined, as('ada')))
      assert.equal(assertSucceeds(await pin(app, 'ada', '/users/lin')).data.lastMessage, undefined)
      assert.deepEqual(await listed(app, 'ada'), [['lin', 'ada']])
      assert.deepEqual(assertSucceeds(await app.get('/users/lin/messages', as('ada'))).data, [])
    })

    it('show a later user of a UID nothing of what the earlier one was told', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'ada', 'lin', 'For the first one only')
      assertSucceeds(await app.delete('/users/lin', { permanent: true }))
      await h.settle()
      later()
      assertSucceeds(await app.post('/users', { uid: 'lin', name: 'Another' }))
      const { lastMessage, unreadMessageCount } = assertSucceeds(await pin(app, 'lin', '/users/ada')).data
      assert.deepEqual([lastMessage, unreadMessageCount], [undefined, '0'])
      assert.deepEqual(assertSucceeds(await app.get('/messages', as('lin'))).data, [])
      assertFails(await app.get(`/messages/${id}`, as('lin')), 403, 'ERR_MESSAGE_NO_ACCESS')
    })

    it('for everyone: the wanted list and order, without meta, for those whom it concerns', async () => {
      const app = await appWith(h, 'ada', 'lin', 'help')
      assertSucceeds(await app.post('/groups', { guid: 'news', name: 'News', members: { participants: ['ada'] } }))
      assertSucceeds(await app.post('/groups', { guid: 'club', name: 'Club', members: { participants: ['lin'] } }))
      for (const uid of ['ada', 'lin']) await say(app, uid, 'help')
      await say(app, 'lin', 'ada')
      const put = (pinnedConversations: unknown) => app.put('/conversations/pinned', { pinnedConversations })
      const all = [{ guid: 'NEWS' }, { uid: 'Help' }, { guid: 'news' }, { guid: 'club' }, { uid: 'help' }]
      const { data, ...rest } = assertSucceeds(await put(all))
      assert.deepEqual(rest, {})
      const at = data[0].pinnedAt
      const entry = (conversationId: string, conversationType: string) => ({
        conversationId,
        conversationType,
        pinnedBy: 'app_system',
        pinnedAt: at,
      })
      const expected = [entry('group_news', 'group'), entry('user_help', 'user'), entry('group_club', 'group')]
      assert.deepEqual(data, expected)
      assert.deepEqual(assertSucceeds(await app.get('/conversations/pinned')), { data: expected })
      const system = (...who: string[]) => who.map((each) => [each, 'app_system'])
      assert.deepEqual(await listed(app, 'ada', '?pinnedBy=system'), system('news', 'help'))
      assert.deepEqual(await listed(app, 'lin', '?pinnedBy=system'), system('help', 'club'))
      assert.deepEqual(await listed(app, 'help', '?pinnedBy=system'), [], 'not to oneself')
      later()
      // Another order keeps the time of what stays; what is left out is unpinned.
      assert.deepEqual(assertSucceeds(await put([{ uid: 'help' }, { guid: 'news' }])).data, [expected[1], expected[0]])
      assert.deepEqual(await listed(app, 'ada', '?pinnedBy=system'), system('help', 'news'))
      const told = (await toldOf(app)).map(([name, id, audience]) => [name, id, audience])
      assert.deepEqual(told, [
        ...['group_news', 'user_help', 'group_club'].map((id) => ['conversation.pinned', id, ['app']]),
        ['conversation.unpinned', 'group_club', ['app']],
      ])
      assert.deepEqual(assertSucceeds(await put([])).data, [])
    })

    it('for everyone: what is refused changes nothing', async () => {
      const others = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6']
      const app = await appWith(h, ...others)
      const put = (body: unknown) => app.put('/conversations/pinned', body)
      const pinned = (...uids: string[]) => ({ pinnedConversations: uids.map((uid) => ({ uid })) })
      assertSucceeds(await put(pinned('p1')))
      const before = assertSucceeds(await app.get('/conversations/pinned'))
      const refusals: [unknown, number, string][] = [
        [pinned(...others), 400, 'ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED'],
        [pinned('p2', 'nobody'), 404, 'ERR_UID_NOT_FOUND'],
        [{ pinnedConversations: [{ guid: 'nowhere' }] }, 404, 'ERR_GUID_NOT_FOUND'],
        [{ pinnedConversations: [{}] }, 400, 'ERR_BAD_REQUEST'],
        [{ pinnedConversations: [{ uid: 'p1', guid: 'g' }] }, 400, 'ERR_BAD_REQUEST'],
        [{ pinnedConversations: 'p1' }, 400, 'ERR_BAD_REQUEST'],
        [{ pinnedConversations: ['p1'] }, 400, 'ERR_BAD_REQUEST'],
        [{}, 400, 'ERR_BAD_REQUEST'],
      ]
      for (const [body, status, code] of refusals) {
        const answer = await put(body)
        assertFails(answer, status, code)
        if (code === 'ERR_BAD_REQUEST') assert.match(Object.keys(answer.body.error.details)[0] ?? '', /^pinnedConv/)
      }
      assert.deepEqual(assertSucceeds(await app.get('/conversations/pinned')), before)
      assertSucceeds(await put(pinned(...others.slice(1), 'p2')))
      const client = await clientOf(h, app, 'p1')
      for (const answer of [await client.get('/conversations/pinned'), await client.put('/conversations/pinned', {})]) {
        assertFails(answer, 403, 'AUTH_ERR_NO_ACCESS')
      }
    })

    it('for everyone: no user changes them, and they take none of a user’s own 5', async () => {
      const others = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6']
      const app = await appWith(h, 'ada', ...others)
      for (const other of others.slice(0, 5)) assertSucceeds(await pin(app, 'ada', `/users/${other}`))
      assertSucceeds(await app.put('/conversations/pinned', { pinnedConversations: [{ uid: 'p1' }] }))
      for (const answer of [await pin(app, 'ada', '/users/p1'), await unpin(app, 'ada', '/users/p1')]) {
        assertFails(answer, 403, 'ERR_SYSTEM_PINNED_CONVERSATION')
      }
      assert.equal((await listed(app, 'ada', '?pinnedBy=me')).length, 4)
      assertSucceeds(await pin(app, 'ada', '/users/p6'))
      assert.equal((await listed(app, 'ada', '?pinnedBy=me,system')).length, 6)
    })

    it('for everyone: whoever has the id of a deleted user or group next is not pinned', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew' }))
      assertSucceeds(
        await app.put('/conversations/pinned', { pinnedConversations: [{ uid: 'lin' }, { guid: 'crew' }] }),
      )
      assertSucceeds(await app.delete('/users/lin', { permanent: true }))
      assertSucceeds(await app.delete('/groups/crew'))
      await h.settle()
      assert.deepEqual(assertSucceeds(await app.get('/conversations/pinned')).data, [])
    })
  })
}
