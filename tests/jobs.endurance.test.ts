import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { pino } from 'pino'
import { workIn } from '../server/src/common/work-in.ts'
import { type Area, area } from '../server/src/kit/area.ts'
import { defineEvent } from '../server/src/kit/event.ts'
import { ComeAgain, type JobDefinition, job } from '../server/src/kit/job.ts'
import { Type } from '../server/src/kit/schema.ts'
import type { Work } from '../server/src/kit/work.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { createJobLanes, type JobLanes } from '../server/src/workers/jobs.ts'
import { pauseAfter } from '../server/src/workers/pauses.ts'
import { numbersIn } from './support/counting-area.ts'
import { type DatabaseName, databases } from './support/databases.ts'
import { type House, house } from './support/house.ts'
import { until } from './support/until.ts'

/** What a definition can say about its attempts, and whose a job is meanwhile. */

const appId = 'app'
const hour = 3_600
const payload = Type.Object({ n: Type.Integer() })
const noted = defineEvent({ name: 'test.noted', payload, audience: () => [] })
const silentLog = pino({ level: 'silent' })
const card = (...jobs: JobDefinition[]): Area[] => [area({ name: 'test', about: 'Works for tests.', jobs })]

/** A house whose own workers stand still, and nodes that work when they are told to. */
async function withNodes(
  database: DatabaseName,
  definition: JobDefinition,
  work: (h: House, node: () => JobLanes) => Promise<void>,
): Promise<void> {
  const h = await house({ database })
  await h.service.house.workers.stop()
  const { database: opened, tools } = h.service.house
  try {
    await work(h, () => createJobLanes(opened, card(definition), () => tools, silentLog))
  } finally {
    await h.close()
  }
}

function inApp(h: House, work: (work: Work) => Promise<void>): Promise<void> {
  const { database, tools } = h.service.house
  return database.write((connection) => work(workIn(connection, appId, tools)))
}

const queueOne = (h: House, definition: JobDefinition) =>
  inApp(h, ({ later }) => later(definition, { n: 1 }, { key: 'one' }))

async function rowOf(h: House) {
  const rows = await tenantDb(h.service.house.database.reader, appId).select('jobs').selectAll().execute()
  assert.ok(rows.length <= 1)
  return rows[0]
}

/** Runs whatever is due on a node, to its end. */
async function runAll(node: JobLanes): Promise<void> {
  while ((await node.runInside()) || (await node.runOutside()) || (await node.outsideMoves())) {}
}

function advance({ clock }: House, seconds: number): void {
  clock.setOffset(clock.offsetSeconds() + seconds)
}

/** Lets real time, by which claims run out, stand so many seconds from now. */
function realTimeIn({ mock }: TestContext, seconds: number): void {
  const then = Date.now() + seconds * 1000
  mock.method(Date, 'now', () => then)
}

/** A door that holds up whoever comes. */
function door() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), opened }
}

describe('pauses between attempts', () => {
  const failure = new Error('on purpose')
  const webhooks = { retry: [10, 30, 300, 1_800, 7_200, 18_000, 36_000] } as const

  it('are those of the definition, a fifth longer or shorter by chance; the last one repeats', () => {
    const planned = [10, 30, 300, 1_800, 7_200, 18_000, ...Array.from({ length: 6 }, () => 36_000)]
    for (const [index, seconds] of planned.entries()) {
      const pauses = new Set(Array.from({ length: 50 }, () => pauseAfter(webhooks, index + 1, failure)))
      for (const pause of pauses) assert.ok(pause >= seconds * 0.8 && pause <= seconds * 1.2, `${pause} for ${seconds}`)
      assert.ok(pauses.size > 1, 'chance has its share')
    }
  })

  it('are what a function answers, and a second at least', () => {
    const retry = (failures: number) => failures * 100
    const pause = pauseAfter({ retry }, 3, failure)
    assert.ok(pause >= 240 && pause <= 360, `${pause}`)
    assert.equal(pauseAfter({ retry: () => 0 }, 1, failure), 1)
  })

  it('double up to an hour where the definition says nothing', () => {
    assert.deepEqual(
      [1, 2, 3, 11, 12, 1_000].map((failures) => pauseAfter({}, failures, failure)),
      [2, 4, 8, 2_048, 3_600, 3_600],
    )
  })

  it('are as long as whoever refused has asked for, an hour at most, and never shorter than planned', () => {
    assert.equal(pauseAfter(webhooks, 1, new ComeAgain('busy', 120)), 120)
    assert.equal(pauseAfter(webhooks, 1, new ComeAgain('busy', 10 * hour)), hour)
    assert.ok(pauseAfter(webhooks, 7, new ComeAgain('busy', 5)) >= 36_000 * 0.8)
    for (const nonsense of [-5, 0, Number.NaN]) {
      const pause = pauseAfter(webhooks, 1, new ComeAgain('busy', nonsense))
      assert.ok(pause >= 8 && pause <= 12, `${pause}`)
    }
  })
})

