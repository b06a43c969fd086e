import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { area } from '../server/src/kit/area.ts'
import { defineEvent } from '../server/src/kit/event.ts'
import { follower } from '../server/src/kit/follower.ts'
import { Type } from '../server/src/kit/schema.ts'
import { workIn } from '../server/src/kit/work.ts'
import { logStart, type Position } from '../server/src/storage/database.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { type DatabaseName, databases } from './support/databases.ts'
import { type House, house } from './support/house.ts'
import { settleUntil } from './support/until.ts'

/**
 * Ids of log rows are handed out before commit, so on a database with several writers they do not tell the order in which
 * rows become visible. These tests let transactions overtake each other on purpose.
 */

const ticked = defineEvent({ name: 'test.ticked', payload: Type.Object({ n: Type.Integer() }), audience: () => [] })

const appId = 'app'

interface Seen {
  n: number
  position: Position
}

/** An area with a reader of the log that remembers what it saw. */
function witness() {
  const seen: Seen[] = []
  const watch = follower({
    name: 'test.witness',
    on: [ticked],
    async handle({ payload, position }) {
      seen.push({ n: payload.n, position })
    },
  })
  return { seen, areas: [area({ name: 'test', about: 'Watches the log.', events: [ticked], followers: [watch] })] }
}

async function withWitness(database: DatabaseName, work: (h: House, seen: Seen[]) => Promise<void>): Promise<void> {
  const { seen, areas } = witness()
  const h = await house({ database, areas })
  try {
    await work(h, seen)
  } finally {
    await h.close()
  }
}

/** One transaction that emits `numbers`; `meanwhile` happens before it commits. */
function emitAll(h: House, numbers: number[], meanwhile: () => Promise<void> = async () => {}): Promise<void> {
  const { database, tools } = h.service.house
  return database.write(async (connection) => {
    const { emit } = workIn(connection, appId, tools)
    for (const n of numbers) await emit(ticked, { n })
    await meanwhile()
  })
}

const comparePositions = (a: Position, b: Position) => a.tx - b.tx || a.id - b.id

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
            const done = emitAll(h, numbers, async () => {
              if (slow) await pause(4)
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
          await pause(1)
        }
        await writers
        await settleUntil(h, 'all is read', () => seen.length >= committed.length)

        const byNumber = (a: number, b: number) => a - b
        assert.deepEqual(seen.map(({ n }) => n).toSorted(byNumber), committed.toSorted(byNumber))
        const positions = seen.map(({ position }) => position)
        assert.deepEqual(positions, positions.toSorted(comparePositions))
      }))

    it('keeps the events of one transaction together and in the order they were emitted', () =>
      withWitness(database, async (h, seen) => {
        const groups = Array.from({ length: 12 }, (_, group) => [1, 2, 3, 4].map((each) => group * 10 + each))
        await Promise.all(groups.map((numbers, index) => emitAll(h, numbers, () => pause(index % 4))))
        await settleUntil(h, 'all is read', () => seen.length >= groups.flat().length)
        const order = seen.map(({ n }) => n)
        for (const numbers of groups) {
          const first = order.indexOf(numbers[0] ?? 0)
          assert.deepEqual(order.slice(first, first + numbers.length), numbers)
        }
      }))
  })
}

// On the embedded database there is one writer, so nothing can be overtaken.
if (databases.includes('postgres')) {
  describe('an overtaken transaction on postgres', () => {
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
