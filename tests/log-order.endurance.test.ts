import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import { workIn } from '../server/src/common/work-in.ts'
import { area } from '../server/src/kit/area.ts'
import { defineEvent } from '../server/src/kit/event.ts'
import { follower } from '../server/src/kit/follower.ts'
import { Type } from '../server/src/kit/schema.ts'
import type { Connection } from '../server/src/storage/connection.ts'
import { logStart } from '../server/src/storage/database.ts'
import { oneAtATime } from '../server/src/storage/sql.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { type DatabaseName, databases } from './support/databases.ts'
import { dawdle } from './support/dawdle.ts'
import { assertSucceeds, type House, house } from './support/house.ts'
import { randomFrom, seedFrom } from './support/random.ts'
import { appWith, as } from './support/talk.ts'
import { logOf } from './support/told.ts'
import { settleUntil } from './support/until.ts'

/**
 * Ids of log rows are handed out before commit, so on a database with several writers they do not tell the order in which
 * rows become visible. These tests let transactions overtake each other on purpose.
 */

const ticked = defineEvent({ name: 'test.ticked', payload: Type.Object({ n: Type.Integer() }), audience: () => [] })

const appId = 'app'

interface Seen {
  n: number
  id: number
}

/** An area with a reader of the log that remembers what it saw. */
function witness() {
  const seen: Seen[] = []
  const watch = follower({
    name: 'test.witness',
    on: [ticked],
    async handle({ payload, id }) {
      seen.push({ n: payload.n, id })
    },
  })
  return { seen, areas: [area({ name: 'test', about: 'Watches the log.', events: [ticked], followers: [watch] })] }
}

const spoken = defineEvent({
  name: 'test.spoken',
  payload: Type.Object({ conversation: Type.String(), n: Type.Integer() }),
  audience: () => [],
})

/** The same for what is said in conversations. */
function spokenIn() {
  const seen: { conversation: string; n: number }[] = []
  const listen = follower({
    name: 'test.listener',
    on: [spoken],
    handle: async ({ payload }) => void seen.push(payload),
  })
  return { seen, areas: [area({ name: 'test', about: 'Listens.', events: [spoken], followers: [listen] })] }
}

const undone = new Error('rolled back on purpose')

async function withWitness(database: DatabaseName, work: (h: House, seen: Seen[]) => Promise<void>): Promise<void> {
  const { seen, areas } = witness()
  const h = await house({ database, areas, environment: { PARLEY_DATABASE_CONNECTIONS: '20' } })
  try {
    await work(h, seen)
  } finally {
    await h.close()
  }
}

/** One transaction that emits `numbers`; `meanwhile` happens before it commits. */
function emitAll(
  h: House,
  numbers: number[],
  meanwhile: (connection: Connection) => Promise<void> = async () => {},
): Promise<void> {
  const { database, tools } = h.service.house
  return database.write(async (connection) => {
    const { emit } = workIn(connection, appId, tools)
    for (const n of numbers) await emit(ticked, { n })
    await meanwhile(connection)
  })
}

const ascending = (a: number, b: number) => a - b

const writersCount = 8
const transactionsEach = 40
const eventsMax = 4
const slowEvery = 5
const rolledBackEvery = 7