for (const database of databases) {
  describe(`attempts at jobs on ${database}`, () => {
    it('come again when they were told to, and not before', async () => {
      let begun = 0
      const busy = job({
        ...{ name: 'test.busy', payload, attemptsMax: 5, retry: [1] as const },
        async prepare() {
          begun += 1
          if (begun === 1) throw new ComeAgain('The endpoint is busy.', 600)
        },
        run: async () => undefined,
      })
      await withNodes(database, busy, async (h, node) => {
        await queueOne(h, busy)
        const one = node()
        await runAll(one)
        assert.match((await rowOf(h))?.last_error ?? '', /The endpoint is busy/)
        advance(h, 300)
        await runAll(one)
        assert.equal(begun, 1)
        advance(h, 301)
        await runAll(one)
        assert.equal(begun, 2)
        assert.equal(await rowOf(h), undefined)
      })
    })

    it('end when their time is over, whether or not whoever they wait for listens', async () => {
      const told: unknown[] = []
      const deaf = job({
        ...{ name: 'test.deaf', payload, attemptsMax: 1, secondsMax: 0.02 },
        prepare: (_, { signal }) =>
          new Promise(() => signal.addEventListener('abort', () => told.push(String(signal.reason)))),
        run: async () => undefined,
      })
      await withNodes(database, deaf, async (h, node) => {
        await queueOne(h, deaf)
        await runAll(node())
        assert.deepEqual(told, ['Error: It took longer than 0.02 seconds.'])
        const row = await rowOf(h)
        assert.match(row?.last_error ?? '', /It took longer than 0.02 seconds/)
        assert.ok(row?.dead_at)
      })
    })

    it('that have ended write nothing more', async () => {
      const { open, opened } = door()
      let outcome: Promise<unknown> = Promise.resolve()
      const late = job({
        ...{ name: 'test.late', payload, attemptsMax: 1, secondsMax: 0.02 },
        async prepare(_, { inApp: inJobsApp }) {
          outcome = opened.then(() => inJobsApp(({ emit }) => emit(noted, { n: 1 })))
          await outcome
        },
        run: async () => undefined,
      })
      await withNodes(database, late, async (h, node) => {
        await queueOne(h, late)
        await runAll(node())
        open()
        await assert.rejects(outcome, /It took longer/)
        assert.deepEqual(await numbersIn(h.service.house.database, appId, noted), [])
      })
    })

    it('are known by their number', async () => {
      const numbers: number[] = []
      const failing = job({
        ...{ name: 'test.failing', payload, attemptsMax: 3 },
        async prepare(_, { attempt }) {
          numbers.push(attempt)
          throw new Error('on purpose')
        },
        run: async () => undefined,
      })
      await withNodes(database, failing, async (h, node) => {
        await queueOne(h, failing)
        const one = node()
        for (let n = 0; n < 4; n += 1) {
          await runAll(one)
          advance(h, hour)
        }
        assert.deepEqual(numbers, [1, 2, 3])
      })
    })

    it('count on when a job comes again, where its definition says so', async () => {
      const ends: unknown[] = []
      const stubborn = job({
        ...{ name: 'test.stubborn', payload, attemptsMax: 3, keepsAttempts: true },
        async run({ n }, { emit, now }) {
          await emit(noted, { n })
          return { againAt: now + hour, payload: { n: n + 1 } }
        },
        async onDead({ n }, _, { attempts, lastError }) {
          ends.push([n, attempts, lastError])
        },
      })
      await withNodes(database, stubborn, async (h, node) => {
        await queueOne(h, stubborn)
        const one = node()
        for (let n = 0; n < 5; n += 1) {
          await runAll(one)
          advance(h, hour)
        }
        assert.deepEqual(await numbersIn(h.service.house.database, appId, noted), [1, 2, 3], 'what they did is kept')
        assert.deepEqual(ends, [[4, 3, 'It has used up its attempts.']])
        const row = await rowOf(h)
        assert.ok(row?.dead_at)
      })
    })
  })

  describe(`the end of jobs on ${database}`, () => {
    it('is told in the transaction in which it comes', async () => {
      let broken = true
      const doomed = job({
        ...{ name: 'test.doomed', payload, attemptsMax: 1 },
        async run() {
          throw new Error('cannot work, on purpose')
        },
        async onDead({ n }, { emit }, { attempts, lastError }) {
          assert.match(lastError, /cannot work, on purpose/)
          await emit(noted, { n: n * 10 + attempts })
          if (broken) throw new Error('cannot end, on purpose')
        },
      })
      await withNodes(database, doomed, async (h, node) => {
        await queueOne(h, doomed)
        const one = node()
        await runAll(one)
        assert.equal((await rowOf(h))?.dead_at, null, 'who has to know of it does not know yet')
        assert.deepEqual(await numbersIn(h.service.house.database, appId, noted), [])
      })
      broken = false
      await withNodes(database, doomed, async (h, node) => {
        await queueOne(h, doomed)
        const one = node()
        await runAll(one)
        assert.ok((await rowOf(h))?.dead_at)
        assert.deepEqual(await numbersIn(h.service.house.database, appId, noted), [11])
        advance(h, 100 * hour)
        await runAll(one)
        assert.deepEqual(await numbersIn(h.service.house.database, appId, noted), [11])
      })
    })

    it('is counted by the name of the job, and shown with the metrics', async () => {
      const doomed = job({ name: 'test.doomed', payload, attemptsMax: 1, run: () => Promise.reject(new Error('no')) })
      const h = await house({ database, areas: card(doomed) })
      try {
        const deadShown = async () =>
          /^parley_jobs_dead\{job="test.doomed"\} (\d+)$/m.exec(
            (await h.client.send('localhost', '/metrics')).text,
          )?.[1]
        assert.equal(await deadShown(), '0')
        await queueOne(h, doomed)
        await h.settle()
        assert.equal(await deadShown(), '1')
      } finally {
        await h.close()
      }
    })

    it('comes in the end, also if it could not be told at first', async () => {
      let told = 0
      const doomed = job({
        ...{ name: 'test.doomed', payload, attemptsMax: 1 },
        async run() {
          throw new Error('on purpose')
        },
        async onDead() {
          told += 1
          if (told < 3) throw new Error('cannot end, on purpose')
        },
      })
      await withNodes(database, doomed, async (h, node) => {
        await queueOne(h, doomed)
        const one = node()
        for (let n = 0; n < 4; n += 1) {
          await runAll(one)
          advance(h, hour)
        }
        assert.equal(told, 3)
        assert.ok((await rowOf(h))?.dead_at)
      })
    })
  })

  describe(`claims on ${database}`, () => {
    /** A job that stays outside until the door opens, and says how often it went. */
    function slowJob() {
      const { open, opened } = door()
      const slow = job({
        ...{ name: 'test.slow', payload, attemptsMax: 5, secondsMax: hour },
        async prepare({ n }, { signal, inApp: inJobsApp }) {
          await inJobsApp(({ emit }) => emit(noted, { n }))
          await opened
          return signal.aborted
        },
        async run({ n }, { emit }) {
          await emit(noted, { n: n * 100 })
          return undefined
        },
      })
      return { slow, open }
    }
    const done = (h: House) => numbersIn(h.service.house.database, appId, noted)
    const isOutside = (h: House, times: number) =>
      until('it is outside', async () => (await done(h)).filter((n) => n === 1).length === times)

    it('last while somebody is at it, however long that takes', async (t) => {
      const { slow, open } = slowJob()
      await withNodes(database, slow, async (h, node) => {
        await queueOne(h, slow)
        const [one, other] = [node(), node()]
        assert.ok(await one.runOutside())
        await isOutside(h, 1)
        for (let seconds = 30; seconds <= 300; seconds += 30) {
          realTimeIn(t, 30)
          await one.renew()
          assert.ok(!(await other.runOutside()), `another took it after ${seconds} seconds`)
        }
        open()
        await runAll(one)
        assert.deepEqual(await done(h), [1, 100])
        assert.equal(await rowOf(h), undefined)
      })
    })

    it('that have run out pass to another node, and whoever was away changes nothing', async (t) => {
      const { slow, open } = slowJob()
      await withNodes(database, slow, async (h, node) => {
        await queueOne(h, slow)
        const [one, other] = [node(), node()]
        assert.ok(await one.runOutside())
        await isOutside(h, 1)
        realTimeIn(t, 61)
        assert.ok(await other.runOutside())
        await isOutside(h, 2)
        // It finds out that the job is no longer its own, and leaves it.
        await one.renew()
        await runAll(one)
        assert.equal((await rowOf(h))?.attempts, 2)
        open()
        await runAll(other)
        assert.deepEqual(await done(h), [1, 1, 100])
      })
    })

    it('are given back by a server that stops, as if nothing had been tried', async () => {
      const { slow, open } = slowJob()
      await withNodes(database, slow, async (h, node) => {
        await queueOne(h, slow)
        const [one, other] = [node(), node()]
        assert.ok(await one.runOutside())
        await isOutside(h, 1)
        one.close()
        assert.ok(!(await one.runOutside()))
        await one.letGo()
        const row = await rowOf(h)
        assert.deepEqual([row?.attempts, row?.locked_until, row?.last_error], [0, 0, null])
        assert.ok(await other.runOutside())
        await isOutside(h, 2)
        open()
        await runAll(one)
        await runAll(other)
        assert.deepEqual(await done(h), [1, 1, 100])
        assert.equal(await rowOf(h), undefined)
      })
    })

    it('are given back by a whole server, without waiting for what never answers', async () => {
      let begun = 0
      const deaf = job({
        ...{ name: 'test.deaf', payload, attemptsMax: 5, secondsMax: hour },
        prepare: () => {
          begun += 1
          return new Promise(() => {})
        },
        run: async () => undefined,
      })
      const h = await house({ database, areas: card(deaf) })
      try {
        await queueOne(h, deaf)
        h.service.house.database.wake()
        await until('it is outside', () => begun === 1)
        await h.service.house.workers.stop()
        const row = await rowOf(h)
        assert.deepEqual([row?.attempts, row?.locked_until], [0, 0])
      } finally {
        await h.close()
      }
    })
  })
}
