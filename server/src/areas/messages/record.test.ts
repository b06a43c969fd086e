import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, say, sayIn } from '../../../../tests/support/talk.ts'

/** Which properties a record has, for whom and since when; and what moves its time. */

const always = [
  'id',
  'conversationId',
  'sender',
  'receiver',
  'receiverType',
  'category',
  'type',
  'data',
  'sentAt',
  'updatedAt',
]

for (const database of databases) {
  describe(`the record of a message on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', 'lin', 'max')
      assertSucceeds(
        await app.post('/groups', { guid: 'crew', name: 'Crew', members: { participants: ['lin', 'ada', 'max'] } }),
      )
    })
    after(() => h.close())

    const headersFor = (uid: string | undefined) => (uid === undefined ? undefined : as(uid))
    const get = async (id: string, uid?: string) =>
      assertSucceeds(await app.get(`/messages/${id}`, headersFor(uid))).data
    const later = () => h.clock.setOffset(h.clock.offsetSeconds() + 10)

    /** What it has beyond what all have; for the app, for Lin, who sent it, and for Ada. */
    async function assertHas(id: string, ofApp: string[], ofLin: string[], ofAda: string[]): Promise<void> {
      for (const [uid, expected] of [
        [undefined, ofApp],
        ['lin', ['threadSubscribed', ...ofLin]],
        ['ada', ['threadSubscribed', ...ofAda]],
      ] as const) {
        assert.deepEqual(
          Object.keys(await get(id, uid)).toSorted(),
          [...always, ...expected].toSorted(),
          uid ?? 'the app',
        )
      }
    }

    it('has the app in short where it speaks, and as a whole where it has done something', async () => {
      const short = { uid: 'app_system', name: 'System', role: 'default', status: 'offline' }
      const body = { receiver: 'ada', receiverType: 'user', data: { text: 'Hello' } }
      const { data: sent } = assertSucceeds(await app.post('/messages', body))
      const { sender, receiver } = sent.data.entities
      assert.deepEqual(sender, { entity: short, entityType: 'user' })
      assert.deepEqual([receiver.entity.uid, 'conversationId' in receiver.entity], ['ada', false])
      const { createdAt } = assertSucceeds(await h.management.get(`/apps/${app.id}`)).data
      const whole = { entity: { ...short, createdAt }, entityType: 'user' }
      const edited = assertSucceeds(await app.put(`/messages/${sent.id}`, { data: { text: 'Hi' } })).data
      assert.deepEqual(edited.data.entities.by, whole)
      const removed = assertSucceeds(await app.delete(`/messages/${sent.id}`)).data
      assert.deepEqual([removed.data.entities.by, removed.data.entities.for.entity.uid], [whole, 'ada'])
    })

    it('tells as much as there is to tell, and to whom it concerns', async () => {
      const { id } = await say(app, 'lin', 'ada')
      await assertHas(id, [], [], [])
      const act = async (path: string, uid: string, body: object = {}) =>
        assertSucceeds(await app.post(path, body, as(uid)))
      await act('/users/lin/conversation/delivered', 'ada')
      await assertHas(id, ['deliveredAt'], ['deliveredAt'], ['deliveredAt', 'deliveredToMeAt'])
      await act('/users/lin/conversation/read', 'ada')
      const seen = ['deliveredAt', 'readAt']
      const byMe = ['deliveredToMeAt', 'readByMeAt']
      await assertHas(id, seen, seen, [...seen, ...byMe])
      await act(`/messages/${id}/save`, 'ada')
      await assertHas(id, seen, seen, [...seen, ...byMe, 'savedAt'])
      await act(`/messages/${id}/pin`, 'ada')
      const pinned = [...seen, 'pinnedAt', 'pinnedBy']
      await assertHas(id, pinned, pinned, [...pinned, ...byMe, 'savedAt'])
      assertSucceeds(await app.put(`/messages/${id}`, { tags: ['t'] }, as('lin')))
      const edited = [...pinned, 'editedAt', 'editedBy', 'tags']
      await assertHas(id, edited, edited, [...edited, ...byMe, 'savedAt'])
      const reply = await say(app, 'lin', 'ada', 'reply', { parentId: id, quotedMessageId: id, muid: 'own' })
      const parent = [...edited, 'replyCount']
      await assertHas(
        id,
        parent,
        [...parent, 'unreadRepliesCount'],
        [...parent, 'unreadRepliesCount', ...byMe, 'savedAt'],
      )
      const linked = ['parentId', 'quotedMessageId', 'quotedMessage', 'muid']
      await assertHas(reply.id, linked, linked, linked)
      assert.equal((await get(id, 'ada')).unreadRepliesCount, 1)
      assertSucceeds(await app.delete(`/messages/${reply.id}`, undefined, as('lin')))
      await assertHas(
        reply.id,
        ...([linked, linked, linked].map((names) => [...names, 'deletedAt', 'deletedBy']) as [
          string[],
          string[],
          string[],
        ]),
      )
    })

    it('follows a thread that is one’s own, and no other until one joins', async () => {
      const { id, threadSubscribed } = await say(app, 'lin', 'ada')
      assert.deepEqual(
        [threadSubscribed, (await get(id, 'lin')).threadSubscribed, (await get(id, 'ada')).threadSubscribed],
        [true, true, false],
      )
      const reply = await say(app, 'ada', 'lin', 'reply', { parentId: id })
      assert.deepEqual([reply.threadSubscribed, (await get(reply.id, 'ada')).threadSubscribed], [true, true])
      assert.equal((await get(id, 'ada')).threadSubscribed, true)
    })

    it('has a time that moves with edits, receipts, replies and deletion, and with nothing else', async () => {
      const { id, sentAt, updatedAt } = await say(app, 'lin', 'ada')
      assert.equal(updatedAt, sentAt)
      let last = updatedAt
      const steps: [string, boolean, () => Promise<unknown>][] = [
        ['a reaction', false, () => app.post(`/messages/${id}/reactions/yes`, undefined, as('ada'))],
        ['a pin', false, () => app.post(`/messages/${id}/pin`, undefined, as('ada'))],
        ['a save', false, () => app.post(`/messages/${id}/save`, undefined, as('ada'))],
        ['delivery', true, () => app.post('/users/lin/conversation/delivered', {}, as('ada'))],
        ['reading', true, () => app.post('/users/lin/conversation/read', {}, as('ada'))],
        ['an edit', true, () => app.put(`/messages/${id}`, { data: { text: 'x' } }, as('lin'))],
        ['a reply', true, () => say(app, 'ada', 'lin', 'reply', { parentId: id })],
        ['another message', false, () => say(app, 'ada', 'lin', 'else')],
        ['deletion', true, () => app.delete(`/messages/${id}`, undefined, as('lin'))],
      ]
      for (const [name, moves, act] of steps) {
        later()
        await act()
        const { updatedAt: at } = await get(id)
        assert.equal(at > last, moves, name)
        last = at
      }
    })

    it('in a group tells of delivery and reading once all have come so far', async () => {
      const { id } = await sayIn(app, 'crew', 'lin')
      for (const [uid, kind, expected] of [
        ['ada', 'delivered', []],
        ['max', 'delivered', ['deliveredAt']],
        ['ada', 'read', ['deliveredAt']],
        ['max', 'read', ['deliveredAt', 'readAt']],
      ] as const) {
        assertSucceeds(await app.post(`/groups/crew/conversation/${kind}`, {}, as(uid)))
        const seen = Object.keys(await get(id)).filter((name) => name === 'deliveredAt' || name === 'readAt')
        assert.deepEqual(seen, expected, `${uid} ${kind}`)
      }
      assert.equal('readByMeAt' in (await get(id, 'lin')), false)
      assert.equal('readByMeAt' in (await get(id, 'ada')), true)
    })

    it('never goes back in time, whatever the clock does', async () => {
      const first = await say(app, 'max', 'ada')
      later()
      const { data: edit } = assertSucceeds(await app.put(`/messages/${first.id}`, { data: { text: 'x' } }, as('max')))
      h.clock.setOffset(h.clock.offsetSeconds() - 100)
      const second = await say(app, 'ada', 'max')
      h.clock.setOffset(h.clock.offsetSeconds() + 100)
      assert.deepEqual([edit.sentAt > first.sentAt, second.sentAt], [true, edit.sentAt])
      assert.ok(Number(second.id) > Number(edit.id))
    })
  })
}
