import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it, mock } from 'node:test'
import { Done, done } from '../server/src/common/reply.ts'
import { area } from '../server/src/kit/area.ts'
import { operation } from '../server/src/kit/operation.ts'
import { databases } from './support/databases.ts'
import { nothingChanges } from './support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from './support/house.ts'
import type { Answer } from './support/http.ts'
import { as, clientOf } from './support/talk.ts'

const standardMax = 8
const coreMax = 3
// A tenth, rounded up.
const ofUserMax = 1
const windowSeconds = 60
const secondsIntoWindow = 13

/** No area counts against the core class yet. */
const coreProbe = operation({
  id: 'coreProbe',
  route: 'GET /core-probe',
  summary: 'Counts against the core class',
  rate: 'core',
  reply: Done,
  run: async () => done('Counted.'),
})

const always = [
  'x-rate-limit',
  'x-rate-limit-remaining',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
]
const refusedOnly = ['retry-after', 'x-rate-limit-reset']

for (const database of databases) {
  describe(`rate limits on ${database}`, () => {
    let h: House
    // Windows are whole minutes of real time; a still clock makes each test begin in a fresh one.
    let windowStart = Math.ceil(Date.now() / 1000 / windowSeconds) * windowSeconds

    before(async () => {
      mock.timers.enable({ apis: ['Date'], now: windowStart * 1000 })
      const environment = { PARLEY_LIMIT_STANDARD: String(standardMax), PARLEY_LIMIT_CORE: String(coreMax) }
      const probes = area({ name: 'probes', about: 'For this test.', operations: [coreProbe] })
      h = await house({ database, environment, areas: [probes] })
    })
    beforeEach(() => {
      windowStart += windowSeconds
      mock.timers.setTime((windowStart + secondsIntoWindow) * 1000)
    })
    after(async () => {
      await h.close()
      mock.timers.reset()
    })

    const calls = async (app: AppClient, count: number, path = '/apikeys') => {
      const answers: Answer[] = []
      for (let n = 0; n < count; n += 1) answers.push(await app.get(path))
      return answers
    }

    const assertRefused = (answer: Answer, limit: number) => {
      assertFails(answer, 429, 'ERR_TOO_MANY_REQUESTS')
      const retryAfter = windowSeconds - secondsIntoWindow
      assert.equal(answer.body.error.details.retryAfter, retryAfter)
      assert.equal(answer.headers['retry-after'], String(retryAfter))
      assert.equal(answer.headers['x-rate-limit-reset'], String(windowStart + windowSeconds))
      assertAllowance(answer, limit, 0)
    }

    const assertAllowance = ({ headers }: Answer, limit: number, remaining: number) => {
      const expected = [limit, remaining, limit, remaining, windowStart + windowSeconds].map(String)
      assert.deepEqual(
        always.map((name) => headers[name]),
        expected,
      )
    }

    it('tells what is left with every answer, in both naming sets, and resets with the minute', async () => {
      const app = await h.app('told')
      for (let used = 1; used <= standardMax; used += 1) {
        const answer = await app.get('/apikeys')
        assertSucceeds(answer)
        assertAllowance(answer, standardMax, standardMax - used)
        for (const name of refusedOnly) assert.equal(answer.headers[name], undefined)
      }
    })

    it('tells it with failures too, once the caller is known', async () => {
      const app = await h.app('failing')
      const failures = [
        await app.get('/nothing'),
        await app.get('/apikeys/unknown'),
        await app.post('/apikeys', {}),
        await app.withKey(app.authKey).get('/apikeys'),
        await h.client.send(app.host, '/v4/apikeys', { headers: { apikey: app.apiKey } }),
      ]
      for (const [index, answer] of failures.entries()) {
        assert.ok(answer.status >= 400)
        assertAllowance(answer, standardMax, standardMax - index - 1)
      }
    })

    it('tells nothing to callers it does not know, and does not count them', async () => {
      const app = await h.app('unknown caller')
      for (let n = 0; n < standardMax * 2; n += 1) {
        const stranger = await app.withKey(n % 2 === 0 ? 'wrong' : ' ').get('/apikeys')
        assert.equal(stranger.status, 401)
        for (const name of [...always, ...refusedOnly]) assert.equal(stranger.headers[name], undefined)
      }
      assertAllowance(await app.get('/apikeys'), standardMax, standardMax - 1)
    })

    it('refuses what is beyond the limit until the next minute, and does not process it', async () => {
      const app = await h.app('busy')
      for (const answer of await calls(app, standardMax)) assertSucceeds(answer)
      const assertUnchanged = await nothingChanges(h)
      assertRefused(await app.get('/apikeys'), standardMax)
      assertRefused(await app.post('/apikeys', { name: 'too much' }), standardMax)
      assertRefused(await app.delete(`/apikeys/${app.authKey}`), standardMax)
      await assertUnchanged('refused requests')
      windowStart += windowSeconds
      mock.timers.setTime(windowStart * 1000)
      const answer = await app.get('/apikeys')
      assert.equal(assertSucceeds(answer).data.length, 2)
      assertAllowance(answer, standardMax, standardMax - 1)
    })

    it('asks for at least one second, also at the very end of a minute', async () => {
      const app = await h.app('late')
      await calls(app, standardMax)
      mock.timers.setTime((windowStart + windowSeconds) * 1000 - 1)
      assert.equal((await app.get('/apikeys')).headers['retry-after'], '1')
    })

    it('is one counter for a whole class: all its operations, all keys of the app, both hosts', async () => {
      const app = await h.app('shared')
      assertAllowance(await app.get('/apikeys'), standardMax, standardMax - 1)
      assertAllowance(await app.get('/calls'), standardMax, standardMax - 2)
      assertAllowance(await app.withKey(app.authKey).get('/calls'), standardMax, standardMax - 3)
      const headers = { apikey: app.apiKey }
      assertAllowance(await h.client.send(app.callsHost, '/v3/calls', { headers }), standardMax, standardMax - 4)
      assertAllowance(await h.client.send(app.host, '/_emulator/clock', { headers }), standardMax, standardMax - 5)
    })

    it('counts the core class apart, with its own limit', async () => {
      const app = await h.app('core')
      const answers = await calls(app, coreMax + 1, '/core-probe')
      for (const answer of answers.slice(0, coreMax)) assertSucceeds(answer)
      assertRefused(answers.at(-1) as Answer, coreMax)
      assertAllowance(await app.get('/apikeys'), standardMax, standardMax - 1)
      for (const answer of await calls(app, standardMax - 1)) assertSucceeds(answer)
      assertRefused(await app.get('/apikeys'), standardMax)
    })

    it('is exact under parallel requests', async () => {
      const app = await h.app('parallel')
      const answers = await Promise.all(Array.from({ length: standardMax * 3 }, () => app.get('/apikeys')))
      assert.equal(answers.filter(({ status }) => status === 200).length, standardMax)
      assert.equal(answers.filter(({ status }) => status === 429).length, standardMax * 2)
    })

    it('leaves nine tenths of it to others, however much the client of one user asks', async () => {
      const app = await h.app('shared')
      for (const uid of ['fay', 'gus']) assertSucceeds(await app.post('/users', { uid, name: uid }))
      const [fay, gus] = [await clientOf(h, app, 'fay'), await clientOf(h, app, 'gus')]
      windowStart += windowSeconds
      mock.timers.setTime((windowStart + secondsIntoWindow) * 1000)
      assertSucceeds(await fay.get('/users/fay'))
      for (let n = 0; n < standardMax; n += 1) assertRefused(await fay.get('/users/fay'), ofUserMax)
      const other = await gus.get('/users/gus')
      assertSucceeds(other)
      assertAllowance(other, standardMax, standardMax - 2)
      assertSucceeds(await app.get('/users/fay', as('fay')))
    })

    it('keeps apps apart', async () => {
      const [busy, calm] = [await h.app('one'), await h.app('two')]
      await calls(busy, standardMax + 1)
      assertAllowance(await calm.get('/apikeys'), standardMax, standardMax - 1)
    })

    it('counts management callers by their account', async () => {
      for (let used = 1; used <= standardMax; used += 1) {
        assertAllowance(await h.management.get('/apps'), standardMax, standardMax - used)
      }
      const answer = await h.management.get('/apps')
      assertRefused(answer, standardMax)
      assert.equal(answer.body.error.source, 'mgmt-api')
    })
  })
}
