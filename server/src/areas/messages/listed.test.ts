import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, idsIn, say, sayIn } from '../../../../tests/support/talk.ts'

const image = {
  type: 'image',
  data: {
    attachments: [{ name: 'a.png', url: 'https://files.example.org/a.png', mimeType: 'image/png', extension: 'png' }],
  },
}

for (const database of databases) {
  describe(`messages that lists may not hold on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const toRole = async (app: AppClient, permissions: object) =>
      assertSucceeds(await app.put('/roles/default/permissions', { permissions }))
    const get = async (app: AppClient, path: string) => assertSucceeds(await app.get(path, as('ada'))).data

    it('leave pages full, and the way on from them whole', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const images: string[] = []
      for (let n = 0; n < 5; n += 1) {
        await say(app, 'lin', 'ada')
        images.push((await say(app, 'lin', 'ada', '', image)).id)
      }
      await toRole(app, { 'listMessages.allowedMessageTypes': ['image'] })
      const first = await get(app, '/users/lin/messages?limit=3&affix=append&id=0')
      assert.deepEqual(idsIn(first), images.slice(0, 3))
      const rest = await get(app, `/users/lin/messages?limit=3&affix=append&id=${images[2]}`)
      assert.deepEqual(idsIn(rest), images.slice(3))
    })

    it('are not counted as unread, wherever that is told, nor as mentions', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants: ['ada', 'lin'] } }))
      // That both came is unread, too, and is no message of a kind.
      assertSucceeds(await app.post('/groups/g/conversation/read', {}, as('ada')))
      await say(app, 'lin', 'ada', 'for <@uid:ada>')
      await say(app, 'lin', 'ada', '', image)
      await sayIn(app, 'g', 'lin', 'for <@uid:ada>')
      const told = async () => {
        const { unreadMessageCount, unreadMentionsCount } = await get(app, '/users/lin/conversation')
        const unread = (await get(app, '/conversations?unread=true')) as { conversationId: string }[]
        const counts = (await get(app, '/messages?count=true&unread=true')) as { entityId: string; count: number }[]
        return {
          talk: [unreadMessageCount, unreadMentionsCount],
          unread: unread.map(({ conversationId }) => conversationId).toSorted(),
          counts: counts.map(({ entityId, count }) => `${entityId} ${count}`).toSorted(),
        }
      }
      const everything = { talk: ['2', 1], unread: ['ada_user_lin', 'group_g'], counts: ['g 1', 'lin 2'] }
      assert.deepEqual(await told(), everything)
      await toRole(app, { 'listMessages.allowedMessageTypes': ['image'] })
      assert.deepEqual(await told(), { talk: ['1', 0], unread: ['ada_user_lin'], counts: ['lin 1'] })
      await toRole(app, { 'listMessages.allowedMessageTypes': [] })
      const scope = '/groups/g/scopes/participant/permissions'
      const permissions = { 'listMessages.allowedMessageTypes': ['image'] }
      assertSucceeds(await app.put(scope, { permissions }))
      assert.deepEqual(await told(), { ...everything, unread: ['ada_user_lin'], counts: ['lin 2'] })
    })

    it('are neither the last reply of a thread nor among its unread ones', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada', '', image)
      const reply = async (what: object) =>
        assertSucceeds(await app.post(`/messages/${id}/thread`, what, as('lin'))).data.id
      const seen = await reply(image)
      await reply({ data: { text: 'for <@uid:ada>' } })
      await toRole(app, { 'listMessages.allowedMessageTypes': ['image'] })
      const [thread] = await get(app, '/threads?withUnreadReplyCount=true&withMentionCount=true')
      assert.deepEqual([thread.lastReply.id, thread.unreadReplyCount, thread.unreadMentionCount], [seen, 1, 0])
    })
  })
}
