import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pino } from 'pino'
import { hasRedis, makeRedis, type PrivateRedis } from '../scripts/redis.ts'
import { conversationIdOf } from '../server/src/areas/timeline/index.ts'
import { type House, openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { databases } from './support/databases.ts'
import { type Frame, logIn, socketAt } from './support/device.ts'
import { createFollower, type Follower } from './support/follower.ts'
import { assertSucceeds } from './support/house.ts'
import { times } from './support/quick.ts'
import { randomFrom, seedFrom } from './support/random.ts'
import { type AppOnDisk, type Install, install, type ServerProcess } from './support/server-process.ts'
import { as } from './support/talk.ts'
import { until } from './support/until.ts'

/**
 * Two nodes on one PostgreSQL and one Redis, killed and started again while people talk in several groups at once. Devices go
 * to the other node when theirs is gone, and hold in the end all that was said: in the order of each group, once, and with
 * nothing left out.
 */

const killsCount = times(2, 50)
const wordsPerKillMax = 40
// In all lanes together; at full length they keep to a pace that leaves room for starting nodes, if the machine can keep it.
const wordsPerSecondMax = times(10_000, 200)
const lanesCount = times(2, 24)
const killsMilliseconds = times(600_000, 1_800_000)
const seedVariable = 'NODES_SEED'
const missing = [
  ...(databases.includes('postgres') ? [] : ['PostgreSQL']),
  ...(process.env.PARLEY_TEST_REDIS && hasRedis() ? [] : ['Redis']),
]
const skip = missing.length > 0 && `${missing.join(' and ')} is not there`
const uids = ['ada', 'lin', 'max', 'zoe', 'ian', 'eva']
// What is said in one conversation is written one after the other, so a single one would set the pace of all. And a word is
// said in several at once: nodes, database and devices share a machine, and to ask for each of them would be most of the work.
const guids = Array.from({ length: 16 }, (_, n) => `boats-${n}`)
const guidsAtOnce = 4
// A node that was killed is known to be gone by then.
const leaseMilliseconds = 30_000

/** Ids of messages, by the id of their conversation. */
type Said = Record<string, string[]>

function byConversation(said: [conversationId: string, id: string][]): Said {
  const groups = Map.groupBy(said, ([conversationId]) => conversationId)
  return Object.fromEntries([...groups].map(([conversationId, each]) => [conversationId, each.map(([, id]) => id)]))
}

/** A request that got no answer has failed because of its node; what is wrong with an answer is another matter. */
function ifGone(error: unknown): undefined {
  if (error instanceof assert.AssertionError) throw error
}

const countOf = (said: Said) => Object.values(said).flat().length

const limits = Object.fromEntries(
  ['STANDARD', 'CORE', 'MESSAGES', 'CONNECTS', 'UNREAD'].map((name) => [`PARLEY_LIMIT_${name}`, '999999999']),
)

describe('devices of two nodes', { skip }, () => {
  let redis: PrivateRedis
  let site: Install
  let app: AppOnDisk
  let storage: House
  const tokens = new Map<string, string>()
  const nodes: (ServerProcess | undefined)[] = []
  const there = () => nodes.filter((node) => node !== undefined)

  before(async () => {
    redis = await makeRedis()
    await redis.start()
    site = await install('postgres', { PARLEY_REDIS_URL: redis.url, ...limits })
    app = await site.createApp('two nodes')
    // One after the other: the first one makes the certificates that both use.
    for (let slot = 0; slot < 2; slot += 1) nodes[slot] = await site.start()
    storage = await openHouse(readConfig(site.environment), pino({ level: 'silent' }))
    const caller = app.at(there()[0] as ServerProcess)
    for (const uid of uids) {
      const made = await caller.post('/users', { uid, name: uid, withAuthToken: true })
      tokens.set(uid, assertSucceeds(made).data.authToken)
    }
    const members = { participants: uids.slice(1) }
    for (const guid of guids) {
      assertSucceeds(await caller.post('/groups', { guid, name: guid, type: 'public', members }, as('ada')))
    }
  })
  after(async () => {
    await storage?.close()
    await site?.remove()
    await redis?.stop()
  })

  const ca = () => readFileSync(join(site.environment.PARLEY_DATA ?? '', 'ca.pem'), 'utf8')

  /** A device that comes to any node that `choose` names. */
  const deviceOf = (name: string, uid: string, choose: () => ServerProcess | undefined) =>
    createFollower(name, uid, (auth) => {
      const node = choose()
      if (!node) throw new Error('No node is there.')
      const socket = socketAt({ port: node.port, ca: ca() }, app.host)
      return logIn(socket, uid, { authToken: tokens.get(uid), ...auth })
    })

  /** Tries until it is in: a node may go while it is asked. */
  const comeBack = (device: Follower) =>
    until(`${device.name} is back`, () =>
      device.come().then(
        () => true,
        () => false,
      ),
    )

  /** Stays connected, to whichever node, until it is told to go. */
  function stay(
    device: Follower,
    gone: (end: { code: number; frames: Frame[] }) => void = () => {},
  ): { leave(): Promise<void> } {
    let isLeaving = false
    const staying = (async () => {
      while (!isLeaving) {
        const { closed, frames } = device.device()
        const { code } = await closed
        if (!isLeaving) gone({ code, frames })
        device.cut()
        if (!isLeaving) await comeBack(device)
      }
    })()
    return {
      async leave() {
        isLeaving = true
        if (device.isThere()) device.device().cut()
        await staying
      },
    }
  }

  /** What was said after a message, by conversation and in order. */
  async function saidAfter(since: number): Promise<Said> {
    const rows = await tenantDb(storage.database.reader, app.id)
      .select('messages')
      .select(['messages.id', 'messages.conversation_key'])
      .where('messages.category', '=', 'message')
      .where('messages.id', '>', since)
      .orderBy('messages.id')
      .execute()
    return byConversation(rows.map((row) => [conversationIdOf(row.conversation_key), String(row.id)]))
  }

  async function lastSaid(): Promise<number> {
    const last = await tenantDb(storage.database.reader, app.id)
      .select('messages')
      .select('messages.id')
      .orderBy('messages.id', 'desc')
      .limit(1)
      .execute()
    return last[0]?.id ?? 0
  }

  const heard = (device: Follower): Said =>
    byConversation(
      device
        .told()
        .filter(({ type, body }) => type === 'message' && body.category === 'message')
        .map(({ body }) => [body.conversationId, body.id]),
    )

  async function assertAllHold(devices: Follower[], acknowledged: string[], since: number): Promise<void> {
    const all = await saidAfter(since)
    const said = new Set(Object.values(all).flat())
    for (const id of acknowledged) assert.ok(said.has(id), `${id} was acknowledged, and is not there`)
    for (const device of devices) {
      await until(`${device.name} has heard as much`, () => countOf(heard(device)) >= said.size, 60_000)
      assert.deepEqual(heard(device), all, device.name)
      assert.equal(device.resynced, 0, `${device.name} had to begin anew`)
    }
  }

  /** Says something in some of the groups; answers the ids of the messages. */
  async function say(node: ServerProcess, uid: string, turn = 0): Promise<string[]> {
    const from = (turn * guidsAtOnce) % guids.length
    const multipleReceivers = { guids: guids.slice(from, from + guidsAtOnce) }
    const answer = await app.at(node).post('/messages', { multipleReceivers, data: { text: 'Hello' } }, as(uid))
    const sent: { data: { id: string } }[] = Object.values(assertSucceeds(answer).data.guids)
    return sent.map(({ data }) => data.id)
  }

  /** Talks at whichever node is there, in so many lanes, until it is told to stop. */
  function talk(): { acknowledged: string[]; stop(): Promise<void> } {
    const acknowledged: string[] = []
    let isOver = false
    const lanes = Array.from({ length: lanesCount }, async (_, lane) => {
      const begun = performance.now()
      for (let n = lane; !isOver; n += 1) {
        const due = begun + ((n - lane) * lanesCount * guidsAtOnce * 1000) / wordsPerSecondMax
        await until('its turn has come', () => performance.now() >= due)
        const node = there()[n % there().length]
        // Whether a node that is gone has stored it, the history tells.
        const uid = uids[lane % uids.length] as string
        const ids = node && (await say(node, uid, lane).catch(ifGone))
        if (ids) acknowledged.push(...ids)
        else await until('a node is there', () => there().length > 0)
      }
    })
    return {
      acknowledged,
      async stop() {
        isOver = true
        await Promise.all(lanes)
      },
    }
  }

  it(`hold all that was said, over ${killsCount} kills`, { timeout: killsMilliseconds }, async (test) => {
    const seed = seedFrom(seedVariable)
    test.diagnostic(`${seedVariable}=${seed}`)
    const random = randomFrom(seed)
    const since = await lastSaid()
    const devices = uids.flatMap((uid) => [0, 1].map((n) => deviceOf(`${uid}${n}`, uid, () => random.pick(there()))))
    for (const device of devices) await device.come()
    const stays = devices.map((device) => stay(device))
    const talking = talk()
    const begun = performance.now()
    const soMuchMore = (words: number) => {
      const enough = talking.acknowledged.length + words
      return until('enough is said', () => talking.acknowledged.length >= enough, 60_000)
    }
    for (let kills = 0; kills < killsCount; kills += 1) {
      await soMuchMore(random.whole(5, wordsPerKillMax))
      if (kills % 5 === 1) {
        await redis.stop()
        await soMuchMore(wordsPerKillMax)
        await redis.start()
      }
      // Some go to the other node by themselves, so that whichever is killed has some.
      for (let n = 0; n < 4; n += 1)
        random
          .pick(devices.filter((each) => each.isThere()))
          .device()
          .cut()
      const slot = kills % 2
      const doomed = nodes[slot]
      nodes[slot] = undefined
      await doomed?.kill()
      if (random.chance(0.5)) await soMuchMore(random.whole(1, wordsPerKillMax))
      nodes[slot] = await site.start()
    }
    await soMuchMore(1)
    await talking.stop()
    const perSecond = (1000 * talking.acknowledged.length) / (performance.now() - begun)
    await assertAllHold(devices, talking.acknowledged, since)
    const resumed = devices.reduce((sum, device) => sum + device.resumed, 0)
    test.diagnostic(
      `${talking.acknowledged.length} said, ${perSecond.toFixed(0)}/s; ${resumed} resumed; 0 gaps, 0 doubles`,
    )
    assert.ok(resumed >= killsCount, 'hardly any device had to move')
    await Promise.all(stays.map(({ leave }) => leave()))
  })

  it('resume at the other node when theirs is restarted, and need not fetch anything', async () => {
    const since = await lastSaid()
    const devices = uids.map((uid, n) => deviceOf(`${uid}-rolling`, uid, () => nodes[n % 2] ?? there()[0]))
    for (const device of devices) await device.come()
    const ends: { code: number; frames: Frame[] }[] = []
    const stays = devices.map((device) => stay(device, (end) => ends.push(end)))
    const talking = talk()
    for (const slot of [0, 1]) {
      const leaving = nodes[slot] as ServerProcess
      nodes[slot] = undefined
      leaving.signal('SIGTERM')
      assert.equal((await leaving.exited).code, 0, leaving.log())
      nodes[slot] = await site.start()
    }
    await talking.stop()
    await assertAllHold(devices, talking.acknowledged, since)
    for (const { name, resumed } of devices) assert.ok(resumed > 0, `${name} never had to move`)
    assert.deepEqual([...new Set(ends.map(({ code }) => code))], [1012])
    assert.ok(
      ends.every(({ frames }) => frames.some(({ type }) => type === 'reconnect')),
      'not told when to come back',
    )
    await Promise.all(stays.map(({ leave }) => leave()))
  })

  it('hear of what the other node wrote, also where no hint of it arrives', async () => {
    const since = await lastSaid()
    const [one, other] = nodes as [ServerProcess, ServerProcess]
    const device = deviceOf('unhinted', 'ada', () => other)
    await device.come()
    const deafen = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'LISTEN%'`
    const acknowledged: string[] = []
    for (let n = 0; n < 3; n += 1) {
      await storage.database.reader.run(deafen, [])
      acknowledged.push(...(await say(one, 'lin')))
      await until('it is heard', () => countOf(heard(device)) >= acknowledged.length)
    }
    await assertAllHold([device], acknowledged, since)
    device.cut()
  })

  it('are online while any node has one', { skip: killsCount < 50 && 'left to npm run endurance' }, async () => {
    const statusAt = async (node: ServerProcess) =>
      assertSucceeds(await app.at(node).get('/users/max', as('ada'))).data.status as string
    const devices = nodes.map((node, n) => deviceOf(`max-online-${n}`, 'max', () => node))
    for (const device of devices) await device.come()
    const [one, other] = nodes as [ServerProcess, ServerProcess]
    const killed = performance.now()
    await one.kill()
    nodes[0] = await site.start()
    // Long enough for the dead node to have been missed.
    await until('its lease is over', () => performance.now() - killed > leaseMilliseconds, 2 * leaseMilliseconds)
    assert.deepEqual([await statusAt(other), await statusAt(nodes[0])], ['available', 'available'])

    await other.kill()
    nodes[1] = await site.start()
    for (const node of there()) {
      await until('max is offline', async () => (await statusAt(node)) === 'offline', leaseMilliseconds)
    }
  })
})
