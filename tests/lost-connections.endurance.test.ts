import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { pino } from 'pino'
import { makePostgres, type PrivatePostgres } from '../scripts/postgres.ts'
import { areas } from '../server/src/areas/index.ts'
import { workIn } from '../server/src/common/work-in.ts'
import { openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { DatabaseUnavailable } from '../server/src/storage/unavailable.ts'
import { countingArea, numbersIn } from './support/counting-area.ts'
import { callWriter, keyWriter, messageWriter, Unavailable, type Writer } from './support/crash-writers.ts'
import { databases } from './support/databases.ts'
import { plainWriter } from './support/plain-writer.ts'
import { times } from './support/quick.ts'
import { randomFrom, seedFrom } from './support/random.ts'
import { type AppOnDisk, type Install, install, type ServerProcess } from './support/server-process.ts'
import { until } from './support/until.ts'

/**
 * The database ends connections, stops and comes back, while two nodes work on it. No process ends, what was
 * acknowledged is there, what was refused is not, and nothing is there by half.
 */

const skip = !databases.includes('postgres') && 'PostgreSQL is not there'
const seedVariable = 'LOSS_SEED'
const settings = {
  PARLEY_EMULATOR: 'true',
  PARLEY_LIMIT_STANDARD: '1000000000',
  PARLEY_LIMIT_MESSAGES: '1000000000',
  PARLEY_LOG_LEVEL: 'warn',
}
const backMilliseconds = 10_000
const patienceMilliseconds = 60_000
const rounds = times(2, 10)
const endsCount = rounds * 20
const restarts = times(2, 10)
// How much goes on before the next misfortune, at most.
const answersPerEndMax = 10
const answersPerRestartMax = 150
const ticksPerEndMax = 3

describe('losing the database', { skip }, () => {
  let postgres: PrivatePostgres
  const seed = seedFrom(seedVariable)

  before(async () => {
    postgres = await makePostgres({ isDurable: true })
    await postgres.start()
  })
  after(() => postgres?.remove())

  describe('under the load of writers and readers', () => {
    let site: Install
    let app: AppOnDisk
    let nodes: ServerProcess[]
    let writers: Writer[]
    const random = randomFrom(seed)
    let answersCount = 0

    before(async () => {
      site = await install('postgres', settings, postgres.url)
      app = await site.createApp('lost')
      // One after the other: the first one makes the certificates that both use.
      nodes = [await site.start(), await site.start()]
      writers = [
        ...lanes(3, (lane) => callWriter(lane, app, randomFrom(seed + lane))),
        ...lanes(2, (lane) => keyWriter(lane, app, randomFrom(seed + 100 + lane))),
        ...lanes(3, (lane) => messageWriter(lane, app)),
        ...lanes(2, (lane) => plainWriter(lane, app)),
      ]
      await eachWriter((writer, node) => writer.write(node))
    })
    after(() => site?.remove())

    const nodeOf = (lane: number) => nodes[lane % nodes.length] as ServerProcess
    const eachWriter = (work: (writer: Writer, node: ServerProcess) => Promise<void>) =>
      Promise.all(writers.map((writer, lane) => work(writer, nodeOf(lane))))

    /** Writes and reads until the trouble is over. Whoever is turned away waits for the end of it. */
    async function loadDuring(trouble: () => Promise<void>): Promise<void> {
      let isOver = false
      const writing = eachWriter(async (writer, node) => {
        try {
          while (!isOver) await writer.write(node)
        } catch (error) {
          if (!(error instanceof Unavailable)) throw error
        }
      })
      const reading = nodes.map(async (node) => {
        while (!isOver) {
          const answers = await Promise.all([app.at(node).get('/calls?perPage=5'), app.at(node).get('/apikeys')])
          for (const answer of answers) assertServedOrTurnedAway(answer)
          answersCount += answers.length
        }
      })
      const all = Promise.all([writing, ...reading])
      try {
        await Promise.race([trouble(), all])
      } finally {
        isOver = true
      }
      await all
    }

    /** Some more readers are answered, well or badly. */
    async function someAreAnswered(most: number): Promise<void> {
      const enough = answersCount + random.whole(0, most)
      await until('some more are answered', () => answersCount >= enough)
    }

    async function everythingIsThere(extent: 'recent' | 'all'): Promise<void> {
      await eachWriter((writer, node) => writer.verify(node, extent))
    }

    async function nothingIsTornApart(): Promise<void> {
      await everythingIsThere('all')
      const { code, data } = await site.command('doctor')
      assert.deepEqual(
        data.checks.filter(({ ok }: { ok: boolean }) => !ok),
        [],
      )
      assert.equal(code, 0)
      for (const node of nodes) {
        assert.doesNotMatch(node.log(), /"status":500|nobody waited/)
      }
    }

    const acknowledged = () => writers.reduce((sum, writer) => sum + writer.acknowledged(), 0)

    it(`${endsCount} ended backends end no process, lose nothing and leave nothing half done`, async (test) => {
      test.diagnostic(`${seedVariable}=${seed}`)
      const before = acknowledged()
      const endsPerRound = endsCount / rounds
      for (let round = 1; round <= rounds; round += 1) {
        await loadDuring(() => endBackends(site, endsPerRound, () => someAreAnswered(answersPerEndMax)))
        await everythingIsThere('recent')
      }
      await nothingIsTornApart()
      assert.ok(acknowledged() - before > endsPerRound, 'hardly anything was written')
      test.diagnostic(`${acknowledged() - before} facts acknowledged, 0 lost`)
    })

    it(`${restarts} restarts of the database end no process, lose nothing and leave nothing half done`, async (test) => {
      const before = acknowledged()
      for (let restart = 1; restart <= restarts; restart += 1) {
        await loadDuring(async () => {
          await someAreAnswered(answersPerRestartMax)
          await postgres.stop(restart % 2 === 0 ? 'fast' : 'immediate')
          for (const node of nodes) await assertSaysThatItIsAway(node)
          await postgres.start()
        })
        for (const node of nodes) await until('it answers again', async () => isServing(node), backMilliseconds)
        await everythingIsThere('recent')
      }
      await nothingIsTornApart()
      for (const node of nodes) {
        const told = node.log().match(/the database is in trouble/g) ?? []
        assert.ok(told.length > 0 && told.length <= restarts * 2, `it was told ${told.length} times`)
      }
      test.diagnostic(`${acknowledged() - before} facts acknowledged, 0 lost`)
    })

    async function isServing(node: ServerProcess): Promise<boolean> {
      const ready = await node.client.send('localhost', '/readyz')
      return ready.status === 200 && (await app.at(node).get('/calls')).status === 200
    }

    async function assertSaysThatItIsAway(node: ServerProcess): Promise<void> {
      const startedAt = performance.now()
      const answers = await Promise.all([
        app.at(node).get('/calls'),
        app.at(node).post('/users', { uid: 'nobody', name: 'Nobody' }),
      ])
      for (const answer of answers) {
        assert.equal(answer.status, 503, answer.text)
        assertServedOrTurnedAway(answer)
      }
      const ready = await node.client.send('localhost', '/readyz')
      assert.deepEqual([ready.status, ready.body.reasons], [503, ['the database cannot be used']])
      assert.equal((await node.client.send('localhost', '/healthz')).status, 200)
      assert.ok(performance.now() - startedAt < backMilliseconds, 'somebody would have waited')
    }
  })

  it('two nodes do every follower’s and every job’s work once, whatever happens to the database', async (test) => {
    const random = randomFrom(seed + 1)
    const site = await install('postgres', {}, postgres.url)
    const app = await site.createApp('followed')
    const log = pino({ level: 'silent' })
    const config = readConfig(site.environment)
    const counting = countingArea()
    const houses = [1, 2].map(() => openHouse(config, log, { areas: [...areas, counting.area] }))
    const [one, other] = await Promise.all(houses)
    assert.ok(one && other)
    const { database, tools } = one
    const acknowledged: number[] = []
    let refused = 0

    async function tick(n: number): Promise<void> {
      try {
        await database.write((connection) => workIn(connection, app.id, tools).emit(counting.ticked, { n }))
        acknowledged.push(n)
        database.wake()
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) throw error
        refused += 1
      }
    }
    const numbersOf = (event: { name: string }) => numbersIn(database, app.id, event)

    try {
      for (const { workers } of [one, other]) workers.start()
      let n = 0
      let wanted = 0
      let isOver = false
      const ticking = lanes(5, async () => {
        for (;;) {
          await until('one more is wanted', () => isOver || n < wanted, patienceMilliseconds)
          if (isOver) return
          n += 1
          await tick(n)
        }
      })
      const someTick = async () => {
        wanted = n + random.whole(0, ticksPerEndMax)
        await until('some more have begun', () => n >= wanted)
      }
      for (const how of ['fast', 'immediate'] as const) {
        await endBackends(site, 40, someTick)
        const before = refused
        wanted = Number.POSITIVE_INFINITY
        await postgres.stop(how)
        await until('somebody is refused', () => refused > before)
        await postgres.start()
      }
      await endBackends(site, 20, someTick)
      isOver = true
      await Promise.all(ticking)
      const ticked = await numbersOf(counting.ticked)
      assert.deepEqual(ticked, [...new Set(ticked)], 'a write that was run again happened twice')
      assert.deepEqual(
        acknowledged.filter((each) => !ticked.includes(each)),
        [],
      )
      // A claim that nobody knows of runs out after a minute.
      const all = async () => (await numbersOf(counting.worked)).length >= ticked.length
      await until('all jobs have run', all, 100_000)
      assert.deepEqual(await numbersOf(counting.followed), ticked)
      assert.deepEqual(await numbersOf(counting.worked), ticked)
      test.diagnostic(`${ticked.length} events followed and worked, each once`)
    } finally {
      for (const { workers, close } of [one, other]) {
        await workers.stop()
        await close()
      }
      await site.remove()
    }
  })
})

const lanes = <T>(count: number, make: (lane: number) => T): T[] =>
  Array.from({ length: count }, (_, lane) => make(lane))

interface Served {
  status: number
  text: string
  headers: Record<string, unknown>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  body: any
}

function assertServedOrTurnedAway({ status, text, headers, body }: Served): void {
  if (status === 200) return
  assert.deepEqual([status, body?.error?.code], [503, 'ERR_SERVICE_UNAVAILABLE'], text)
  assert.ok(Number(headers['retry-after']) > 0)
}

/** Ends backends of an install one after the other, those that are at work first, and lets something happen in between. */
async function endBackends(site: Install, count: number, between: () => Promise<void>): Promise<void> {
  const admin = new pg.Client(site.environment.PARLEY_DATABASE_URL)
  await admin.connect()
  try {
    for (let ended = 0; ended < count; ) {
      const { rowCount } = await admin.query(`
        SELECT pg_terminate_backend(pid) FROM (
          SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()
          ORDER BY state = 'idle', random() LIMIT 1) AS one`)
      ended += rowCount ?? 0
      await between()
    }
  } finally {
    await admin.end()
  }
}
