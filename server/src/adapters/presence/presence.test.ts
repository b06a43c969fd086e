import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { passingTime, standingClock } from '../../../../tests/support/clock.ts'
import { randomFrom } from '../../../../tests/support/random.ts'
import { until } from '../../../../tests/support/until.ts'
import type { Presence, PresenceChange, Signals } from '../../kit/ports.ts'
import { connectRedis, type RedisConnection } from '../redis/connection.ts'
import { redisSignals } from '../signals/redis.ts'
import { memoryPresence } from './memory.ts'
import { redisPresence, usualTimes } from './redis.ts'

const redisUrl = process.env.PARLEY_TEST_REDIS
const skip = redisUrl ? false : 'Redis is not there'
const app = 'app'

// Nobody looks by themselves, and who leaves is remembered for longer than a lease, however slow the machine is.
const times = { ...usualTimes, lookMilliseconds: 1_000_000, leavingMilliseconds: 300_000 }

const connect = () => connectRedis(redisUrl ?? '', { isAway() {}, isBack() {} })

const shown = ({ appId, uid, isOnline }: PresenceChange) => `${appId} ${uid} ${isOnline ? 'online' : 'offline'}`

function listenTo(presence: Presence) {
  const changes: PresenceChange[] = []
  presence.onChange((change) => changes.push(change))
  return { changes, told: () => changes.map(shown) }
}

describe('presence in the process', () => {
  it('tells of who comes and goes once, until nobody hears', async () => {
    const clock = standingClock()
    const presence = memoryPresence(clock)
    const changes: PresenceChange[] = []
    const stop = presence.onChange((change) => changes.push(change))
    presence.came(app, 'ada')
    presence.came(app, 'ada')
    presence.came('another', 'ada')
    clock.setOffset(10)
    presence.went(app, 'ada')
    presence.went(app, 'ada')
    presence.went(app, 'nobody')
    assert.deepEqual(changes.map(shown), ['app ada online', 'another ada online', 'app ada offline'])
    assert.deepEqual(
      changes.map(({ at, isOurs }) => [clock.now() - at, isOurs]),
      [
        [10, true],
        [10, true],
        [0, true],
      ],
    )
    stop()
    presence.came(app, 'ada')
    assert.equal(changes.length, 3)
    assert.deepEqual([[...presence.online(app)], [...presence.online('third')]], [['ada'], []])
  })
})

/** Several nodes on one Redis, which this test can also look into. */
async function install(t: TestContext) {
  const name = randomUUID()
  const clock = standingClock()
  const own = await connect()
  t.after(own.close)
  const { client } = own
  const key = (rest: string) => `parley:${name}:presence:${rest}`

  async function node(wrap: (signals: Signals) => Signals = (signals) => signals) {
    const before = await client.hKeys(key('nodes'))
    const redis = await connect()
    t.after(redis.close)
    const signals = wrap(redisSignals(redis, name, (error) => assert.fail(String(error))))
    const presence = await redisPresence({ redis, install: name, signals, clock, times })
    const id = (await client.hKeys(key('nodes'))).find((each) => !before.includes(each)) ?? assert.fail('no node')
    t.after(presence.close)
    const onlineIn = (appId: string) => [...presence.online(appId)].toSorted()
    return { ...presence, ...listenTo(presence), id, redis, onlineIn, online: () => onlineIn(app) }
  }

  return {
    client,
    clock,
    node,
    key,
    keys: () => client.keys(key('*')),
    /** As if as much time had passed at Redis. */
    endLease: ({ id }: { id: string }) => client.del(key(`lease:${id}`)),
  }
}

type Node = Awaited<ReturnType<Awaited<ReturnType<typeof install>>['node']>>

/** It neither says goodbye nor is heard of again. */
const kill = ({ redis }: { redis: RedisConnection }) => redis.client.destroy()

const knows = (node: Node, ...uids: string[]) =>
  until(`it shows ${uids}, and not ${node.online()}`, () => node.online().join() === uids.toSorted().join())

async function allKnow(nodes: Node[], ...uids: string[]): Promise<void> {
  for (const node of nodes) await knows(node, ...uids)
}