for (const database of databases) {
  describe(`the log's order on ${database}`, () => {
    it('shows a reader every committed event exactly once, in order, and none that was rolled back', () =>
      withWitness(database, async (h, seen) => {
        const committed: number[] = []
        let last = 0
        const writer = async (index: number) => {
          for (let turn = 0; turn < transactionsEach; turn += 1) {
            const numbers = Array.from({ length: 1 + (turn % eventsMax) }, () => {
              last += 1
              return last
            })
            const fails = (turn + index) % rolledBackEvery === 0
            const slow = (turn + index) % slowEvery === 0
            const done = emitAll(h, numbers, async (connection) => {
              if (slow) await dawdle(connection, 8)
              if (fails) throw new Error('rolled back on purpose')
            })
            const ok = await done.then(
              () => true,
              () => false,
            )
            assert.equal(ok, !fails)
            if (ok) committed.push(...numbers)
          }
        }
        const writers = Promise.all(Array.from({ length: writersCount }, (_, index) => writer(index)))
        let writing = true
        void writers.finally(() => {
          writing = false
        })
        while (writing) {
          await h.settle()
          await nextTurn()
        }
        await writers
        await settleUntil(h, 'all is read', () => seen.length >= committed.length)

        assert.deepEqual(seen.map(({ n }) => n).toSorted(ascending), committed.toSorted(ascending))
        const ids = seen.map(({ id }) => id)
        assert.deepEqual(ids, ids.toSorted(ascending))
      }))

    it('keeps the events of one transaction in the order they were emitted', () =>
      withWitness(database, async (h, seen) => {
        const groups = Array.from({ length: 12 }, (_, group) => [1, 2, 3, 4].map((each) => group * 10 + each))
        await Promise.all(
          groups.map((numbers, index) => emitAll(h, numbers, (connection) => dawdle(connection, index % 4))),
        )
        await settleUntil(h, 'all is read', () => seen.length >= groups.flat().length)
        const order = seen.map(({ n }) => n)
        for (const numbers of groups)
          assert.deepEqual(
            order.filter((n) => numbers.includes(n)),
            numbers,
          )
      }))

    it('is that of each conversation, whatever a transaction wrote before it waited for its turn', async () => {
      const { seen, areas } = spokenIn()
      const seed = seedFrom('LOG_SEED')
      const h = await house({ database, areas, environment: { PARLEY_DATABASE_CONNECTIONS: '20' } })
      const { database: log, tools } = h.service.house
      const committed = new Map<string, number[]>()
      let last = 0

      /** As a request with an `Idempotency-Key` does: its row first, then the conversation, then what it says there. */
      async function speak(writer: number, turn: number, conversations: string[], isUndone: boolean): Promise<void> {
        const said: [string, number][] = []
        const speaking = log.write(async (connection) => {
          const work = workIn(connection, appId, tools)
          said.length = 0
          const reply = { caller: `${writer}`, key: `${turn}`, fingerprint: '', reply: null, created_at: work.now }
          await work.db.insert('idempotent_replies', reply).execute()
          for (const conversation of conversations) {
            await oneAtATime(work.db, conversation)
            last += 1
            said.push([conversation, last])
            await work.emit(spoken, { conversation, n: last })
          }
          if (isUndone) throw undone
        })
        if (isUndone) return assert.rejects(speaking, undone)
        await speaking
        for (const [conversation, n] of said) committed.set(conversation, [...(committed.get(conversation) ?? []), n])
      }

      try {
        let writing = true
        const writers = Array.from({ length: writersCount }, async (_, writer) => {
          const random = randomFrom(seed + writer)
          // Always in the same order, or two would wait for each other.
          const own = [`c${writer % 3}`, `c${3 + (writer % 2)}`]
          for (let turn = 0; turn < transactionsEach; turn += 1) {
            const some = random.chance(0.5) ? own : [random.pick(own)]
            await speak(writer, turn, some, random.chance(0.1))
          }
        })
        const all = Promise.all(writers).finally(() => {
          writing = false
        })
        while (writing) {
          await h.settle()
          await nextTurn()
        }
        await all
        const count = [...committed.values()].flat().length
        await settleUntil(h, 'all is read', () => seen.length >= count)
        assert.equal(seen.length, count, `LOG_SEED=${seed}`)
        for (const [conversation, numbers] of committed) {
          const heard = seen.filter((each) => each.conversation === conversation).map(({ n }) => n)
          assert.deepEqual(heard, numbers.toSorted(ascending), `${conversation}, LOG_SEED=${seed}`)
        }
      } finally {
        await h.close()
      }
    })

    it('is that of the messages of each conversation, sent by many at once with keys', async () => {
      const h = await house({ database, environment: { PARLEY_DATABASE_CONNECTIONS: '20' } })
      try {
        const senders = Array.from({ length: writersCount }, (_, index) => `u${index}`)
        const app = await appWith(h, ...senders)
        const guids = ['g0', 'g1', 'g2']
        for (const guid of guids) {
          assertSucceeds(await app.post('/groups', { guid, name: guid, members: { participants: senders } }))
        }
        const sendAll = async (uid: string, index: number) => {
          for (let n = 0; n < 10; n += 1) {
            const receiver = guids[(index + n) % 2 === 0 ? index % 3 : (index + 1) % 3]
            const body = { receiver, receiverType: 'group', data: { text: `${n}` } }
            assertSucceeds(await app.post('/messages', body, { ...as(uid), 'Idempotency-Key': `${uid} ${n}` }))
          }
        }
        await Promise.all(senders.map(sendAll))
        const sent = (await logOf(h, app)).filter(({ name }) => name === 'message.sent')
        assert.equal(sent.length, writersCount * 10)
        for (const guid of guids) {
          const ids = sent.map(({ payload }) => payload.message).filter(({ receiver }) => receiver === guid)
          const order = ids.map(({ id }) => Number(id))
          assert.deepEqual(order, order.toSorted(ascending), guid)
        }
      } finally {
        await h.close()
      }
    })
  })
}

