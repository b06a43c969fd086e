import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Abusers, abusersOf, type Outcome } from './support/abuse/abusers.ts'
import { type Bystanders, type Sample, startBystanders } from './support/abuse/bystanders.ts'
import { type Case, casesByArea } from './support/abuse/cases.ts'
import { enterStage, fill } from './support/abuse/stage.ts'
import { type DatabaseName, databases } from './support/databases.ts'
import { canBeAsked, residentBytesOfTree } from './support/processes.ts'
import { type AppOnDisk, type Install, install, type ServerProcess } from './support/server-process.ts'

/**
 * End users with valid auth tokens do the most expensive thing that every operation allows, alone and all together, in an
 * app of 100,000 users and 100,000 messages. Users of another app notice little of it, and memory stays within its bound.
 */

const p99MillisecondsMax = 250
const aloneMilliseconds = 250
const togetherMilliseconds = 12_000

// A machine that takes so long while nothing is abused has too much else to do to tell anything. In CI it has not.
const calmMillisecondsMax = 50
const calmMilliseconds = 2_000

/**
 * What the server and its children may hold at once beyond what the server holds before: a decoder of pictures (640 MB),
 * two readers (100 MB each), and for itself what it holds for clients (256 MB) and as much again for its work.
 */
const megabyte = 1_000_000
const grownBytesMax = (640 + 2 * 100 + 2 * 256) * megabyte

// The limits of an app would refuse most of it, and then nothing would be shown. Those of users stay as they are.
const limits = { PARLEY_LIMIT_CORE: '1000000000', PARLEY_LIMIT_STANDARD: '1000000000' }
// Other tests make do with fewer than a server has.
const connections = { PARLEY_DATABASE_CONNECTIONS: '10' }

const tooBusy = 'the machine has too much else to do'

interface Filled {
  site: Install
  app: AppOnDisk
  other: AppOnDisk
}

const filled = new Map<DatabaseName, Filled>()

// At the same time: the one computes while the other waits.
before(() => Promise.all(databases.map(fillNew)))
after(() => Promise.all([...filled.values()].map(({ site }) => site.remove())))

async function fillNew(database: DatabaseName): Promise<void> {
  const site = await install(database, { ...limits, ...connections })
  const app = await site.createApp('abused')
  const other = await site.createApp('other')
  filled.set(database, { site, app, other })
  await fill(site, app)
}

for (const database of databases) {
  describe(`abuse on ${database}`, () => {
    let server: ServerProcess
    let abusers: Abusers
    let bystanders: Bystanders
    let memory: Memory
    let isCalm: boolean

    before(async () => {
      const { site, app, other } = filled.get(database) as Filled
      server = await site.start()
      abusers = abusersOf(app, server, await enterStage(app, server))
      const ca = readFileSync(join(site.environment.PARLEY_DATA ?? '', 'ca.pem'), 'utf8')
      bystanders = await startBystanders(other, server, ca)
      memory = watchMemory(server.pid)
      await pause(calmMilliseconds)
      isCalm = process.env.CI === 'true' || judged([], await bystanders.tell()).p99 < calmMillisecondsMax
    })
    after(async () => {
      memory?.stop()
      await bystanders?.stop()
      await server?.kill()
    })

    for (const [area, cases] of casesByArea()) {
      it(`lets nobody else wait for what users do with ${area}`, async (test) => {
        await requireCalm(test, () => alone(cases), requireWork)
      })
    }

    it('lets nobody else wait while users do all of it at once', async (test) => {
      await requireCalm(test, together, ({ outcomes }) => {
        for (const { abuse, undeclared } of outcomes) assert.deepEqual(undeclared, [], nameOf(abuse))
      })
    })

    it('has stayed within its memory', { skip: !canBeAsked }, (test) => {
      const { before, peak, now } = memory.figures()
      test.diagnostic(`${inMegabytes(before)} before, ${inMegabytes(peak)} at most, ${inMegabytes(now)} now`)
      assert.ok(peak - before < grownBytesMax, `it has grown by ${inMegabytes(peak - before)}`)
    })

    /** A machine can be slow for a moment; what takes long twice is what was asked. */
    async function requireCalm(
      test: TestContext,
      abuse: () => Promise<Watched>,
      requireDone: (watched: Watched) => void,
    ): Promise<void> {
      const first = await abuse()
      tell(test, first)
      requireDone(first)
      if (!isCalm) return test.skip(tooBusy)
      if (first.p99 < p99MillisecondsMax) return requirePatience(first)
      const second = await abuse()
      tell(test, second)
      requirePatience(second)
    }

    async function together(): Promise<Watched> {
      await bystanders.tell()
      const outcomes = await abusers.mix([...casesByArea().values()].flat(), togetherMilliseconds)
      return judged(outcomes, await bystanders.tell())
    }

    async function alone(cases: Case[]): Promise<Watched> {
      await bystanders.tell()
      const outcomes: Outcome[] = []
      for (const one of cases) outcomes.push(await abusers.repeat(one, aloneMilliseconds))
      return judged(outcomes, await bystanders.tell())
    }
  })
}

interface Memory {
  figures(): { before: number; peak: number; now: number }
  stop(): void
}

function watchMemory(pid: number): Memory {
  const before = residentBytesOfTree(pid)
  let peak = before
  const look = () => {
    const now = residentBytesOfTree(pid)
    peak = Math.max(peak, now)
    return now
  }
  const timer = setInterval(look, 100)
  return { figures: () => ({ now: look(), before, peak }), stop: () => clearInterval(timer) }
}

function inMegabytes(bytes: number): string {
  return `${Math.round(bytes / megabyte)} MB`
}

/** What abusers did, and what others met with meanwhile, the slowest first. */
interface Watched {
  outcomes: Outcome[]
  samples: Sample[]
  p99: number
}

function judged(outcomes: Outcome[], samples: Sample[]): Watched {
  const sorted = samples.toSorted((a, b) => b.milliseconds - a.milliseconds)
  return { outcomes, samples: sorted, p99: sorted[Math.floor(sorted.length / 100)]?.milliseconds ?? 0 }
}

const nameOf = ({ operation, most }: Case) => `${operation.id}: ${most}`

const slowestTold = 5
const fewCases = 3

function tell(test: TestContext, { outcomes, samples, p99 }: Watched): void {
  test.diagnostic(`${samples.length} requests of others, p99 ${Math.round(p99)} ms`)
  for (const { what, at, milliseconds } of samples.slice(0, slowestTold)) {
    const during = outcomes.filter(({ from, to }) => from <= at + milliseconds && at <= to)
    const names = during.length > fewCases ? 'all of it' : during.map(({ abuse }) => nameOf(abuse)).join(', then ')
    test.diagnostic(`${Math.round(milliseconds)} ms to ${what}, during ${names}`)
  }
}

function requirePatience({ samples, p99 }: Watched): void {
  assert.deepEqual(
    samples.filter(({ status }) => status !== 200),
    [],
  )
  assert.ok(p99 < p99MillisecondsMax, `the slowest of a hundred took ${Math.round(p99)} ms`)
}

/** Nothing is shown by what is refused, unless that is the point. */
function requireWork({ outcomes }: Watched): void {
  for (const { abuse, statuses, hasWorked, undeclared } of outcomes) {
    assert.deepEqual(undeclared, [], nameOf(abuse))
    assert.ok(hasWorked, `${nameOf(abuse)} was only answered ${JSON.stringify(statuses)}`)
  }
}