describe('presence on several nodes', { skip }, () => {
  it('is the same on all of them, and each is told of a change once', async (t) => {
    const { node, clock } = await install(t)
    const nodes = [await node(), await node(), await node()] as const
    const [one, two, three] = nodes
    one.came(app, 'ada')
    two.came(app, 'lin')
    assert.deepEqual(one.told(), ['app ada online'], 'its own are known at once')
    await allKnow([...nodes], 'ada', 'lin')
    one.went(app, 'ada')
    await allKnow([...nodes], 'lin')
    for (const { told } of nodes) {
      assert.deepEqual(told().toSorted(), ['app ada offline', 'app ada online', 'app lin online'])
    }
    assert.deepEqual(
      nodes.map(({ changes }) => changes.filter(({ isOurs }) => isOurs).length),
      [2, 1, 0],
    )
    assert.ok(three.changes.every(({ at }) => at === clock.now()))
  })

  it('shows somebody on two nodes until they have gone from both', async (t) => {
    const { node } = await install(t)
    const nodes = [await node(), await node(), await node()] as const
    const [one, two, three] = nodes
    one.came(app, 'ada')
    await allKnow([...nodes], 'ada')
    two.came(app, 'ada')
    two.came(app, 'mark')
    await allKnow([...nodes], 'ada', 'mark')
    one.went(app, 'ada')
    one.came(app, 'done')
    await allKnow([...nodes], 'ada', 'done', 'mark')
    two.went(app, 'ada')
    await allKnow([...nodes], 'done', 'mark')
    for (const { told } of [one, two, three]) {
      assert.deepEqual(
        told().filter((change) => change.includes('ada')),
        ['app ada online', 'app ada offline'],
      )
    }
  })

  it('is known to a node that starts, whatever it has not heard', async (t) => {
    const { node } = await install(t)
    const one = await node()
    one.came(app, 'ada')
    one.came('another', 'ada')
    one.came(app, 'lin')
    one.went(app, 'lin')
    await knows(await node(), 'ada')
    const late = await node()
    assert.deepEqual([late.online(), late.onlineIn('another')], [['ada'], ['ada']])
  })

  it('tells of the users of a node that died, once and as of its last sign of life', async (t) => {
    const { node, clock, endLease, keys, client, key } = await install(t)
    const [doomed, two, three] = [await node(), await node(), await node()]
    const users = ['ada', 'lin', 'both']
    for (const uid of users) doomed.came(app, uid)
    two.came(app, 'both')
    await allKnow([doomed, two, three], ...users)
    clock.setOffset(100)
    await doomed.look()
    const lastSign = clock.now()
    kill(doomed)
    clock.setOffset(120)
    const leaseMilliseconds = await client.pTTL(key(`lease:${doomed.id}`))
    assert.ok(leaseMilliseconds > 0 && leaseMilliseconds <= times.leaseMilliseconds, `${leaseMilliseconds}`)
    await two.look()
    assert.deepEqual(two.online(), users.toSorted(), 'nobody is gone while the lease holds')

    await endLease(doomed)
    await Promise.all([two.look(), three.look()])
    await allKnow([two, three], 'both')
    for (const { changes } of [two, three]) {
      const gone = changes.filter(({ isOnline }) => !isOnline)
      assert.deepEqual(gone.map(shown).toSorted(), ['app ada offline', 'app lin offline'])
      assert.ok(gone.every(({ at }) => at === lastSign))
    }
    const noting = [two, three].map(({ changes }) => changes.filter((each) => !each.isOnline && each.isOurs).length)
    assert.deepEqual(noting.toSorted(), [0, 2], 'one of them writes it down')
    assert.equal((await keys()).filter((each) => each.includes(doomed.id)).length, 0)
  })

  it('of a node that died alone is told by the next one that starts', async (t) => {
    const { node, clock, endLease } = await install(t)
    const doomed = await node()
    doomed.came(app, 'ada')
    doomed.came(app, 'lin')
    const witness = await node()
    await knows(witness, 'ada', 'lin')
    kill(witness)
    kill(doomed)
    const diedAt = clock.now()
    await endLease(doomed)
    clock.setOffset(1_000)
    const next = await node()
    assert.deepEqual(next.online(), [], 'who is on a dead node is not online')
    next.came(app, 'lin')
    await next.look()
    assert.deepEqual(
      next.changes.filter(({ isOnline }) => !isOnline).map((each) => [shown(each), each.at, each.isOurs]),
      [['app ada offline', diedAt, true]],
    )
    assert.deepEqual(next.online(), ['lin'])
  })

  it('announces nobody when a node leaves, and those who do not come back some seconds later', async (t) => {
    const { node, clock, client, key, endLease } = await install(t)
    const [leaving, staying] = [await node(), await node()]
    for (const uid of ['ada', 'lin']) leaving.came(app, uid)
    await knows(staying, 'ada', 'lin')
    clock.setOffset(50)
    const leftAt = clock.now()
    await leaving.close()
    leaving.went(app, 'ada')
    clock.setOffset(60)
    const leaseMilliseconds = await client.pTTL(key(`lease:${leaving.id}`))
    assert.ok(leaseMilliseconds > times.leaseMilliseconds, `${leaseMilliseconds}`)
    const started = await node()
    started.came(app, 'ada')
    await allKnow([staying, started], 'ada', 'lin')
    await staying.look()
    assert.deepEqual(staying.told(), ['app ada online', 'app lin online'])

    await endLease(leaving)
    await staying.look()
    await allKnow([staying, started], 'ada')
    assert.deepEqual(
      staying.changes.slice(2).map((each) => [shown(each), each.at]),
      [['app lin offline', leftAt]],
    )
    assert.deepEqual(started.told(), ['app lin offline'])
  })

  it('is read again where words were missed, also the last one', async (t) => {
    const { node } = await install(t)
    let isDeaf = false
    const deafNow = (signals: Signals): Signals => ({
      ...signals,
      hear: (topic, listener) =>
        signals.hear(topic, (signal, isOwn) => {
          if (!isDeaf) listener(signal, isOwn)
        }),
    })
    const [speaker, listener, witness] = [await node(), await node(deafNow), await node()]
    speaker.came(app, 'ada')
    await knows(listener, 'ada')
    isDeaf = true
    speaker.came(app, 'lin')
    speaker.went(app, 'ada')
    await knows(witness, 'lin')
    isDeaf = false
    assert.deepEqual(listener.online(), ['ada'])
    speaker.came(app, 'max')
    await knows(listener, 'lin', 'max')

    isDeaf = true
    speaker.went(app, 'max')
    await knows(witness, 'lin')
    isDeaf = false
    // A node notes with its sign of life how much it has said.
    await speaker.look()
    await listener.look()
    assert.deepEqual(listener.online(), ['lin'])
    assert.deepEqual(listener.told().toSorted(), [
      'app ada offline',
      'app ada online',
      'app lin online',
      'app max offline',
      'app max online',
    ])
  })

  it('is right again when a node was taken for dead that only stood still', async (t) => {
    const { node, endLease } = await install(t)
    const [still, other] = [await node(), await node()]
    still.came(app, 'ada')
    await knows(other, 'ada')
    await endLease(still)
    await other.look()
    await until('it has written itself down again', () => other.told().length === 3)
    assert.deepEqual(other.told(), ['app ada online', 'app ada offline', 'app ada online'])
    // Before it has heard that, it may write down a change.
    await endLease(still)
    still.came(app, 'lin')
    await allKnow([still, other], 'ada', 'lin')
    await knows(await node(), 'ada', 'lin')
    assert.deepEqual(still.told(), ['app ada online', 'app lin online'])
  })

  it('keeps what Redis has lost until nodes had the time to come back, and then lets go of those that did not', async (t) => {
    const passes = passingTime(t)
    const { node, client, keys, clock } = await install(t)
    const [doomed, one, two] = [await node(), await node(), await node()]
    doomed.came(app, 'ada')
    one.came(app, 'lin')
    await allKnow([doomed, one, two], 'ada', 'lin')
    kill(doomed)
    const diedAt = clock.now()
    await client.del(await keys())
    clock.setOffset(100)
    await two.look()
    assert.deepEqual(two.online(), ['ada', 'lin'])
    await one.look()
    await two.look()
    await allKnow([one, two], 'ada', 'lin')

    passes(25_000)
    await Promise.all([one.look(), two.look()])
    await Promise.all([one.look(), two.look()])
    await allKnow([one, two], 'lin')
    for (const { changes } of [one, two]) {
      const told = changes.filter(({ isOnline }) => !isOnline).map((each) => [shown(each), each.at])
      assert.deepEqual(told, [['app ada offline', diedAt]])
    }
  })

  it('keeps apps and users apart, whatever characters they are named with', async (t) => {
    const { node } = await install(t)
    const [one, other] = [await node(), await node()]
    const parts = [
      'a',
      'a:b',
      'b',
      ':',
      '',
      '*',
      '"',
      '\\',
      '","',
      '[',
      '\0',
      '\n',
      '\u2028',
      '__proto__',
      'ä',
      '👩‍👩‍👧',
    ]
    const wanted = parts.flatMap((appId, a) =>
      parts.filter((_, u) => (a + u) % 3 > 0).map((uid) => [appId, uid] as const),
    )
    for (const [appId, uid] of wanted) one.came(appId, uid)
    const expected = (appId: string) =>
      wanted
        .filter(([each]) => each === appId)
        .map(([, uid]) => uid)
        .toSorted()
    const isRight = (node: Node) => parts.every((part) => node.onlineIn(part).join() === expected(part).join())
    await until('all are told apart', () => isRight(other))
    const late = await node()
    assert.ok(isRight(late))
    for (const [appId, uid] of wanted) one.went(appId, uid)
    await until('all are gone', () => parts.every((part) => other.onlineIn(part).length === 0))
  })

  it('takes 10,000 users with three keys for each node', async (t) => {
    const { node, keys, endLease } = await install(t)
    const [crowded, other] = [await node(), await node()]
    const uids = Array.from({ length: 10_000 }, (_, n) => `user-${n}`)
    for (const uid of uids) crowded.came(app, uid)
    await until('all have come', () => other.online().length === uids.length)
    assert.equal(other.changes.length, uids.length)
    assert.equal((await node()).online().length, uids.length)
    // The list of nodes, three leases, and the users of one.
    assert.equal((await keys()).length, 5)
    kill(crowded)
    await endLease(crowded)
    await other.look()
    assert.deepEqual([other.online(), other.changes.length], [[], 2 * uids.length])
  })

  it('is agreed upon in the end, whoever comes, goes, dies, leaves, starts or misses words', async (t) => {
    const passes = passingTime(t)
    const { node, endLease } = await install(t)
    const seed = 1 + Math.floor(Math.random() * 1_000_000)
    const random = randomFrom(seed)
    const forgetful = (signals: Signals): Signals => ({
      ...signals,
      hear: (topic, listener) =>
        signals.hear(topic, (signal, isOwn) => {
          if (isOwn || random.chance(0.8)) listener(signal, isOwn)
        }),
    })
    const uids = Array.from({ length: 12 }, (_, n) => `u${n}`)
    const live: { node: Node; users: Set<string> }[] = []
    const start = async () => live.push({ node: await node(forgetful), users: new Set() })
    const end = async (how: (node: Node) => unknown) => {
      const { node: ended } = live.splice(random.whole(0, live.length - 1), 1)[0] ?? assert.fail('none')
      await how(ended)
      await endLease(ended)
      await random.pick(live).node.look()
    }
    for (let n = 0; n < 3; n += 1) await start()
    for (let step = 0; step < 300; step += 1) {
      const { node: at, users } = random.pick(live)
      const uid = random.pick(uids)
      const act = random.next()
      if (act < 0.45) {
        at.came(app, uid)
        users.add(uid)
      } else if (act < 0.85) {
        at.went(app, uid)
        users.delete(uid)
      } else if (act < 0.94) await at.look()
      else if (act < 0.97 && live.length > 1) await end(random.chance(0.5) ? kill : (leaving) => leaving.close())
      else if (live.length < 4) await start()
    }
    const expected = [...new Set(live.flatMap(({ users }) => [...users]))].toSorted().join()
    const agrees = async (): Promise<boolean> => {
      for (const each of live) await each.node.look()
      return live.every((each) => each.node.online().join() === expected)
    }
    // Whoever has missed that a node is dead finds out when its lease is long over.
    passes(25_000)
    await until(`all agree (seed ${seed})`, agrees)
    for (const { node: each } of live) {
      for (const uid of uids) {
        const told = each.changes.filter((change) => change.uid === uid)
        const isNew = ({ isOnline, isOurs }: PresenceChange, n: number) =>
          // Whoever clears a node away tells of all who were on it, also of those whose coming it had missed.
          isOnline !== told[n - 1]?.isOnline || (!isOnline && isOurs)
        assert.ok(told.every(isNew), `one word for each change (seed ${seed}): ${told.map(shown)}`)
      }
    }
  })
})
