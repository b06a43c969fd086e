import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { runAt } from '../scripts/postgres.ts'
import { areas } from '../server/src/areas/index.ts'
import { workIn } from '../server/src/common/work-in.ts'
import { type House, openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { eventsByName } from '../server/src/dispatch/events-by-name.ts'
import type { Tail, TailedEvent } from '../server/src/dispatch/tail.ts'
import { area } from '../server/src/kit/area.ts'
import { defineEvent } from '../server/src/kit/event.ts'
import { Type } from '../server/src/kit/schema.ts'
import type { Database } from '../server/src/storage/database.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { DatabaseUnavailable } from '../server/src/storage/unavailable.ts'
import { createLogReader } from '../server/src/workers/log-reader.ts'
import { openTail } from '../server/src/workers/tail.ts'
import { type DatabaseName, databases, freshDatabase } from './support/databases.ts'
import { dawdle } from './support/dawdle.ts'
import { randomFrom, seedFrom } from './support/random.ts'
import { until } from './support/until.ts'

/** What a node hears of the log: every event once and in order, whatever happens to the database meanwhile. */

const appId = 'app'
const silentLog = pino({ level: 'silent' })
const ticked = defineEvent({ name: 'test.ticked', payload: Type.Object({ n: Type.Integer() }), audience: () => [] })
const ticking = area({ name: 'test', about: 'Ticks.', events: [ticked] })
const events = eventsByName([...areas, ticking])

interface Nodes {
  nodes: House[]
  url: string
}

/** Several nodes without workers on one database. */
async function withNodes(name: DatabaseName, count: number, work: (nodes: Nodes) => Promise<void>): Promise<void> {
  const fresh = await freshDatabase(name)
  const nodes: House[] = []
  try {
    for (let n = 0; n < count; n += 1) {
      nodes.push(await openHouse(readConfig(fresh.environment), silentLog, { areas: [...areas, ticking] }))
    }
    await work({ nodes, url: fresh.environment.PARLEY_DATABASE_URL ?? '' })
  } finally {
    for (const node of nodes) await node.close()
    await fresh.drop()
  }
}

function withNode(name: DatabaseName, work: (node: House) => Promise<void>): Promise<void> {
  return withNodes(name, 1, async ({ nodes: [node] }) => work(node as House))
}

async function tick({ database, tools }: House, ...numbers: number[]): Promise<void> {
  await database.write(async (connection) => {
    const { emit } = workIn(connection, appId, tools)
    for (const n of numbers) await emit(ticked, { n })
  })
  database.wake()
}

async function logged({ database }: House): Promise<number[]> {
  const rows = tenantDb(database.reader, appId).select('events').select('events.id').orderBy('events.id')
  return (await rows.execute()).map(({ id }) => id)
}

function tailOf(database: Database): Tail {
  const reader = createLogReader(database, () => {})
  const tail = openTail(reader, events, silentLog)
  reader.start()
  return {
    ...tail,
    close() {
      tail.close()
      reader.stop()
    },
  }
}

/** A tail, and what is heard from it. */
async function listening(database: Database): Promise<{ tail: Tail; heard: TailedEvent[] }> {
  const tail = tailOf(database)
  const heard: TailedEvent[] = []
  tail.subscribe((event) => heard.push(event))
  await tail.begun
  return { tail, heard }
}

const numbersIn = (heard: TailedEvent[]) => heard.map(({ payload }) => (payload as { n: number }).n)

for (const name of databases) {
  describe(`the tail on ${name}`, () => {
    it('hears what happens from now on, in order and with its definition', () =>
      withNode(name, async (node) => {
        await tick(node, 1, 2)
        const { tail, heard } = await listening(node.database)
        assert.equal(await tail.begun, (await logged(node)).at(-1))
        const many = Array.from({ length: 450 }, (_, index) => index + 3)
        await tick(node, ...many)
        await until('all is heard', () => heard.length >= many.length)
        assert.deepEqual(numbersIn(heard), many)
        assert.equal(heard[0]?.definition, ticked)
        assert.equal(heard[0]?.appId, appId)
        assert.equal(tail.position(), (await logged(node)).at(-1))
        tail.close()
      }))

    it('begins at the start of a log that is empty, and hears the first event', () =>
      withNode(name, async (node) => {
        const { tail, heard } = await listening(node.database)
        assert.equal(await tail.begun, 0)
        await tick(node, 1)
        await until('it is heard', () => heard.length > 0)
        assert.deepEqual(numbersIn(heard), [1])
        tail.close()
      }))

    it('goes on for the others when one who hears fails, stops hearing or closes', () =>
      withNode(name, async (node) => {
        const { tail, heard } = await listening(node.database)
        const early: number[] = []
        const stop = tail.subscribe(({ id }) => void early.push(id))
        tail.subscribe(() => {
          throw new Error('out of order on purpose')
        })
        await tick(node, 1)
        await until('it is heard', () => heard.length === 1)
        stop()
        await tick(node, 2)
        await until('the next is heard', () => heard.length === 2)
        assert.equal(early.length, 1)
        tail.close()
        const { tail: later, heard: heardLater } = await listening(node.database)
        await tick(node, 3)
        await until('another tail hears on', () => heardLater.length === 1)
        assert.deepEqual(numbersIn(heard), [1, 2], 'who closed hears no more')
        later.close()
      }))

    it('skips and repeats nothing when looks fail, from the first one on', () =>
      withNode(name, async (node) => {
        let isAway = true
        let failures = 0
        const failing = <T>(work: () => Promise<T>): Promise<T> => {
          if (!isAway) return work()
          failures += 1
          throw new DatabaseUnavailable('away on purpose')
        }
        const { database } = node
        const tail = tailOf({
          ...database,
          logEnd: async () => failing(() => database.logEnd()),
          eventsAfter: async (position, limit) => failing(() => database.eventsAfter(position, limit)),
        })
        const heard: TailedEvent[] = []
        tail.subscribe((event) => heard.push(event))
        await until('it has looked in vain', () => failures > 0)
        await tick(node, 1)
        isAway = false
        await tail.begun
        await tick(node, 2, 3)
        await until('it hears', () => heard.length === 2)
        isAway = true
        const before = failures
        await tick(node, 4, 5)
        await until('it has looked in vain again', () => failures > before)
        isAway = false
        await tick(node, 6)
        await until('it hears on', () => heard.length >= 5)
        assert.deepEqual(numbersIn(heard), [2, 3, 4, 5, 6])
        tail.close()
      }))
  })
}

const skip = !databases.includes('postgres') && 'PostgreSQL is not there'

describe('the tails of two nodes', { skip }, () => {
  const writersCount = 8
  const transactionsEach = 30
  // So much is written before some connections are ended.
  const numbersPerEnd = 16

  it('hear the whole log in order, while connections are ended and transactions undone', () =>
    withNodes('postgres', 2, async ({ nodes, url }) => {
      const seed = seedFrom('TAIL_SEED')
      const [one, other] = nodes as [House, House]
      const tails = [await listening(one.database), await listening(other.database)]
      let last = 0
      const writers = Array.from({ length: writersCount }, async (_, writer) => {
        const random = randomFrom(seed + writer)
        const node = writer % 2 === 0 ? one : other
        for (let turn = 0; turn < transactionsEach; turn += 1) {
          const isUndone = random.chance(0.1)
          await writeUntilKnown(node, [++last, ++last], random.chance(0.2) ? 6 : 0, isUndone)
        }
      })
      let writing = true
      const all = Promise.all(writers).finally(() => {
        writing = false
      })
      const database = new URL(url).pathname.slice(1)
      while (writing) {
        const before = last
        await until('more is written', () => !writing || last >= before + numbersPerEnd)
        await runAt(
          url,
          `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
            WHERE datname = $1 AND pid != pg_backend_pid() ORDER BY random() LIMIT 4) AS chosen`,
          [database],
        )
      }
      await all
      const ids = await loggedInTheEnd(one)
      for (const { tail, heard } of tails) {
        await until('all is heard', () => tail.position() === ids.at(-1))
        assert.deepEqual(
          heard.map(({ id }) => id),
          ids,
          `TAIL_SEED=${seed}`,
        )
        tail.close()
      }
    }))

  /** That a connection was ended may be found out only by whoever uses it next. */
  async function loggedInTheEnd(node: House): Promise<number[]> {
    let ids: number[] = []
    await until('the log can be read', async () => {
      try {
        ids = await logged(node)
        return true
      } catch (error) {
        if (error instanceof DatabaseUnavailable) return false
        throw error
      }
    })
    return ids
  }

  /** Whether a commit that got no answer happened does not matter here: the log tells. */
  async function writeUntilKnown(node: House, numbers: number[], statements: number, isUndone: boolean): Promise<void> {
    const { database, tools } = node
    await database
      .write(async (connection) => {
        const { emit } = workIn(connection, appId, tools)
        for (const n of numbers) await emit(ticked, { n })
        await dawdle(connection, statements)
        if (isUndone) throw undone
      })
      .catch((error) => {
        if (error !== undone && !(error instanceof DatabaseUnavailable)) throw error
      })
    database.wake()
  }
})

const undone = new Error('undone on purpose')
