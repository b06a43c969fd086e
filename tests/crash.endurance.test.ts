import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ordinary } from './support/bombs.ts'
import { appWriter, callWriter, keyWriter, messageWriter, pictureWriter, type Writer } from './support/crash-writers.ts'
import { databases } from './support/databases.ts'
import { times } from './support/quick.ts'
import { randomFrom, seedFrom } from './support/random.ts'
import { type AppOnDisk, type Install, install, type ServerProcess } from './support/server-process.ts'
import { until } from './support/until.ts'

/**
 * The server is killed at random moments under load and started again. What it acknowledged is there, what it did not
 * acknowledge is there wholly or not at all, every call comes to an end, and files are where their rows say.
 */

const killsCount = times(2, 50)
const factsPerKillMax = 70
const loadMillisecondsMax = 60_000
const killsPerExamination = times(2, 10)
const seedVariable = 'CRASH_SEED'
// Calls that are left alone end during the test, so supervision is interrupted too.
const limits = { PARLEY_LIMIT_STANDARD: '1000000000', PARLEY_LIMIT_MESSAGES: '1000000000' }
const timings = { PARLEY_RING_SECONDS: '10', PARLEY_LEASE_SECONDS: '5' }

for (const database of databases) {
  describe(`crashes on ${database}`, () => {
    it(`loses nothing and tears nothing apart in ${killsCount} kills`, async (test) => {
      const seed = seedFrom(seedVariable)
      test.diagnostic(`${seedVariable}=${seed}`)
      const site = await install(database, { PARLEY_EMULATOR: 'true', ...limits, ...timings })
      try {
        await crashOver(site, seed, (text) => test.diagnostic(text))
      } finally {
        await site.remove()
      }
    })
  })
}

async function crashOver(site: Install, seed: number, tell: (text: string) => void): Promise<void> {
  const random = randomFrom(seed)
  const picture = await ordinary(640, 360)
  const app = await site.createApp('crash')
  const pair = await site.managementPair()
  const writers: Writer[] = [
    ...Array.from({ length: 10 }, (_, lane) => callWriter(lane, app, randomFrom(seed + lane))),
    ...Array.from({ length: 4 }, (_, lane) => keyWriter(lane, app, randomFrom(seed + 100 + lane))),
    ...Array.from({ length: 2 }, (_, lane) => appWriter(lane, pair)),
    ...Array.from({ length: 8 }, (_, lane) => messageWriter(lane, app)),
    ...Array.from({ length: 2 }, (_, lane) => pictureWriter(lane, app, picture)),
  ]
  const acknowledged = () => writers.reduce((sum, writer) => sum + writer.acknowledged(), 0)

  let server = await site.start()
  for (let kills = 1; kills <= killsCount; kills += 1) {
    const enough = acknowledged() + random.whole(0, factsPerKillMax)
    await writeUntilKilled(server, writers, () => acknowledged() >= enough)
    if (kills % killsPerExamination === 0) await examine(site)
    server = await site.start()
    await inParallel(writers, (writer) => writer.verify(server, 'recent'))
  }
  assert.ok(acknowledged() > killsCount, `only ${acknowledged()} facts were acknowledged`)
  await inParallel(writers, (writer) => writer.verify(server, 'all'))
  const callsCount = await everyCallIsOver(app, server)
  await server.kill()
  await examine(site)
  tell(`${acknowledged()} facts acknowledged, ${callsCount} calls, 0 lost`)
}

async function writeUntilKilled(server: ServerProcess, writers: Writer[], isEnough: () => boolean): Promise<void> {
  let killed = false
  const lanes = writers.map(async (writer) => {
    try {
      for (;;) await writer.write(server)
    } catch (error) {
      if (!killed || error instanceof assert.AssertionError) throw error
    }
  })
  await Promise.race([until('enough is written', isEnough, loadMillisecondsMax), Promise.all(lanes)])
  killed = true
  await server.kill()
  await Promise.all(lanes)
}

async function inParallel<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  await Promise.all(items.map(work))
}

/** The install's own examination: every document, tally, member list and supervisor follows from the ledgers. */
async function examine(site: Install): Promise<void> {
  const { code, data } = await site.command('doctor')
  const bad = data.checks.filter(({ ok }: { ok: boolean }) => !ok)
  assert.deepEqual(bad, [])
  assert.equal(code, 0)
}

const longEnoughSeconds = 4_000
// Where several nodes share a database, what a killed one had claimed is free after a minute.
const claimsRunOutMilliseconds = 90_000
const perPage = 1_000

/** Lets time pass; answers how many calls there are. */
async function everyCallIsOver(app: AppOnDisk, server: ServerProcess): Promise<number> {
  const clock = await app.emulator(server).put('/clock', { advance: longEnoughSeconds })
  assert.equal(clock.status, 200, clock.text)
  for (const status of ['initiated', 'ongoing']) {
    const live = async () => (await app.at(server).get(`/calls?status=${status}`)).body.meta.pagination.total
    await until(`no call is ${status}`, async () => (await live()) === 0, claimsRunOutMilliseconds)
  }
  let checked = 0
  for (let page = 1; ; page += 1) {
    const { data, meta } = (await app.at(server).get(`/calls?perPage=${perPage}&page=${page}`)).body
    await inParallel(data, async ({ sessionId, endedAt }: { sessionId: string; endedAt: number }) => {
      const { status } = (await app.at(server).get(`/calls/${sessionId}/explain`)).body.data
      assert.ok(status.at(-1).cause, `nothing says why ${sessionId} is over`)
      assert.equal(status.at(-1).at, endedAt)
    })
    checked += data.length
    if (page >= meta.pagination.total_pages) return checked
  }
}
