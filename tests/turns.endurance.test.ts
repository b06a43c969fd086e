import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { workIn } from '../server/src/common/work-in.ts'
import { type Area, area } from '../server/src/kit/area.ts'
import { type JobDefinition, job, laneOf } from '../server/src/kit/job.ts'
import { Type } from '../server/src/kit/schema.ts'
import type { Work } from '../server/src/kit/work.ts'
import { destinationOf } from '../server/src/storage/destination.ts'
import type { JobLane } from '../server/src/storage/tables.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { connectionUnder } from '../server/src/storage/underneath.ts'
import { claimSome } from '../server/src/workers/claims.ts'
import { createDestinations } from '../server/src/workers/destinations.ts'
import { createJobLanes } from '../server/src/workers/jobs.ts'
import { createOutsidePlaces } from '../server/src/workers/places.ts'
import { createRota, type JobTimes, type Rota } from '../server/src/workers/rota.ts'
import { type DatabaseName, databases } from './support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from './support/house.ts'
import { plansOf, rowsRead } from './support/plans.ts'
import { times } from './support/quick.ts'
import { appWith, sayIn } from './support/talk.ts'
import { acrossApps } from './support/tripwire.ts'
import { until } from './support/until.ts'

/** However much one app has queued, another app's work waits for no more than a batch or two of it. */

const jobsPerBatch = 20
const floodJobs = times(20_000, 100_000)
const rowsPerInsert = 1_000

const payload = Type.Object({ n: Type.Integer(), to: Type.Optional(Type.String()) })

/** Jobs that tell whose they were, in the order in which they ran. */
function jobsIn(ran: string[]) {
  const noted = async (_: unknown, { db }: Work) => {
    ran.push(db.appId)
    return undefined
  }
  return {
    inside: job({ name: 'test.inside', payload, attemptsMax: 3, run: noted }),
    outside: job({ name: 'test.outside', payload, attemptsMax: 3, prepare: async () => {}, run: noted }),
    bulk: job({ name: 'test.bulk', payload, attemptsMax: 3, bulk: true, run: noted }),
    /** A deletion that is never done. */
    endless: job({
      name: 'test.endless',
      payload,
      attemptsMax: 3,
      bulk: true,
      async run(_, work) {
        await noted(_, work)
        return { againAt: work.now }
      },
    }),
  }
}

const card = (...jobs: JobDefinition[]): Area[] => [area({ name: 'test', about: 'Works for tests.', jobs })]

function inApp(h: House, appId: string, work: (work: Work) => Promise<unknown>): Promise<unknown> {
  const { database, tools } = h.service.house
  return database.write((connection) => work(workIn(connection, appId, tools)))
}

/** Queues so many jobs of an app, all of them overdue. */
async function queue(
  h: House,
  appId: string,
  definition: JobDefinition,
  count: number,
  from = 0,
  destination = '',
): Promise<void> {
  const { name } = definition
  for (let first = from; first < from + count; first += rowsPerInsert) {
    const numbers = Array.from({ length: Math.min(rowsPerInsert, from + count - first) }, (_, index) => first + index)
    await inApp(h, appId, async ({ db, now }) => {
      const lane = laneOf(definition)
      const place = { lane, destination: destinationOf(lane, name, destination) }
      const rows = numbers.map((n) => ({
        ...{ name, ...place, key: `${n}`, payload: JSON.stringify({ n, to: destination }), run_at: now - 3_600 },
      }))
      await db.insert('jobs', rows).execute()
    })
  }
}

async function withHouse(database: DatabaseName, areas: Area[], work: (h: House) => Promise<void>): Promise<void> {
  const h = await house({ database, areas })
  // Whoever brings nodes of their own wants no other to help.
  if (areas.length === 0) await h.service.house.workers.stop()
  try {
    await work(h)
  } finally {
    await h.close()
  }
}

const silentLog = pino({ level: 'silent' })

