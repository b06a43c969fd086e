import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { hasRedis, makeRedis, type PrivateRedis } from '../../../../scripts/redis.ts'
import { standingClock } from '../../../../tests/support/clock.ts'
import { until } from '../../../../tests/support/until.ts'
import { redisPresence } from '../presence/redis.ts'
import { redisSignals } from '../signals/redis.ts'
import { connectRedis } from './connection.ts'

/** While Redis is away nobody waits for it, nothing heaps up, and it is told once; then all is as before. */

const skip = (!process.env.PARLEY_TEST_REDIS || !hasRedis()) && 'Redis is not there'

describe('Redis that goes away', { skip }, () => {
  let redis: PrivateRedis
  before(async () => {
    redis = await makeRedis()
    await redis.start()
  })
  after(() => redis?.stop())

  async function connected(t: TestContext) {
    const told: string[] = []
    const connection = await connectRedis(redis.url, {
      isAway: () => told.push('away'),
      isBack: () => told.push('back'),
    })
    t.after(connection.close)
    return { connection, told, signals: redisSignals(connection, 'install', (error) => assert.fail(String(error))) }
  }

  it('is told of once, and signals come through again when it is back', async (t) => {
    const [one, other] = [await connected(t), await connected(t)]
    const heard: unknown[] = []
    other.signals.hear('early', (signal, isOwn) => isOwn || heard.push(signal))
    const comesThrough = (topic: string) =>
      until(`${topic} comes through`, () => {
        one.signals.send(topic, topic)
        return heard.includes(topic)
      })
    await comesThrough('early')

    await redis.stop()
    await until('both have noticed', () => !one.connection.isThere() && !other.connection.isThere())
    heard.length = 0
    // What is heard from now on was never subscribed to.
    other.signals.hear('late', (signal, isOwn) => isOwn || heard.push(signal))
    const own: unknown[] = []
    one.signals.hear('early', (signal) => own.push(signal))
    for (let n = 0; n < 100_000; n += 1) one.signals.send('early', n)
    assert.equal(own.length, 100_000, 'this node hears its own')
    await assert.rejects(one.connection.client.ping())

    await redis.start()
    await comesThrough('early')
    await comesThrough('late')
    assert.deepEqual(
      heard.filter((signal) => typeof signal === 'number'),
      [],
      'what was sent meanwhile is lost',
    )
    for (const { told } of [one, other]) assert.deepEqual(told, ['away', 'back'])
  })

  it('or only falls silent, is done without until it answers', async (t) => {
    const { connection, told, signals } = await connected(t)
    let returns = 0
    connection.onReturn(() => {
      returns += 1
    })
    redis.pause()
    await until('it is noticed', () => !connection.isThere())
    signals.send('talk', 'lost')
    redis.resume()
    await until('it is back', connection.isThere)
    assert.deepEqual(told, ['away', 'back'])
    assert.equal(returns, 1)
    assert.equal(await connection.client.ping(), 'PONG')
  })

  it('leaves presence as it was last known, which is right again when it is back', async (t) => {
    const clock = standingClock()
    const node = async () => {
      const { connection, signals } = await connected(t)
      const presence = await redisPresence({ redis: connection, install: 'install', signals, clock })
      t.after(presence.close)
      const told: string[] = []
      presence.onChange(({ uid, isOnline }) => told.push(`${uid} ${isOnline ? 'online' : 'offline'}`))
      return { ...presence, connection, told, shown: () => [...presence.online('app')].toSorted().join() }
    }
    const nodes = [await node(), await node()] as const
    const [one, other] = nodes
    for (const uid of ['ada', 'lin', 'max']) one.came('app', uid)
    other.came('app', 'eve')
    await until('both know all', () => nodes.every(({ shown }) => shown() === 'ada,eve,lin,max'))

    await redis.stop()
    await until('both have noticed', () => nodes.every(({ connection }) => !connection.isThere()))
    one.went('app', 'ada')
    one.came('app', 'zoe')
    other.came('app', 'lin')
    for (const { look } of nodes) await look()
    assert.deepEqual([one.shown(), other.shown()], ['eve,lin,max,zoe', 'ada,eve,lin,max'])

    // It comes back with nothing in it.
    await redis.start()
    await until('both agree', () => nodes.every(({ shown }) => shown() === 'eve,lin,max,zoe'))
    // Each with its own set first, and then with that of the other.
    for (const { look } of [...nodes, ...nodes]) await look()
    one.went('app', 'lin')
    one.went('app', 'max')
    await until('words come through', () => nodes.every(({ shown }) => shown() === 'eve,lin,zoe'))
    const everyChange = [
      'ada offline',
      'ada online',
      'eve online',
      'lin online',
      'max offline',
      'max online',
      'zoe online',
    ]
    for (const { told } of nodes) assert.deepEqual(told.toSorted(), everyChange)
  })
})
