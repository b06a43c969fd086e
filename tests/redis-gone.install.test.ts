import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createClient } from '@redis/client'
import { hasRedis, makeRedis, type PrivateRedis } from '../scripts/redis.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from './support/house.ts'
import type { Answer } from './support/http.ts'
import { until } from './support/until.ts'

/** Redis counts requests. Without it each node counts for itself: a limit that is too generous, never a service that stops. */

const limit = 10
const skip = (!process.env.PARLEY_TEST_REDIS || !hasRedis()) && 'Redis is not there'

describe('losing Redis', { skip }, () => {
  let redis: PrivateRedis
  let h: House

  before(async () => {
    redis = await makeRedis()
    await redis.start()
    h = await house({
      database: 'sqlite',
      environment: { PARLEY_REDIS_URL: redis.url, PARLEY_LIMIT_STANDARD: String(limit) },
    })
  })
  after(async () => {
    await h?.close()
    await redis?.stop()
  })

  /** Limits are counted by the minute, so requests that straddle two are made again, with an app of their own. */
  async function withinOneMinute(name: string, send: (app: AppClient) => Promise<Answer[]>): Promise<Answer[]> {
    for (let attempt = 1; ; attempt += 1) {
      const answers = await send(await h.app(`${name} ${attempt}`))
      if (new Set(answers.map(({ headers }) => headers['x-ratelimit-reset'])).size === 1) return answers
      assert.ok(attempt < 3, 'no minute was long enough')
    }
  }

  async function inTurn(app: AppClient, count: number): Promise<Answer[]> {
    const answers: Answer[] = []
    for (let n = 0; n < count; n += 1) answers.push(await app.get('/apikeys'))
    return answers
  }

  async function keysInRedis(): Promise<string[]> {
    const client = await createClient({ url: redis.url }).connect()
    const keys = await client.keys('parley:*')
    client.destroy()
    return keys
  }

  it('is not brought about by names that no user can have: nothing is counted for them', async () => {
    const app = await h.app('names')
    const onBehalfOf = 'x'.repeat(8_000)
    const body = { receiver: 'nobody', receiverType: 'user', data: { text: 'Hello' } }
    assertFails(await app.post('/messages', body, { onBehalfOf }), 404, 'ERR_UID_NOT_FOUND')
    assert.deepEqual(
      (await keysInRedis()).filter((key) => key.includes(onBehalfOf)),
      [],
    )
  })

  it('in the middle leaves every request served or refused as ever, and the limit in force', async () => {
    const answers = await withinOneMinute('gone', async (app) => {
      const before = await inTurn(app, limit / 2)
      await redis.stop()
      const without = await inTurn(app, limit * 2)
      await redis.start()
      return [...before, ...without]
    })
    const [served, refused] = [answers.slice(0, limit / 2 + limit), answers.slice(limit / 2 + limit)]
    for (const answer of served) assertSucceeds(answer)
    for (const answer of refused) assertFails(answer, 429, 'ERR_TOO_MANY_REQUESTS')
  })

  it('is over as soon as Redis is back: counts are shared again', async () => {
    await until('it counts again', async () => {
      await (await h.app('back')).get('/apikeys')
      return (await keysInRedis()).length > 0
    })
  })
})
