import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { pino } from 'pino'
import { areas } from '../server/src/areas/index.ts'
import { workIn } from '../server/src/common/work-in.ts'
import { openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { backUp } from '../server/src/install/backup.ts'
import { type Area, area } from '../server/src/kit/area.ts'
import { defineEvent } from '../server/src/kit/event.ts'
import { type FollowedEvent, type Follower, follower } from '../server/src/kit/follower.ts'
import { job } from '../server/src/kit/job.ts'
import { Type } from '../server/src/kit/schema.ts'
import type { Work } from '../server/src/kit/work.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { createFollowers, type Followers } from '../server/src/workers/followers.ts'
import { createHousekeeping } from '../server/src/workers/housekeeping.ts'
import { type DatabaseName, databases, freshDatabase } from './support/databases.ts'
import { type House, house } from './support/house.ts'
import { parleyHere } from './support/parley.ts'
import { acrossApps } from './support/tripwire.ts'
import { settleUntil, until } from './support/until.ts'

const appId = 'app'
const payload = Type.Object({ n: Type.Integer() })
const audience = () => []
const ticked = defineEvent({ name: 'test.ticked', payload, audience })
const echoed = defineEvent({ name: 'test.echoed', payload, audience })

const card = (parts: Partial<Area>): Area[] => [
  area({ name: 'test', about: 'Works for tests.', events: [ticked, echoed], ...parts }),
]

type Tick = FollowedEvent<typeof ticked>
const reader = (name: string, handle: (event: Tick, work: Work) => Promise<void>) =>
  follower({ name, on: [ticked], handle })

async function withHouse(database: DatabaseName, areas: Area[], work: (h: House) => Promise<void>): Promise<void> {
  const h = await house({ database, areas })
  try {
    await work(h)
  } finally {
    await h.close()
  }
}

type OpenHouse = House['service']['house']
/** All that is needed to write to the log. */
type InHouse = { service: { house: OpenHouse } }

const silentLog = pino({ level: 'silent' })

/** The followers of one more node on the same database; the house itself knows nothing of them. */
function nodeWith({ database, tools }: OpenHouse, ...followers: Follower[]): Followers {
  return createFollowers(database, card({ followers }), () => tools, silentLog)
}

/** Lets a node read whatever is there, without noting how far it came. */
async function readAll(node: Followers): Promise<void> {
  await until('the log is read', async () => !(await node.run()) && !(await node.isBehind()))
}

/** Lets real time, by which leases run, jump so far that all of them have run out. */
function leasesRunOut({ mock }: TestContext): void {
  const later = Date.now() + 20_000
  const since = performance.now()
  mock.method(Date, 'now', () => Math.floor(later + performance.now() - since))
}

async function positionOf({ database }: OpenHouse, name: string) {
  return database.reader.query.selectFrom('followers').select('id').where('name', '=', name).executeTakeFirst()
}

/** More than one batch of events that no follower here wants. */
function emitUnwanted(h: House): Promise<void> {
  return inApp(h, async ({ emit }) => {
    for (const n of numbersUpTo(150)) await emit(echoed, { n })
  })
}

/** Something done in one transaction of the app. */
function inApp(h: InHouse, work: (work: Work) => Promise<void>): Promise<void> {
  const { database, tools } = h.service.house
  return database.write((connection) => work(workIn(connection, appId, tools)))
}

const numbersUpTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

function tick(h: InHouse, numbers: number[]): Promise<void> {
  return inApp(h, async ({ emit }) => {
    for (const n of numbers) await emit(ticked, { n })
  })
}

async function eventsNamed(h: House, name: string): Promise<number[]> {
  const rows = await tenantDb(h.service.house.database.reader, appId)
    .select('events')
    .select('events.payload')
    .where('events.name', '=', name)
    .orderBy('events.id')
    .execute()
  return rows.map((row) => JSON.parse(row.payload).n)
}

async function jobRows(h: House) {
  return [...(await tenantDb(h.service.house.database.reader, appId).select('jobs').selectAll().execute())]
}

function advance(h: House, seconds: number): void {
  h.clock.setOffset(h.clock.offsetSeconds() + seconds)
}

const hour = 3_600
const day = 24 * hour

for (const database of databases) {
  describe(`followers on ${database}`, () => {
    it('retries one that fails, and lets the others go on meanwhile', async () => {
      const seen: Record<string, number[]> = { healthy: [], ailing: [] }
      let failures = 0
      let broken = true
      const followers = [
        reader('test.ailing', async ({ payload: { n } }) => {
          if (broken) {
            failures += 1
            throw new Error('out of order on purpose')
          }
          seen.ailing?.push(n)
        }),
        reader('test.healthy', async ({ payload: { n } }) => void seen.healthy?.push(n)),
      ]
      await withHouse(database, card({ followers }), async (h) => {
        await tick(h, [1, 2])
        await settleUntil(h, 'the healthy one has read', () => seen.healthy?.length === 2)
        await tick(h, [3])
        await settleUntil(h, 'the healthy one reads on', () => seen.healthy?.length === 3)
        await settleUntil(h, 'the ailing one was tried again', () => failures >= 2)
        assert.deepEqual(seen, { healthy: [1, 2, 3], ailing: [] })
        broken = false
        await settleUntil(h, 'the ailing one has caught up', () => seen.ailing?.length === 3)
        assert.deepEqual(seen, { healthy: [1, 2, 3], ailing: [1, 2, 3] })
      })
    })

    it('repeats nothing after a break in the middle of a batch: effect and position commit together', async () => {
      const all = numbersUpTo(250)
      const breaksAt = 150
      const attempts = new Map<number, number>()
      const echo = reader('test.echo', async ({ payload: { n } }, { emit }) => {
        attempts.set(n, (attempts.get(n) ?? 0) + 1)
        await emit(echoed, { n })
        if (n === breaksAt && attempts.get(n) === 1) throw new Error('broken after the write, on purpose')
      })
      await withHouse(database, card({ followers: [echo] }), async (h) => {
        await tick(h, all)
        await settleUntil(
          h,
          'everything is echoed',
          async () => (await eventsNamed(h, echoed.name)).length >= all.length,
        )
        assert.deepEqual(await eventsNamed(h, echoed.name), all)
        assert.equal(attempts.get(breaksAt), 2, 'the batch that broke was tried again')
        assert.equal(attempts.get(1), 1, 'the batch before it was not')
      })
    })
  })

  describe(`what followers are given on ${database}`, () => {
    it('is what they want by definition, and the definition with it', async () => {
      const told: [name: string, definition: unknown, n: number][] = []
      const webhooks = follower({
        name: 'test.webhooks',
        on: (event) => event.webhook !== undefined,
        handle: async ({ definition, payload }) =>
          void told.push([definition.name, definition, (payload as { n: number }).n]),
      })
      const rung = defineEvent({
        ...{ name: 'test.rung', payload, audience },
        webhook: { trigger: 'rung', body: ({ n }) => ({ n }) },
      })
      const parts = card({ events: [ticked, echoed, rung], followers: [webhooks] })
      await withHouse(database, parts, async (h) => {
        await inApp(h, async ({ emit }) => {
          await emit(ticked, { n: 1 })
          await emit(rung, { n: 2 })
          await emit(rung, { n: 3 })
        })
        await settleUntil(h, 'all is told', () => told.length >= 2)
        assert.deepEqual(told, [
          ['test.rung', rung, 2],
          ['test.rung', rung, 3],
        ])
      })
    })

    it('begins at the start of the log, or with what happens from now on', async () => {
      const seen: Record<string, number[]> = { start: [], now: [] }
      const readers = (['start', 'now'] as const).map((from) =>
        follower({
          ...{ name: `test.from-${from}`, on: [ticked], from },
          handle: async ({ payload: { n } }) => void seen[from]?.push(n),
        }),
      )
      await withHouse(database, card({}), async (h) => {
        await tick(h, [1, 2])
        const node = nodeWith(h.service.house, ...readers)
        await readAll(node)
        assert.deepEqual(seen, { start: [1, 2], now: [] })
        // A node that ends here leaves what comes next to its heir, however late that one begins.
        await node.release()
        await tick(h, [3])
        await readAll(nodeWith(h.service.house, ...readers))
        assert.deepEqual(seen, { start: [1, 2, 3], now: [3] })
      })
    })
  })

  // On the embedded database there is one writer, and whoever takes long inside a transaction has it.
  if (database === 'postgres') {
    describe(`a follower that takes long on ${database}`, () => {
      it('delays itself, and neither other followers nor jobs', async () => {
        const opened = Promise.withResolvers<void>()
        const seen: Record<string, number[]> = { slow: [], quick: [], jobs: [] }
        const note = job({
          name: 'test.note',
          payload,
          attemptsMax: 3,
          async run({ n }) {
            seen.jobs?.push(n)
            return undefined
          },
        })
        const followers = [
          reader('test.slow', async ({ payload: { n } }) => {
            await opened.promise
            seen.slow?.push(n)
          }),
          reader('test.quick', async ({ payload: { n } }, { later }) => {
            seen.quick?.push(n)
            await later(note, { n }, { key: `${n}` })
          }),
        ]
        await withHouse(database, card({ followers, jobs: [note] }), async (h) => {
          for (const n of [1, 2, 3]) {
            await tick(h, [n])
            h.service.house.database.wake()
            await until('the others have gone on', () => seen.jobs?.length === n)
          }
          assert.deepEqual(seen, { slow: [], quick: [1, 2, 3], jobs: [1, 2, 3] })
          opened.resolve()
          await settleUntil(h, 'the slow one has caught up', () => seen.slow?.length === 3)
          assert.deepEqual(seen.slow, [1, 2, 3])
        })
      })
    })
  }

  describe(`followers between nodes on ${database}`, () => {
    const recorder = (seen: number[]) => reader('test.recorder', async ({ payload: { n } }) => void seen.push(n))

    it('go on when a lease is handed over and comes back', async (t) => {
      const seen: number[] = []
      await withHouse(database, card({}), async (h) => {
        const [one, other] = [recorder(seen), recorder(seen)].map((each) => nodeWith(h.service.house, each))
        assert.ok(one && other)
        for (const [n, node] of [one, other, one, other].entries()) {
          await tick(h, [n])
          await emitUnwanted(h)
          await readAll(node)
          assert.deepEqual(
            seen,
            numbersUpTo(n + 1).map((each) => each - 1),
          )
          leasesRunOut(t)
        }
        await readAll(one)
        for (const node of [one, other]) await node.note()
        const noted = await positionOf(h.service.house, 'test.recorder')
        await tick(h, [4])
        await readAll(one)
        assert.deepEqual(seen, [0, 1, 2, 3, 4])
        assert.notDeepEqual(await positionOf(h.service.house, 'test.recorder'), noted)
      })
    })

    it('are noted, all but one that another node has moved on meanwhile', async (t) => {
      const seen: number[] = []
      await withHouse(database, card({}), async (h) => {
        const idle = reader('test.untouched', async () => {})
        const one = nodeWith(h.service.house, recorder(seen), idle)
        const other = nodeWith(h.service.house, recorder(seen))
        await emitUnwanted(h)
        await readAll(one)
        assert.equal(await positionOf(h.service.house, 'test.untouched'), undefined)
        leasesRunOut(t)
        await tick(h, [1])
        await readAll(other)
        const moved = await positionOf(h.service.house, 'test.recorder')
        assert.ok(moved)

        await one.note()
        assert.ok(await positionOf(h.service.house, 'test.untouched'), 'the others are noted')
        assert.deepEqual(await positionOf(h.service.house, 'test.recorder'), moved, 'and the moved one stays')
        leasesRunOut(t)
        await tick(h, [2])
        await readAll(one)
        assert.deepEqual(seen, [1, 2])
      })
    })

    it('note by themselves from time to time, so that those who are killed again and again still get on', async () => {
      await withHouse(database, card({}), async (h) => {
        const node = nodeWith(h.service.house, recorder([]))
        await emitUnwanted(h)
        await readAll(node)
        assert.equal(await positionOf(h.service.house, 'test.recorder'), undefined, 'not for a few')
        await emitUnwanted(h)
        await readAll(node)
        assert.ok(await positionOf(h.service.house, 'test.recorder'))
      })
    })

    it('repeat and skip nothing when a node ends before it has noted', async (t) => {
      const seen: number[] = []
      await withHouse(database, card({}), async (h) => {
        const doomed = nodeWith(h.service.house, recorder(seen))
        await tick(h, [1, 2])
        await readAll(doomed)
        const before = await positionOf(h.service.house, 'test.recorder')
        await emitUnwanted(h)
        await readAll(doomed)
        assert.deepEqual(await positionOf(h.service.house, 'test.recorder'), before, 'nothing was noted')

        leasesRunOut(t)
        await tick(h, [3])
        const heir = nodeWith(h.service.house, recorder(seen))
        await readAll(heir)
        assert.deepEqual(seen, [1, 2, 3])
      })
    })

    it('repeat and skip nothing after a restore from a backup made before they were noted', async () => {
      const seen: number[] = []
      const folder = mkdtempSync(join(tmpdir(), 'parley-noted-'))
      const fresh = await freshDatabase(database)
      const { PARLEY_MASTER_KEY: _, ...environment } = fresh.environment
      await withHouse(database, card({}), async (h) => {
        const node = nodeWith(h.service.house, recorder(seen))
        await tick(h, [1, 2])
        await readAll(node)
        await emitUnwanted(h)
        await readAll(node)
        await tick(h, [3])
        await acrossApps(() => backUp(h.service.house, join(folder, 'unnoted.backup'), true))
      })
      const { code, stderr } = await parleyHere(['restore', '--from', join(folder, 'unnoted.backup')], environment)
      assert.equal(code, 0, stderr)
      const restored = await openHouse(readConfig(environment), silentLog, { areas: [...areas, ...card({})] })
      try {
        const node = nodeWith(restored, recorder(seen))
        await readAll(node)
        assert.deepEqual(seen, [1, 2, 3])
        await tick({ service: { house: restored } }, [4])
        await readAll(node)
        assert.deepEqual(seen, [1, 2, 3, 4])
      } finally {
        await restored.close()
        await fresh.drop()
        rmSync(folder, { recursive: true })
      }
    })
  })

  describe(`jobs on ${database}`, () => {
    it('run at their time by the clock, once', async () => {
      const ran: number[] = []
      const once = job({
        name: 'test.once',
        payload,
        attemptsMax: 3,
        async run({ n }) {
          ran.push(n)
          return undefined
        },
      })
      await withHouse(database, card({ jobs: [once] }), async (h) => {
        await inApp(h, ({ later, now }) => later(once, { n: 1 }, { key: 'a', at: now + hour }))
        await h.settle()
        assert.deepEqual(ran, [])
        advance(h, hour)
        await h.settle()
        await h.settle()
        assert.deepEqual(ran, [1])
        assert.deepEqual(await jobRows(h), [])
      })
    })

    it('rest from bulk work four times as long as it took, and let others go on', async ({ mock }) => {
      const batches = 4
      const workMilliseconds = 20
      let [worked, passed] = [0, 0]
      // What work takes is told by this clock, which stands still while nobody works and nobody moves it.
      let now = performance.now()
      const bulk = job({
        name: 'test.bulk',
        payload,
        attemptsMax: 3,
        bulk: true,
        async run({ n }, work) {
          now += workMilliseconds
          worked += 1
          return n === 1 ? undefined : { againAt: work.now, payload: { n: n - 1 } }
        },
      })
      const light = job({
        name: 'test.light',
        payload,
        attemptsMax: 3,
        async run() {
          passed += 1
          return undefined
        },
      })
      await withHouse(database, card({ jobs: [bulk, light] }), async (h) => {
        /** Whoever is woken has looked around by the time that somebody else has come and gone. */
        async function letPass(): Promise<void> {
          const before = passed
          await inApp(h, ({ later }) => later(light, { n: 1 }, { key: `light ${before}` }))
          h.service.house.database.wake()
          await until('the light one is done', () => passed > before)
        }
        mock.method(performance, 'now', () => now)
        await inApp(h, ({ later }) => later(bulk, { n: batches }, { key: 'a' }))
        h.service.house.database.wake()
        for (const n of numbersUpTo(batches)) {
          await until(`batch ${n} is done`, () => worked >= n)
          await letPass()
          now += 2 * workMilliseconds
          await letPass()
          assert.equal(worked, n, 'half of the rest is not enough')
          now += 2 * workMilliseconds
        }
        await until('nothing is left', async () => (await jobRows(h)).length === 0)
        assert.equal(worked, batches)
        mock.restoreAll()
      })
    })

    it('prepare outside their transaction, a few at once, while others go on', async () => {
      const prepared: number[] = []
      const ran: number[] = []
      let atOnce = 0
      let most = 0
      let open = () => {}
      const opened = new Promise<void>((resolve) => {
        open = resolve
      })
      const slow = job({
        name: 'test.slow',
        payload,
        attemptsMax: 3,
        async prepare({ n }) {
          prepared.push(n)
          atOnce += 1
          most = Math.max(most, atOnce)
          await opened
          atOnce -= 1
          if (n === 3 && prepared.filter((each) => each === 3).length === 1) throw new Error('not this time')
          return n * 10
        },
        async run(_, __, given) {
          ran.push(given ?? 0)
          return undefined
        },
      })
      const quick = job({
        name: 'test.quick',
        payload,
        attemptsMax: 3,
        async run({ n }) {
          ran.push(n)
          return undefined
        },
      })
      await withHouse(database, card({ jobs: [slow, quick] }), async (h) => {
        await inApp(h, async ({ later }) => {
          for (const n of numbersUpTo(9)) await later(slow, { n }, { key: `${n}` })
          await later(quick, { n: 1 }, { key: 'a' })
        })
        await until('the quick one has run', () => ran.includes(1))
        assert.deepEqual(ran, [1], 'the slow ones are still at it')
        open()
        await h.settle()
        advance(h, hour)
        await settleUntil(h, 'all have run', () => ran.length === 10)
        assert.deepEqual(
          ran.toSorted((a, b) => a - b),
          [1, ...numbersUpTo(9).map((n) => n * 10)],
        )
        assert.ok(most > 1 && most <= 4, `${most} at once`)
        assert.equal(prepared.length, 10, 'the one that failed was prepared again')
        assert.deepEqual(await jobRows(h), [])
      })
    })

    it('are queued once under a key, with the first time and payload', async () => {
      const ran: number[] = []
      const once = job({
        name: 'test.keyed',
        payload,
        attemptsMax: 3,
        async run({ n }) {
          ran.push(n)
          return undefined
        },
      })
      await withHouse(database, card({ jobs: [once] }), async (h) => {
        const queue = (n: number, inSeconds: number) =>
          inApp(h, ({ later, now }) => later(once, { n }, { key: 'same', at: now + inSeconds }))
        await queue(1, hour)
        await Promise.all([queue(2, 0), queue(3, 2 * hour)])
        assert.equal((await jobRows(h)).length, 1)
        await h.settle()
        assert.deepEqual(ran, [])
        advance(h, 3 * hour)
        await h.settle()
        assert.deepEqual(ran, [1])
      })
    })

    it('leave nothing behind when they fail, wait longer each time, and end dead and visible', async () => {
      const attemptsAt: number[] = []
      const doomed = job({
        name: 'test.doomed',
        payload,
        attemptsMax: 3,
        async run({ n }, { now, emit }) {
          attemptsAt.push(now)
          await emit(echoed, { n })
          throw new Error('cannot work, on purpose')
        },
      })
      await withHouse(database, card({ jobs: [doomed] }), async (h) => {
        await inApp(h, ({ later }) => later(doomed, { n: 1 }, { key: 'a' }))
        for (let failures = 1; failures <= doomed.attemptsMax; failures += 1) {
          await h.settle()
          assert.ok(attemptsAt.length >= failures)
          advance(h, 2 ** failures)
        }
        const [first = 0, second = 0, third = 0] = attemptsAt
        assert.ok(second - first >= 2, `tried again after ${second - first} s`)
        assert.ok(third - second >= 4, `tried again after ${third - second} s`)

        advance(h, day)
        await h.settle()
        assert.equal(attemptsAt.length, doomed.attemptsMax)
        const [row] = await jobRows(h)
        assert.equal(row?.attempts, doomed.attemptsMax)
        assert.ok(row?.dead_at)
        assert.match(row?.last_error ?? '', /cannot work, on purpose/)
        assert.deepEqual(await eventsNamed(h, echoed.name), [])
      })
    })

    it('live on under the same key when they ask to run again', async () => {
      const ranAt: number[] = []
      const pulse = job({
        name: 'test.pulse',
        payload,
        attemptsMax: 2,
        async run(_, { now }) {
          ranAt.push(now)
          return ranAt.length < 4 ? { againAt: now + hour } : undefined
        },
      })
      await withHouse(database, card({ jobs: [pulse] }), async (h) => {
        await inApp(h, ({ later }) => later(pulse, { n: 1 }, { key: 'a' }))
        for (let runs = 1; runs < 4; runs += 1) {
          await h.settle()
          assert.equal(ranAt.length, runs)
          const [row] = await jobRows(h)
          assert.equal(row?.run_at, (ranAt.at(-1) ?? 0) + hour)
          assert.equal(row?.attempts, 0, 'a run that went well does not count as an attempt')
          advance(h, hour)
        }
        await h.settle()
        assert.equal(ranAt.length, 4)
        assert.deepEqual(await jobRows(h), [])
      })
    })
  })

  describe(`housekeeping on ${database}`, () => {
    it('drops events that are past their time and behind the slowest follower, and no others', async () => {
      const read = { quick: 0, slow: 0 }
      let stuck = false
      const followers = [
        reader('test.quick', async () => {
          read.quick += 1
        }),
        reader('test.slow', async () => {
          if (stuck) throw new Error('stuck on purpose')
          read.slow += 1
        }),
      ]
      await withHouse(database, card({ followers }), async (h) => {
        const { database: log, areas: allAreas, tools } = h.service.house
        const retentionDays = 7
        const clean = createHousekeeping(log, allAreas, () => tools, retentionDays)
        const left = () => eventsNamed(h, ticked.name)

        await tick(h, [1, 2])
        await settleUntil(h, 'both have read', () => read.quick === 2 && read.slow === 2)
        stuck = true
        await tick(h, [3, 4])
        await settleUntil(h, 'the quick one has read on', () => read.quick === 4)

        await clean()
        assert.deepEqual(await left(), [1, 2, 3, 4], 'nothing is old yet')
        advance(h, (retentionDays + 1) * day)
        await clean()
        assert.deepEqual(await left(), [3, 4], 'the slow one still has to read these')
        stuck = false
        await tick(h, [5])
        await settleUntil(h, 'the slow one has caught up', () => read.slow === 5)
        await clean()
        assert.deepEqual(await left(), [5], 'late readers may still come for what is young')
      })
    })

    it('drops nothing while a follower has never read', async () => {
      let handled = 0
      const never = reader('test.never', async () => {
        handled += 1
        throw new Error('cannot begin, on purpose')
      })
      await withHouse(database, card({ followers: [never] }), async (h) => {
        const { database: log, areas, tools } = h.service.house
        await tick(h, [1])
        await settleUntil(h, 'it has tried', () => handled > 0)
        advance(h, 30 * day)
        await createHousekeeping(log, areas, () => tools, 1)()
        assert.deepEqual(await eventsNamed(h, ticked.name), [1])
      })
    })
  })
}
