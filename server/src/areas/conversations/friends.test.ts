import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, say } from '../../../../tests/support/talk.ts'
import { logOf } from '../../../../tests/support/told.ts'
import { settleUntil } from '../../../../tests/support/until.ts'
import { workIn } from '../../common/work-in.ts'
import { listFriend } from './friends.ts'

for (const database of databases) {
  describe(`conversations of friends on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    async function befriend(app: AppClient, uid: string, accepted: string[], addToConversations?: boolean) {
      assertSucceeds(await app.post(`/users/${uid}/friends`, { accepted, addToConversations }))
      await h.settle()
    }
    /** The same, until so many conversations were told to be there. */
    async function befriendAndList(app: AppClient, uid: string, accepted: string[], listed: number) {
      await befriend(app, uid, accepted, true)
      await settleUntil(h, 'they are listed', async () => (await opened(app)).length === listed)
    }
    const list = async (app: AppClient, uid: string) => assertSucceeds(await app.get('/conversations', as(uid))).data
    const partners = async (app: AppClient, uid: string) =>
      (await list(app, uid)).map(({ conversationWith }: { conversationWith: { uid: string } }) => conversationWith.uid)
    const opened = async (app: AppClient) => (await logOf(h, app)).filter(({ name }) => name === 'conversation.opened')

    it('are in both lists with nothing said, where it was asked for', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max')
      await befriendAndList(app, 'ada', ['lin', 'max', 'nobody'], 2)
      assert.deepEqual((await partners(app, 'ada')).toSorted(), ['lin', 'max'])
      const [conversation, ...more] = await list(app, 'lin')
      assert.deepEqual(more, [])
      const { conversationId, conversationType, unreadMessageCount, unreadMentionsCount, ...rest } = conversation
      assert.deepEqual(
        [conversationId, conversationType, unreadMessageCount, unreadMentionsCount],
        ['ada_user_lin', 'user', '0', 0],
      )
      assert.deepEqual(Object.keys(rest).toSorted(), ['conversationWith', 'createdAt', 'updatedAt'])
      assert.equal(rest.conversationWith.uid, 'ada')
      assertSucceeds(await app.get('/users/ada/conversation', as('lin')))
      const told = (await opened(app)).map(({ payload, audience }) => [payload.conversationId, audience.toSorted()])
      assert.deepEqual(told.toSorted(), [
        ['ada_user_lin', ['user:ada', 'user:lin']],
        ['ada_user_max', ['user:ada', 'user:max']],
      ])
    })

    it('are not, where it was not', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max')
      await befriend(app, 'ada', ['lin'])
      await befriend(app, 'ada', ['max'], false)
      assert.deepEqual(await list(app, 'ada'), [])
      assertFails(await app.get('/users/ada/conversation', as('lin')), 403, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
      assertFails(
        await app.post('/users/ada/friends', { accepted: ['lin'], addToConversations: 'yes' }),
        400,
        'ERR_BAD_REQUEST',
      )
    })

    it('count what is said afterwards', async () => {
      const app = await appWith(h, 'ada', 'lin')
      await befriendAndList(app, 'ada', ['lin'], 1)
      const { id } = await say(app, 'lin', 'ada')
      const [conversation] = await list(app, 'ada')
      assert.deepEqual([conversation.unreadMessageCount, conversation.lastMessage.id], ['1', id])
    })

    it('stay as they are where something was said before', async () => {
      const app = await appWith(h, 'ada', 'lin')
      await say(app, 'lin', 'ada')
      const before = await list(app, 'ada')
      await befriend(app, 'ada', ['lin'], true)
      assert.deepEqual(await list(app, 'ada'), before)
      assert.deepEqual(await opened(app), [])
    })

    it('come back empty to whoever had taken them out of the list', async () => {
      const app = await appWith(h, 'ada', 'lin')
      await say(app, 'lin', 'ada')
      assertSucceeds(await app.delete('/users/lin/conversation', undefined, as('ada')))
      assert.deepEqual(await list(app, 'ada'), [])
      await befriendAndList(app, 'ada', ['lin'], 1)
      const [conversation] = await list(app, 'ada')
      assert.deepEqual([conversation.conversationWith.uid, conversation.lastMessage], ['lin', undefined])
      assert.equal((await list(app, 'lin'))[0].lastMessage.data.text, 'Hello')
      assert.deepEqual(
        (await opened(app)).map(({ audience }) => audience),
        [['user:ada']],
      )
    })

    it('show a later user of the UID nothing of what was said before them', async () => {
      const app = await appWith(h, 'ada', 'lin')
      await say(app, 'ada', 'lin', 'for the first lin')
      h.clock.setOffset(h.clock.offsetSeconds() + 2)
      assertSucceeds(await app.delete('/users/lin', { permanent: true }))
      await h.settle()
      assertSucceeds(await app.post('/users', { uid: 'lin', name: 'Another' }))
      await befriendAndList(app, 'ada', ['lin'], 1)
      const [conversation] = await list(app, 'lin')
      assert.deepEqual([conversation.lastMessage, conversation.unreadMessageCount], [undefined, '0'])
      const { data } = assertSucceeds(await app.get('/users/ada/messages', as('lin')))
      assert.deepEqual(data, [])
      await say(app, 'ada', 'lin', 'for the second')
      assert.equal((await list(app, 'lin'))[0].unreadMessageCount, '1')
    })

    it('are left alone if the two are friends no more when their turn comes', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { database: storage, tools } = h.service.house
      const turn = { uid: 'ada', friendUid: 'lin' }
      await storage.write((connection) => listFriend.run(turn, workIn(connection, app.id, tools)))
      assert.deepEqual([await list(app, 'lin'), await opened(app)], [[], []])
    })
  })
}