/** The jobs of one more node on the same database. */
function nodeWith({ service }: House, ...jobs: JobDefinition[]) {
  const { database, tools } = service.house
  return createJobLanes(database, card(...jobs), () => tools, silentLog)
}

/** Jobs that stay outside until they are let in, and tell where they went. */
function hanging(name = 'test.slow', perDestination = 2) {
  const begun: string[] = []
  let open = () => {}
  let opened = Promise.resolve()
  const shut = () => {
    opened = new Promise((resolve) => {
      open = resolve
    })
  }
  shut()
  const definition = job({
    ...{ name, payload, attemptsMax: 3, atOnce: { perDestination } },
    async prepare({ to }, { db }) {
      begun.push(`${db.appId} ${to}`)
      await opened
    },
    run: async () => undefined,
  })
  const end = async (node: ReturnType<typeof nodeWith>) => {
    open()
    while (await node.outsideMoves()) {}
    shut()
  }
  return { job: definition, begun, open: () => open(), end }
}

const countOf = (ran: string[], appId: string) => ran.filter((each) => each.split(' ')[0] === appId).length

for (const database of databases) {
  /** Of tens of thousands of jobs the database reads a few hundred, by an index that leads to them. */
  function assertReadsLittle(plans: string[]): void {
    assert.ok(plans.length >= 3)
    for (const plan of plans) {
      if (database === 'sqlite') {
        assert.doesNotMatch(plan, /SCAN jobs/)
        if (plan.includes('WITH taken')) assert.match(plan, /lane=\? AND app_id=\? AND destination=\? AND run_at</)
      } else assert.ok(rowsRead(plan, ['jobs']) <= 500, plan)
    }
  }

  describe(`turns between apps on ${database}`, () => {
    for (const lane of ['inside', 'outside', 'bulk'] as const) {
      it(`come at once to a single job in the lane "${lane}", whatever another app has queued there`, async () => {
        const ran: string[] = []
        const jobs = jobsIn(ran)
        await withHouse(database, card(...Object.values(jobs)), async (h) => {
          // In the order of their ids the flood stands on either side of the other.
          for (const flood of ['a-flood', 'z-flood']) await queue(h, flood, jobs[lane], floodJobs / 2)
          h.service.house.database.wake()
          await until('the flood is under way', () => ran.length > 0)
          await inApp(h, 'm-small', ({ later }) => later(jobs[lane], { n: 1 }, { key: 'one' }))
          const before = ran.length
          h.service.house.database.wake()
          await until('the single one has run', () => ran.includes('m-small'))
          const waitedFor = ran.indexOf('m-small') - before
          assert.ok(waitedFor <= 2 * jobsPerBatch, `it waited for ${waitedFor} jobs of others`)
        })
      })
    }

    it('come to a small deletion while another app deletes very much', async () => {
      const ran: string[] = []
      const { bulk, endless } = jobsIn(ran)
      await withHouse(database, card(bulk, endless), async (h) => {
        const app = await appWith(h, 'ada')
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', type: 'public', owner: 'ada' }))
        await sayIn(app, 'g', 'ada')
        await h.settle()
        for (const flood of ['0-flood', 'z-flood']) {
          await queue(h, flood, bulk, floodJobs / 2)
          await inApp(h, flood, ({ later }) => later(endless, { n: 1 }, { key: 'all' }))
        }
        h.service.house.database.wake()
        await until('the flood is under way', () => ran.length > 0)
        const before = ran.length
        assertSucceeds(await app.delete('/groups/g'))
        await until('the group is cleared away', async () => (await waitingIn(h, app)) === 0)
        const waitedFor = ran.length - before
        // Some two dozen, but others go on until it is noticed, which takes longer on a busy machine.
        assert.ok(waitedFor <= 300, `it waited for ${waitedFor} batches of others`)
      })
    })

    it('are equal among three apps, however much each of them has queued', async () => {
      const ran: string[] = []
      const { inside } = jobsIn(ran)
      await withHouse(database, [], async (h) => {
        for (const [appId, count] of [
          ['a', 5_000],
          ['b', 500],
          ['c', 200],
        ] as const) {
          await queue(h, appId, inside, count)
        }
        const node = nodeWith(h, inside)
        while (ran.length < 500) assert.ok(await node.runInside())
        const shares = ['a', 'b', 'c'].map((appId) => countOf(ran, appId))
        for (const share of shares) assert.ok(Math.abs(share - ran.length / 3) <= jobsPerBatch, `${shares}`)
      })
    })

    it('come round to everybody where more apps wait than a batch has places', async () => {
      const ran: string[] = []
      const { inside } = jobsIn(ran)
      await withHouse(database, [], async (h) => {
        const apps = Array.from({ length: 65 }, (_, n) => `app-${n}`)
        for (const appId of apps) await queue(h, appId, inside, 5)
        const node = nodeWith(h, inside)
        while (ran.length < 2 * apps.length) assert.ok(await node.runInside())
        assert.deepEqual(
          apps.filter((appId) => countOf(ran, appId) < 1 || countOf(ran, appId) > 3),
          [],
        )
      })
    })

    it('are found beside a thousand apps whose work is for later', async () => {
      const ran: string[] = []
      const { inside } = jobsIn(ran)
      await withHouse(database, [], async (h) => {
        const apps = Array.from({ length: 1_000 }, (_, n) => `app-${n}`)
        for (const appId of apps) {
          await inApp(h, appId, ({ later, now }) => later(inside, { n: 1 }, { key: 'one', at: now + 3_600 }))
        }
        await queue(h, 'a-flood', inside, 5_000)
        await inApp(h, 'app-777', ({ later }) => later(inside, { n: 2 }, { key: 'two' }))
        const node = nodeWith(h, inside)
        let batches = 0
        for (; !ran.includes('app-777'); batches += 1) assert.ok(await node.runInside())
        assert.ok(batches <= 6, `it took ${batches} batches`)
      })
    })

    it('leave room outside: whoever does not answer keeps the few places of one destination', async () => {
      const slow = hanging()
      await withHouse(database, [], async (h) => {
        await queue(h, 'a', slow.job, 150, 0, 'deaf')
        const node = nodeWith(h, slow.job)
        for (let round = 0; round < 5; round += 1) await node.runOutside()
        assert.deepEqual(slow.begun, ['a deaf', 'a deaf'])
        await queue(h, 'a', slow.job, 1, 150, 'other')
        await queue(h, 'b', slow.job, 1, 0, 'deaf')
        await node.runOutside()
        assert.deepEqual(slow.begun.slice(2).toSorted(), ['a other', 'b deaf'])
        await slow.end(node)
      })
    })

    it('come to all destinations of an app, also where more wait than one look goes', async () => {
      const slow = hanging()
      await withHouse(database, [], async (h) => {
        const names = Array.from({ length: 90 }, (_, n) => `d${n}`)
        for (const [n, destination] of names.entries()) await queue(h, 'a', slow.job, 2, n * 2, destination)
        const node = nodeWith(h, slow.job)
        const seen = new Set<string>()
        for (let round = 0; seen.size < names.length; round += 1) {
          assert.ok(round < 20, `only ${seen.size} had a turn`)
          await node.runOutside()
          for (const each of slow.begun.splice(0)) seen.add(each)
          await slow.end(node)
        }
      })
    })

    it('keep kinds of jobs apart, however their destinations are called', async () => {
      const [one, other] = [hanging('test.a'), hanging('test.a.b')]
      await withHouse(database, [], async (h) => {
        await queue(h, 'a', one.job, 5, 0, 'b/c')
        await queue(h, 'a', other.job, 5, 0, 'c')
        const node = nodeWith(h, one.job, other.job)
        while (await node.runOutside()) {}
        assert.deepEqual(
          [one.begun, other.begun],
          [
            ['a b/c', 'a b/c'],
            ['a c', 'a c'],
          ],
        )
        one.open()
        await other.end(node)
      })
    })

    it('leave no app all of the places, and keep some for whoever has none', async () => {
      const slow = hanging('test.slow', 1_000)
      await withHouse(database, [], async (h) => {
        const node = nodeWith(h, slow.job)
        for (const appId of ['a', 'b', 'c', 'd']) {
          await queue(h, appId, slow.job, 200)
          while (await node.runOutside()) {}
        }
        const begunBy = () => ['a', 'b', 'c', 'd'].map((appId) => countOf(slow.begun, appId))
        assert.deepEqual(begunBy(), [64, 64, 64, 1])
        await slow.end(node)
      })
    })

    it('give nothing to two nodes', async () => {
      const ran: string[] = []
      const noted = async ({ n }: { n: number }, { db }: Work) => {
        ran.push(`${db.appId} ${n}`)
        return undefined
      }
      const inside = job({ name: 'test.inside', payload, attemptsMax: 3, run: noted })
      const outside = job({ name: 'test.outside', payload, attemptsMax: 3, prepare: async () => {}, run: noted })
      const bulk = job({ name: 'test.bulk', payload, attemptsMax: 3, bulk: true, run: noted })
      await withHouse(database, [], async (h) => {
        const apps = ['a', 'b', 'c']
        for (const [index, definition] of [inside, outside, bulk].entries()) {
          for (const appId of apps) await queue(h, appId, definition, 100, index * 100)
        }
        const nodes = [1, 2, 3].map(() => nodeWith(h, inside, outside, bulk))
        const work = async (node: (typeof nodes)[number]) => {
          for (;;) {
            const worked = (await node.runInside()) || (await node.runOutside())
            const advanced = await node.runBulk(new Set())
            if (!worked && advanced === undefined && !(await node.outsideMoves())) return
          }
        }
        await Promise.all(nodes.map(work))
        await Promise.all(nodes.map(work))
        const all = apps.flatMap((appId) => Array.from({ length: 300 }, (_, n) => `${appId} ${n}`))
        assert.deepEqual(ran.toSorted(), all.toSorted())
      })
    })

    it('come again to a job whose worker has gone, and end one that ends every worker', async (t) => {
      let begun = 0
      const deadly = job({
        name: 'test.deadly',
        payload,
        attemptsMax: 2,
        async prepare() {
          begun += 1
          await new Promise(() => {})
        },
        run: async () => undefined,
      })
      await withHouse(database, [], async (h) => {
        await queue(h, 'a', deadly, 1)
        const realNow = Date.now()
        for (const [deaths, expected] of [1, 2, 2, 2].entries()) {
          t.mock.method(Date, 'now', () => realNow + deaths * 61_000)
          const node = nodeWith(h, deadly)
          assert.equal(await node.runOutside(), deaths < 3)
          if (deaths === 2) while (await node.outsideMoves()) {}
          assert.equal(begun, expected)
        }
        const { rows } = await acrossApps(async () =>
          h.service.house.database.reader.run('SELECT attempts, dead_at, last_error FROM jobs', []),
        )
        const [row] = rows as { attempts: number; dead_at: number | null; last_error: string }[]
        assert.ok(row?.dead_at)
        assert.match(row.last_error, /ended with each attempt/)
      })
    })

    it('are found outside without reading what is queued, dead or somewhere else', async () => {
      const { inside, outside } = jobsIn([])
      await withHouse(database, [], async (h) => {
        const app = await h.app('small')
        await queue(h, app.id, outside, 20_000, 0, 'deaf')
        await queue(h, app.id, outside, 30, 20_000, 'other')
        await queue(h, app.id, inside, 20_000, 30_000)
        await queue(h, 'dead', outside, 20_000)
        const { database: opened } = h.service.house
        await acrossApps(() =>
          opened.write(({ run }) => run("UPDATE jobs SET dead_at = 1 WHERE app_id = 'dead'", []) as Promise<unknown>),
        )
        const { clock } = h.service.house.tools
        const moment = { due: clock.now(), now: Math.floor(Date.now() / 1000) }
        const plans = await plansOf(h, app, async ({ db }) => {
          const connection = connectionUnder(db)
          const definitions = new Map([[outside.name, outside]])
          const destinations = createDestinations({ reader: connection }, createOutsidePlaces(definitions))
          const rota = createRota({ reader: connection }, 'outside')
          const ways = await rota.next(moment, (waiting) => destinations.choose(moment, waiting, 32))
          const found = ways.map(({ appId, destination }) => `${appId} ${destination}`)
          const to = (name: string) => `${app.id} ${destinationOf('outside', outside.name, name)}`
          assert.deepEqual([...new Set(found)].toSorted(), [to('deaf'), to('other')])
          const line = { lane: 'outside', destination: destinationOf('outside', outside.name, 'other') } as const
          assert.equal((await claimSome(tenantDb(connection, app.id), line, moment, 10)).length, 10)
        })
        assertReadsLittle(plans)
      })
    })

    it('are found without reading what is queued', async () => {
      const { inside } = jobsIn([])
      await withHouse(database, [], async (h) => {
        const app = await h.app('small')
        await queue(h, 'a-flood', inside, 20_000)
        await queue(h, app.id, inside, 1)
        const { clock } = h.service.house.tools
        const moment = { due: clock.now(), now: Math.floor(Date.now() / 1000) }
        const plans = await plansOf(h, app, async ({ db }) => {
          const connection = connectionUnder(db)
          const rota = createRota({ reader: connection }, 'inside')
          assert.deepEqual(await appsWaitingIn(rota, moment), [app.id, 'a-flood'].toSorted())
          const claimed = await claimSome(
            tenantDb(connection, 'a-flood'),
            { lane: 'inside', destination: '' },
            moment,
            10,
          )
          assert.equal(claimed.length, 10)
        })
        assertReadsLittle(plans)
      })
    })

    it('sort what an earlier version has queued into its lane', async () => {
      const { bulk, inside, outside } = jobsIn([])
      await withHouse(database, [], async (h) => {
        const unsorted = { key: 'one', payload: '{"n":1}', run_at: 0 }
        const moved = { lane: 'outside' as const, destination: 'test.inside/' }
        const named = { ...unsorted, name: outside.name, key: 'two', lane: 'outside' as const, destination: 'x/y' }
        await inApp(h, 'a', async ({ db }) => {
          for (const { name } of [bulk, outside]) await db.insert('jobs', [{ name, ...unsorted }]).execute()
          await db.insert('jobs', [{ name: inside.name, ...unsorted, ...moved }]).execute()
          await db.insert('jobs', [named]).execute()
        })
        await nodeWith(h, bulk, inside, outside).sortIntoLanes()
        const { rows } = await acrossApps(async () =>
          h.service.house.database.reader.run('SELECT name, lane, destination FROM jobs ORDER BY name, key', []),
        )
        const places = (rows as { name: string; lane: JobLane; destination: string }[]).map(Object.values)
        assert.deepEqual(places, [
          ['test.bulk', 'bulk', ''],
          ['test.inside', 'inside', ''],
          ['test.outside', 'outside', 'test.outside/'],
          ['test.outside', 'outside', 'x/y'],
        ])
      })
    })
  })
}

/** Jobs of an app that are due. */
async function waitingIn({ service, clock }: House, { id }: AppClient): Promise<number> {
  const { database, tools } = service.house
  const rows = await workIn(database.reader, id, tools)
    .db.select('jobs')
    .select('jobs.key')
    .where('jobs.run_at', '<=', clock.now())
    .execute()
  return rows.length
}

async function appsWaitingIn(rota: Rota, moment: JobTimes): Promise<string[]> {
  const turns = await rota.next(moment, ({ apps }) => apps.map((appId) => ({ appId })))
  return turns.map(({ appId }) => appId).toSorted()
}
