import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, say, sayIn } from '../../../../tests/support/talk.ts'
import { logOf } from '../../../../tests/support/told.ts'

/** What is gone stays gone, from the very moment of its deletion: the workers stand still until they are asked. */

for (const database of databases) {
  describe(`what is gone on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
      await h.service.house.workers.stop()
    })
    after(() => h.close())

    const get = async (app: AppClient, uid: string | undefined, path: string) =>
      assertSucceeds(await app.get(path, uid === undefined ? {} : as(uid))).data
    const idsOf = (records: { id: string }[]) => records.map(({ id }) => id)
    const empty = async (app: AppClient) =>
      assertSucceeds(await app.delete('/users/lin/conversation', { deleteMessagesPermanently: true }, as('ada')))

    it('does not count as unread again when the conversation is pinned', async () => {
      for (const takeAway of [
        empty,
        async (app: AppClient) => assertSucceeds(await app.delete('/conversations/ada_user_lin', {}, as('ada'))),
      ]) {
        const app = await appWith(h, 'ada', 'lin')
        for (const text of ['1', '2', '3']) await say(app, 'ada', 'lin', text)
        await takeAway(app)
        const pinned = assertSucceeds(await app.post('/users/ada/conversation/pin', {}, as('lin'))).data
        assert.equal(pinned.unreadMessageCount, '0')
        await h.settle()
        assert.equal((await get(app, 'lin', '/users/ada/conversation')).unreadMessageCount, '0')
        assert.deepEqual(await get(app, 'lin', '/messages?count=1&unread=1'), [])
      }
    })

    it('is found by nobody, also before it is cleared away', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'ada', 'lin', 'secret')
      await say(app, 'ada', 'lin', 'reply', { parentId: id })
      await empty(app)
      for (const path of ['/messages', '/messages?searchKey=secret', '/users/ada/messages', '/threads']) {
        assert.deepEqual(await get(app, undefined, path), [], path)
      }
    })

    it('gives its muid back', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const createGroup = async () =>
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', type: 'public', owner: 'ada' }))
      await createGroup()
      await sayIn(app, 'g', 'ada', 'old', { muid: 'm' })
      assertSucceeds(await app.delete('/groups/g'))
      await createGroup()
      assert.equal((await sayIn(app, 'g', 'ada', 'new', { muid: 'm' })).data.text, 'new')
      await say(app, 'ada', 'lin', 'old', { muid: 'm' })
      await empty(app)
      assert.equal((await say(app, 'ada', 'lin', 'new', { muid: 'm' })).data.text, 'new')
    })

    it('can be listed again between friends', async () => {
      const app = await appWith(h, 'ada', 'lin')
      await say(app, 'ada', 'lin', 'x')
      assertSucceeds(await app.delete('/conversations/ada_user_lin', {}, as('ada')))
      assertSucceeds(await app.post('/users/ada/friends', { accepted: ['lin'], addToConversations: true }))
      await h.settle()
      for (const uid of ['ada', 'lin']) assert.equal((await get(app, uid, '/conversations')).length, 1, uid)
    })

    it('is nothing to a later user of the UID, who keeps what is their own', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', type: 'public', owner: 'ada' }))
      const join = async () => assertSucceeds(await app.post('/groups/g/members', { participants: ['lin'] }))
      await join()
      const inGroup = await sayIn(app, 'g', 'ada', 'to the group')
      const { id: secret } = await say(app, 'ada', 'lin', 'for the old lin')
      const { id: own } = await sayIn(app, 'g', 'lin', 'by the old lin')
      assertSucceeds(await app.post(`/messages/${inGroup.id}/reactions/yes`, {}, as('lin')))
      assertSucceeds(await app.post('/groups/g/conversation/read', {}, as('lin')))

      assertSucceeds(await app.delete('/users/lin', { permanent: true }))
      assertSucceeds(await app.post('/users', { uid: 'lin', name: 'New Lin' }))
      assert.deepEqual(await get(app, 'lin', '/messages'), [])
      assert.deepEqual(await get(app, 'lin', '/messages?searchKey=old'), [])
      assert.deepEqual(await get(app, 'lin', '/conversations'), [])
      await join()
      const seen = await get(app, 'lin', `/messages/${inGroup.id}`)
      assert.deepEqual([seen.readByMeAt, seen.data.reactions], [undefined, undefined])
      assertSucceeds(await app.post(`/messages/${inGroup.id}/thread/subscription`, {}, as('lin')))
      assertSucceeds(await app.post(`/messages/${inGroup.id}/save`, {}, as('lin')))
      const { id: mine } = await say(app, 'lin', 'ada', 'by the new lin')

      await h.settle()
      assert.equal((await get(app, 'lin', `/messages/${inGroup.id}`)).threadSubscribed, true)
      assert.deepEqual(idsOf(await get(app, 'lin', '/messages?saved=true')), [inGroup.id])
      const all = idsOf(await get(app, 'lin', '/messages?limit=100'))
      assert.ok(all.includes(mine) && !all.includes(secret) && !all.includes(own), all.join())
      assert.deepEqual(await get(app, undefined, `/messages/${inGroup.id}/reactions`), [])
    })

    it('is told to those who may have it, conversation by conversation', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants: ['ada', 'lin'] } }))
      const inGroup = await sayIn(app, 'g', 'lin')
      const direct = [await say(app, 'lin', 'ada', '1'), await say(app, 'lin', 'ada', '2')]
      assertSucceeds(await app.delete('/users/lin', { permanent: true }))
      await h.settle()
      const told = (await logOf(h, app)).filter(({ name }) => name === 'messages.purged')
      assert.deepEqual(
        told.map(({ payload: { ids }, audience }) => [ids, audience]),
        [
          [[inGroup.id], ['group:g']],
          [idsOf(direct), ['user:ada', 'user:lin']],
        ],
      )
    })
  })
}
