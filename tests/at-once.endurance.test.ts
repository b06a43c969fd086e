import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { markUpTo } from '../server/src/areas/conversations/receipts.ts'
import { findSide, placeOfGroup } from '../server/src/areas/timeline/index.ts'
import { workIn } from '../server/src/common/work-in.ts'
import { databases, preparedDatabase } from './support/databases.ts'
import { assertSucceeds, type House, house } from './support/house.ts'
import { appWith, as, say, sayIn } from './support/talk.ts'
import { untilOverOrHeldUp } from './support/until.ts'
import { type Wiretap, wiretap } from './support/wiretap.ts'

/** What people do in the same moment to the same thing. */

const writers = 60
const turns = 20
// As PostgreSQL says it to one of two transactions that wait for each other.
const deadlock = 'C40P01\0'

for (const database of databases) {
  describe(`at once on ${database}`, () => {
    let h: House
    let tap: Wiretap | undefined
    before(async () => {
      const on = await preparedDatabase(database)
      const { PARLEY_DATABASE_URL: address } = on.environment
      tap = address === undefined ? undefined : await wiretap(address, [deadlock])
      h = await house({ database, on, ...(tap && { environment: { PARLEY_DATABASE_URL: tap.url } }) })
    })
    after(async () => {
      await h.close()
      tap?.close()
    })

    const deadlocks = () => tap?.told(deadlock) ?? 0

    it('changes of one text all succeed, and the last is found', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'ada', 'lin', 'one')
      const changes = Array.from({ length: writers }, (_, n) => [
        app.put(`/messages/${id}`, { data: { text: `edit${n}x` } }, as('ada')),
        app.put('/users/ada', { name: `Name${n}x` }),
      ])
      for (const answer of await Promise.all(changes.flat())) assertSucceeds(answer)
      const { text } = assertSucceeds(await app.get(`/messages/${id}`)).data.data
      const { name } = assertSucceeds(await app.get('/users/ada')).data
      assert.equal(assertSucceeds(await app.get(`/messages?searchKey=${text}`)).data.length, 1)
      assert.equal(assertSucceeds(await app.get(`/users?searchKey=${name}`)).data.length, 1)
      assert.equal(assertSucceeds(await app.get('/messages?searchKey=edit')).data.length, 1)
    })

    it('speaking and reading wait for each other in one order only, and are told once', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', type: 'public', owner: 'ada' }))
      assertSucceeds(await app.post('/groups/g/members', { participants: ['lin'] }))
      const start = deadlocks()
      for (let turn = 0; turn < turns; turn += 1) {
        for (const [receiver, receiverType, path] of [
          ['ada', 'user', '/users/ada'],
          ['g', 'group', '/groups/g'],
        ] as const) {
          if (receiverType === 'user') await say(app, 'ada', 'lin', `turn ${turn}`)
          else await sayIn(app, 'g', 'ada', `turn ${turn}`)
          const answers = await Promise.all([
            app.post('/messages', { receiver, receiverType, data: { text: 'answer' } }, as('lin')),
            app.post(`${path}/conversation/read`, {}, as('lin')),
          ])
          for (const answer of answers) assertSucceeds(answer)
        }
      }
      assert.equal(deadlocks(), start)
      const { rows } = await sql<{ payload: string }>`SELECT payload FROM events
        WHERE events.app_id = ${app.id} AND name = 'receipt.read'`.execute(h.service.house.database.reader.query)
      const told = rows.map(({ payload }) => JSON.parse(payload)).map((each) => `${each.sender} ${each.messageId}`)
      assert.equal(new Set(told).size, told.length)
    })

    it('messages to several go out in one order, however each names the receivers', async () => {
      const people = ['ada', 'lin', 'max', 'zoe']
      const app = await appWith(h, ...people)
      const guids = Array.from({ length: 8 }, (_, n) => `crew-${n}`)
      for (const guid of guids) {
        assertSucceeds(await app.post('/groups', { guid, name: guid, members: { participants: people } }))
      }
      const start = deadlocks()
      const sent = people.map((from, n) => {
        const ordered = (ids: string[]) => (n % 2 === 0 ? ids : ids.toReversed())
        const uids = ordered(people.filter((uid) => uid !== from))
        const body = { data: { text: 'Hello' }, multipleReceivers: { uids, guids: ordered(guids) } }
        return Array.from({ length: 3 }, () => app.post('/messages', body, as(from)))
      })
      for (const answer of await Promise.all(sent.flat())) {
        const { uids, guids: groups } = assertSucceeds(answer).data
        const outcomes = [uids, groups].flatMap((each) => Object.values<{ success: boolean }>(each))
        assert.deepEqual(
          outcomes.map(({ success }) => success),
          outcomes.map(() => true),
        )
      }
      assert.equal(deadlocks(), start)
    })

    it('the last to read waits for one who is just reading, and then everybody has read', {
      skip: database === 'sqlite' && 'there is one writer at a time, so nobody is just reading',
    }, async () => {
      const { database: store, tools } = h.service.house
      const app = await appWith(h, 'ada', 'lin', 'max')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', type: 'public', owner: 'ada' }))
      assertSucceeds(await app.post('/groups/g/members', { participants: ['lin', 'max'] }))
      const { id: first } = await sayIn(app, 'g', 'ada', 'one')
      assertSucceeds(await app.post('/groups/g/conversation/read', { messageId: first }, as('lin')))
      const { id: second } = await sayIn(app, 'g', 'ada', 'two')
      let last: Promise<unknown> = Promise.resolve()
      await store.write(async (connection) => {
        const work = workIn(connection, app.id, tools)
        const side = await findSide(work.db, placeOfGroup('g').conversationKey, 'lin')
        assert.ok(side)
        await markUpTo(work, side, 'read', undefined)
        last = app.post('/groups/g/conversation/read', {}, as('max'))
        await untilOverOrHeldUp(h, last)
      })
      await last
      assert.ok(assertSucceeds(await app.get(`/messages/${second}`)).data.readAt)
    })
  })
}