// On the embedded database there is one writer, so nothing can be overtaken.
if (databases.includes('postgres')) {
  describe('a transaction of somebody else on postgres', () => {
    it('holds no reader, however long it takes', () =>
      withWitness('postgres', async (h, seen) => {
        const foreigner = new pg.Client(h.service.house.config.databaseUrl?.reveal())
        await foreigner.connect()
        try {
          await foreigner.query('BEGIN')
          await foreigner.query('CREATE TABLE foreign_work (n integer)')
          await emitAll(h, [1, 2])
          await h.settle()
          assert.deepEqual(
            seen.map(({ n }) => n),
            [1, 2],
          )
          await foreigner.query('COMMIT')
        } finally {
          await foreigner.end()
        }
      }))
  })

  describe('an overtaken transaction on postgres', () => {
    it('keeps one place for all that it emits, and gives it up with what is undone', () =>
      withWitness('postgres', async (h) => {
        const { database: log, tools } = h.service.house
        const locks = async () => {
          const { rows } = await log.reader.run(
            `SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory'
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
            [],
          )
          return (rows as [{ n: number }])[0].n
        }
        await log.write(async (connection) => {
          const { emit } = workIn(connection, appId, tools)
          await connection.run('SAVEPOINT one', [])
          await emit(ticked, { n: 1 })
          assert.equal(await locks(), 1)
          await connection.run('ROLLBACK TO one', [])
          assert.equal(await locks(), 0)
          for (const n of [2, 3, 4]) {
            await emit(ticked, { n })
            await emitAll(h, [n * 10])
            assert.equal(await locks(), 1)
          }
        })
        assert.equal(await locks(), 0)
      }))

    it('is waited for: a reader that went by ids alone would have passed it over', () =>
      withWitness('postgres', async (h, seen) => {
        const { database: log } = h.service.house
        const begun = Promise.withResolvers<void>()
        const mayCommit = Promise.withResolvers<void>()
        const slow = emitAll(h, [1], async () => {
          begun.resolve()
          await mayCommit.promise
        })
        await begun.promise
        await emitAll(h, [2])

        const visible = await tenantDb(log.reader, appId).select('events').select('events.id').execute()
        assert.equal(visible.length, 1, 'the quicker transaction is committed, the slower one is not')
        const naiveCursor = visible[0]?.id ?? 0
        await h.settle()
        assert.deepEqual(seen, [], 'the quicker one is held back while it could still be overtaken')

        mayCommit.resolve()
        await slow
        await settleUntil(h, 'both are read', () => seen.length >= 2)
        assert.deepEqual(
          seen.map(({ n }) => n),
          [1, 2],
        )
        const all = await log.eventsAfter(logStart, 1_000)
        const passedOver = all.filter(({ name, id }) => name === ticked.name && id < naiveCursor)
        assert.deepEqual(
          passedOver.map(({ payload }) => JSON.parse(payload)),
          [{ n: 1 }],
        )
      }))
  })
}
