import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { type Abusers, abusersOf, type Outcome } from './support/abuse/abusers.ts'
import { type Bystanders, type Sample, startBystanders } from './support/abuse/bystanders.ts'
import { type Case, casesByArea } from './support/abuse/cases.ts'
import { enterStage, fill } from './support/abuse/stage.ts'
import { databases } from './support/databases.ts'
import { canBeAsked, residentBytesOfTree } from './support/processes.ts'
import { type Install, install, type ServerProcess } from './support/server-process.ts'

/**
 * End users with valid auth tokens do the most expensive thing that every operation allows, alone and all together, in an
 * app of 100,000 users and 100,000 messages. Users of another app notice little of it, and memory stays within its bound.
 */

const p99MillisecondsMax = 250
const aloneMilliseconds = 600
const togetherMilliseconds = 20_000

/**
 * What the server and its children may hold at once beyond what they hold when nothing is asked of them.
 */
const megabyte = 1_000_000
const grownBytesMax = 1_500 * megabyte

// The limits of an app would refuse most of it, and then nothing would be shown. Those of users stay as they are.
const limits = { PARLEY_LIMIT_CORE: '1000000000', PARLEY_LIMIT_STANDARD: '1000000000' }
const usual = { PARLEY_DATABASE_CONNECTIONS: '10' }

for (const database of databases) {
  describe(`abuse on ${database}`, () => {
    let site: Install
    let server: ServerProcess
    let abusers: Abusers
    let bystanders: Bystanders
    let memory: { before: number; peak: number }
    let timer: NodeJS.Timeout

    before(async () => {
      site = await install(database, { ...limits, ...usual })
      const app = await site.createApp('abused')
      const other = await site.createApp('other')
      await fill(site, app)
      server = await site.start()
      const ca = readFileSync(join(site.environment.PARLEY_DATA ?? '', 'ca.pem'), 'utf8')
      abusers = abusersOf(app, server, await enterStage(app, server))
      bystanders = await startBystanders(other, server, ca)
      const held = residentBytesOfTree(server.pid)
      memory = { before: held, peak: held }
      timer = setInterval(() => {
        memory.peak = Math.max(memory.peak, residentBytesOfTree(server.pid))
      }, 100)
    })
    after(async () => {
      clearInterval(timer)
      await bystanders?.stop()
      await site?.remove()
    })

    for (const [area, cases] of casesByArea()) {
      it(`lets nobody else wait for what users do with ${area}`, async (test) => {
        const first = await alone(cases)
        report(test, first)
        const slow = first.p99 > p99MillisecondsMax ? await alone(cases) : first
        if (slow !== first) report(test, slow)
        requireAnswers(first.outcomes)
        requirePatience(slow)
      })
    }

    it('lets nobody else wait while users do all of it at once', async (test) => {
      const cases = [...casesByArea().values()].flat()
      await bystanders.tell()
      const outcomes = await abusers.mix(cases, togetherMilliseconds)
      const watched = judged(outcomes, await bystanders.tell())
      report(test, watched)
      requirePatience(watched)
    })

    it('stays within its memory', { skip: !canBeAsked }, (test) => {
      const now = residentBytesOfTree(server.pid)
      const inMegabytes = (bytes: number) => `${Math.round(bytes / megabyte)} MB`
      test.diagnostic(`${inMegabytes(memory.before)} before, ${inMegabytes(memory.peak)} at most, ${inMegabytes(now)} now`)
      assert.ok(memory.peak - memory.before < grownBytesMax, `it has grown to ${inMegabytes(memory.peak)}`)
    })

    async function alone(cases: Case[]): Promise<Watched> {
      await bystanders.tell()
      const outcomes: Outcome[] = []
      for (const one of cases) {
        const outcome = await abusers.repeat(one, aloneMilliseconds)
        console.log(one.operation.id, '|', one.most.slice(0, 50), '|', outcome.to - outcome.from, JSON.stringify([...outcome.statuses]), outcome.undeclared[0] ?? '')
        outcomes.push(outcome)
      }
      return judged(outcomes, await bystanders.tell())
    }
  })
}

interface Watched {
  outcomes: Outcome[]
  samples: Sample[]
  p99: number
}

function judged(outcomes: Outcome[], samples: Sample[]): Watched {
  const sorted = samples.toSorted((a, b) => b.milliseconds - a.milliseconds)
  return { outcomes, samples: sorted, p99: sorted[Math.floor(sorted.length / 100)]?.milliseconds ?? 0 }
}

const slowestCount = 5

function report(test: TestContext, { outcomes, samples, p99 }: Watched): void {
  const answers = outcomes.reduce((sum, { statuses }) => sum + [...statuses.values()].reduce((a, b) => a + b, 0), 0)
  test.diagnostic(`${samples.length} requests of others, p99 ${Math.round(p99)} ms, beside ${answers} of abuse`)
  for (const { what, at, milliseconds } of samples.slice(0, slowestCount)) {
    const during = outcomes.filter(({ from, to }) => from <= at + milliseconds && at <= to)
    const names = during.length > 3 ? 'all of it' : during.map(({ abuse }) => `${abuse.operation.id}, ${abuse.most}`).join('; ')
    test.diagnostic(`${what} took ${Math.round(milliseconds)} ms during ${names}`)
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
function requireAnswers(outcomes: Outcome[]): void {
  for (const { abuse, statuses, undeclared } of outcomes) {
    const name = `${abuse.operation.id}, ${abuse.most}`
    assert.deepEqual(undeclared, [], name)
    assert.ok(statuses.has(200) || (abuse.refusal && statuses.has(abuse.refusal)), `${name}: ${JSON.stringify([...statuses])}`)
  }
}
