import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import type { Counters } from '../../kit/ports.ts'
import { connectRedis } from '../redis/connection.ts'
import { memoryCounters } from './memory.ts'
import { redisCounters } from './redis.ts'

const redisUrl = process.env.PARLEY_TEST_REDIS

const kinds: [string, string | false, (t: TestContext) => Promise<Counters>][] = [
  ['in the process', false, async () => memoryCounters()],
  [
    'in Redis',
    redisUrl === undefined || redisUrl === '' ? 'Redis is not there' : false,
    async (t) => {
      const redis = await connectRedis(redisUrl ?? '', { isAway: (reason) => assert.fail(String(reason)), isBack() {} })
      t.after(redis.close)
      return redisCounters(redis, randomUUID())
    },
  ],
]

for (const [kind, skip, open] of kinds) {
  describe(`counters ${kind}`, { skip }, () => {
    const soon = () => Math.floor(Date.now() / 1000) + 100

    it('count by name, and take back what is given back', async (t) => {
      const counters = await open(t)
      const end = soon()
      const counts: number[] = []
      for (const amount of [1, 30, 0, -10, -21, 2]) counts.push(await counters.add('a', end, amount))
      assert.deepEqual(counts, [1, 31, 31, 21, 0, 2])
      assert.equal(await counters.add('b', end, 5), 5)
    })

    it('keep several windows apart, such as those of a minute and of an hour', async (t) => {
      const counters = await open(t)
      const [minute, hour] = [soon(), soon() + 3_000]
      assert.deepEqual(
        [
          await counters.add('a', minute, 1),
          await counters.add('a', hour, 7),
          await counters.add('a', minute, 1),
          await counters.add('a', hour, 1),
        ],
        [1, 7, 2, 8],
      )
    })

    it('are exact when many count at once', async (t) => {
      const counters = await open(t)
      const end = soon()
      const counts = await Promise.all(Array.from({ length: 50 }, () => counters.add('a', end, 2)))
      assert.deepEqual(
        counts.toSorted((a, b) => a - b),
        Array.from({ length: 50 }, (_, n) => (n + 1) * 2),
      )
    })
  })
}
