import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { databases } from '../../../../tests/support/databases.ts'
import { dump } from '../../../../tests/support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, idsIn, say, sayIn } from '../../../../tests/support/talk.ts'
import { migrate } from '../../storage/migrate.ts'

for (const database of databases) {
  describe(`the history of messages on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    /** The tables, but for the log of what happened, in which something stands. */
    async function tablesWith(words: string): Promise<string[]> {
      await h.settle()
      const found = Object.entries(await dump(h)).filter(([, rows]) => rows.some((row) => row.includes(words)))
      return found.map(([table]) => table).filter((table) => table !== 'events')
    }

    for (const [name, body] of [
      ['deleted', {}],
      ['removed for good', { permanent: true }],
    ] as const) {
      it(`keeps nothing of what was said once it is ${name}`, async () => {
        const app = await appWith(h, 'ada', 'lin')
        const words = `confidential-${body.permanent ? 'gone' : 'hidden'}`
        const { id } = await say(app, 'lin', 'ada', words, { tags: [words] })
        const edit = { data: { text: `${words} edited` } }
        const { data: action } = assertSucceeds(await app.put(`/messages/${id}`, edit, as('lin')))
        assert.match(JSON.stringify(assertSucceeds(await app.get(`/messages/${action.id}`)).data), /edited/)
        assertSucceeds(await app.delete(`/messages/${id}`, body))
        assert.deepEqual(await tablesWith(words), [])
        const told = assertSucceeds(await app.get(`/messages/${action.id}`, as('ada'))).data.data
        assert.deepEqual([told.action, told.entities.on.entity.id], ['edited', id])
      })
    }

    for (const [name, body] of [
      ['deleted', {}],
      ['removed for good', { permanent: true }],
    ] as const) {
      it(`of a message that quotes keeps nothing of what it quotes, once that is ${name}`, async () => {
        const app = await appWith(h, 'ada', 'lin')
        const words = `quoted-${body.permanent ? 'gone' : 'hidden'}`
        const { id: quotedMessageId } = await say(app, 'lin', 'ada', words)
        for (const change of ['put', 'delete'] as const) {
          const { id } = await say(app, 'ada', 'lin', 'Really?', { quotedMessageId })
          assertSucceeds(await app[change](`/messages/${id}`, { data: { text: 'Really!' } }, as('ada')))
        }
        assertSucceeds(await app.delete(`/messages/${quotedMessageId}`, body))
        assert.deepEqual(await tablesWith(words), [])
      })
    }

    it('of an earlier version loses what messages quote', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      const { data: action } = assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'No' } }, as('lin')))
      const { database, areas } = h.service.house
      await database.write(async ({ query }) => {
        const told = structuredClone(action.data)
        told.entities.on.entity.quotedMessage = { id: '1', data: { text: 'quoted-before' } }
        await query
          .updateTable('messages')
          .set({ data: JSON.stringify(told) })
          .where('app_id', '=', app.id)
          .where('id', '=', Number(action.id))
          .execute()
        await sql`DELETE FROM migrations WHERE name = '20261121-actions-without-quotes'`.execute(query)
      })
      assert.deepEqual(await tablesWith('quoted-before'), ['messages'])
      await migrate(
        database,
        areas.map(({ migrations }) => migrations),
      )
      assert.deepEqual(await tablesWith('quoted-before'), [])
      assert.deepEqual(assertSucceeds(await app.get(`/messages/${action.id}`)).data.data, action.data)
    })

    it('tells what became of a message a hundred times, and of the times before only that there were some', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      const words = (n: number) => `edit-${n}-of-many`
      const actions: string[] = []
      for (let n = 1; n <= 102; n += 1) {
        const { data } = assertSucceeds(await app.put(`/messages/${id}`, { data: { text: words(n) } }, as('lin')))
        actions.push(data.id)
      }
      const told = async (n: number) => {
        const { data } = assertSucceeds(await app.get(`/messages/${actions[n - 1]}`, as('ada'))).data
        return [data.action, data.entities.on.entity.id, data.entities.on.entity.data.text]
      }
      for (const n of [1, 2]) assert.deepEqual(await told(n), ['edited', id, undefined])
      for (const n of [3, 102]) assert.deepEqual(await told(n), ['edited', id, words(n)])
      assertSucceeds(await app.delete(`/messages/${id}`, { permanent: true }))
      assert.deepEqual(await tablesWith('-of-many'), [])
    })

    it('goes with a group, to the last word', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants: ['ada', 'lin'] } }))
      const { id } = await sayIn(app, 'g', 'lin', 'group-secret', { tags: ['group-secret'] })
      assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'group-secret edited' } }, as('lin')))
      assertSucceeds(await app.delete('/groups/g'))
      assert.deepEqual(await tablesWith('group-secret'), [])
    })

    it('of an edit and a deletion at once keeps what was deleted deleted', async () => {
      const app = await appWith(h, 'ada', 'lin')
      for (let round = 0; round < 5; round += 1) {
        const { id } = await say(app, 'lin', 'ada', 'first')
        const edit = (text: string) => app.put(`/messages/${id}`, { data: { text } }, as('lin'))
        await Promise.all([edit('a'), app.delete(`/messages/${id}`, undefined, as('lin')), edit('b')])
        const { data } = assertSucceeds(await app.get(`/messages/${id}`))
        assert.deepEqual(Object.keys(data.data), ['entities'])
        assertFails(await edit('c'), 403, 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
      }
    })

    it('of an edit and a reaction at once keeps both', async () => {
      const app = await appWith(h, 'ada', 'lin')
      for (let round = 0; round < 5; round += 1) {
        const { id } = await say(app, 'lin', 'ada', 'first')
        await Promise.all([
          app.put(`/messages/${id}`, { data: { text: 'second' } }, as('lin')),
          app.post(`/messages/${id}/reactions/yes`, undefined, as('ada')),
        ])
        const { data } = assertSucceeds(await app.get(`/messages/${id}`))
        assert.deepEqual([data.data.text, data.data.reactions], ['second', [{ reaction: 'yes', count: 1 }]])
      }
    })

    it('shows what the app does between two to both of them', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max')
      const { id } = await say(app, 'lin', 'ada')
      const { data: action } = assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'x' } }))
      for (const [uid, other] of [
        ['ada', 'lin'],
        ['lin', 'ada'],
      ] as const) {
        assertSucceeds(await app.get(`/messages/${action.id}`, as(uid)))
        const { data } = assertSucceeds(await app.get(`/users/${other}/messages`, as(uid)))
        assert.deepEqual(idsIn(data), [id, action.id])
      }
      assertFails(await app.get(`/messages/${action.id}`, as('max')), 403, 'ERR_MESSAGE_NO_ACCESS')
    })

    it('says of what was read that it was received, at that time or before', async () => {
      const app: AppClient = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      h.clock.setOffset(h.clock.offsetSeconds() + 5)
      await say(app, 'ada', 'lin', 'an answer is a sign of reading')
      h.clock.setOffset(h.clock.offsetSeconds() + 5)
      assertSucceeds(await app.post('/users/lin/conversation/delivered', {}, as('ada')))
      const { data } = assertSucceeds(await app.get(`/messages/${id}`, as('ada')))
      assert.deepEqual([data.deliveredAt, data.deliveredToMeAt], [data.readAt, data.readByMeAt])
      assert.ok(data.readAt > data.sentAt)
    })
  })
}
