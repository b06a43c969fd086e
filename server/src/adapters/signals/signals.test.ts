import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { until } from '../../../../tests/support/until.ts'
import type { Signals } from '../../kit/ports.ts'
import { connectRedis } from '../redis/connection.ts'
import { memorySignals } from './memory.ts'
import { redisSignals } from './redis.ts'

const redisUrl = process.env.PARLEY_TEST_REDIS
const topic = 'talk'

type Heard = [signal: unknown, isOwn: boolean]

function hearing(signals: Signals, of = topic): { heard: Heard[]; stop: () => void } {
  const heard: Heard[] = []
  return { heard, stop: signals.hear(of, (signal, isOwn) => heard.push([signal, isOwn])) }
}

async function node(t: TestContext, install: string): Promise<Signals> {
  const redis = await connectRedis(redisUrl ?? '', { isAway: (reason) => assert.fail(String(reason)), isBack() {} })
  t.after(redis.close)
  return redisSignals(redis, install, (error) => assert.fail(String(error)))
}

/** Sends again and again, until it is heard: nobody tells when a node has begun to listen. */
async function untilReached(sender: Signals, { heard }: { heard: Heard[] }): Promise<void> {
  await until('a signal comes through', () => {
    sender.send(topic, 'are you there?')
    return heard.length > 0
  })
}

const kinds: [string, string | false, (t: TestContext) => Promise<Signals>][] = [
  ['in the process', false, async () => memorySignals()],
  ['by Redis', redisUrl ? false : 'Redis is not there', (t) => node(t, randomUUID())],
]

for (const [kind, skip, open] of kinds) {
  describe(`signals ${kind}`, { skip }, () => {
    it('are heard at once by whoever on this node hears their topic, until they stop', async (t) => {
      const signals = await open(t)
      const [one, other, elsewhere] = [hearing(signals), hearing(signals), hearing(signals, 'elsewhere')]
      signals.send(topic, { n: 1 })
      assert.deepEqual([one.heard, other.heard, elsewhere.heard], [[[{ n: 1 }, true]], [[{ n: 1 }, true]], []])
      one.stop()
      signals.send(topic, { n: 2 })
      assert.deepEqual([one.heard.length, other.heard.length], [1, 2])
      one.stop()
      other.stop()
      signals.send(topic, { n: 3 })
      assert.equal(other.heard.length, 2)
    })
  })
}

describe('signals between nodes', { skip: redisUrl ? false : 'Redis is not there' }, () => {
  it('are heard once by each node, in order, and told apart from its own', async (t) => {
    const install = randomUUID()
    const nodes = [await node(t, install), await node(t, install), await node(t, install)] as const
    const [sender, ...others] = nodes
    const own = hearing(sender)
    const heard = others.map((other) => hearing(other))
    for (const each of heard) await untilReached(sender, each)
    const sent = Array.from({ length: 100 }, (_, n) => ({ n, text: '"\u2028:*?[a]\0' }))
    for (const signal of sent) sender.send(topic, signal)
    // A last word comes after whatever was doubled.
    sender.send(topic, 'end')
    await until('the end has come', () => heard.every((each) => each.heard.at(-1)?.[0] === 'end'))
    const counted = (each: Heard[]) => each.filter(([signal]) => typeof signal === 'object')
    const asTold = (isOwn: boolean) => sent.map((signal): Heard => [signal, isOwn])
    for (const each of heard) assert.deepEqual(counted(each.heard), asTold(false))
    assert.deepEqual(counted(own.heard), asTold(true))
  })

  it('stay within their install and their topic', async (t) => {
    const [one, other] = [randomUUID(), randomUUID()]
    const sender = await node(t, one)
    const [elsewhere, aside, meant] = [await node(t, other), await node(t, one), await node(t, one)]
    const ears = { elsewhere: hearing(elsewhere), aside: hearing(aside, `${topic}:more`), meant: hearing(meant) }
    await untilReached(sender, ears.meant)
    sender.send(topic, 'secret')
    await until('it has come', () => ears.meant.heard.at(-1)?.[0] === 'secret')
    await untilReached(await node(t, other), ears.elsewhere)
    assert.ok(ears.elsewhere.heard.every(([signal]) => signal !== 'secret'))
    assert.deepEqual(ears.aside.heard, [])
  })

  it('that nobody understands are told of, and harm nobody', async (t) => {
    const install = randomUUID()
    const redis = await connectRedis(redisUrl ?? '', { isAway: (reason) => assert.fail(String(reason)), isBack() {} })
    t.after(redis.close)
    const faults: unknown[] = []
    const listener = redisSignals(redis, install, (error) => faults.push(error))
    const ear = hearing(listener)
    const sender = await node(t, install)
    await untilReached(sender, ear)
    listener.hear(topic, (signal, isOwn) => {
      if (signal === 'trip' && !isOwn) throw new Error('a listener stumbles')
    })
    await redis.client.publish(`parley:${install}:signal:${topic}`, 'not JSON')
    sender.send(topic, 'trip')
    sender.send(topic, 'end')
    await until('the end has come', () => ear.heard.at(-1)?.[0] === 'end')
    assert.equal(faults.length, 2)
    assert.equal(await redis.client.ping(), 'PONG')
  })
})
