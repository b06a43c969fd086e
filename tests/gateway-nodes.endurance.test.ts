import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { hasRedis, makeRedis, type PrivateRedis } from '../scripts/redis.ts'
import { conversationIdOf } from '../server/src/areas/timeline/index.ts'
import { type House, openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { databases } from './support/databases.ts'
import { socketAt } from './support/device.ts'
import { assertSucceeds } from './support/house.ts'
import { createListener, differenceBetween, type End, type Listener, type Said } from './support/listener.ts'
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
// At full length that is a kill every ten seconds: starting a node takes a core for two of them.
const wordsBetweenKills = times(5, 1_600)
const wordsBetweenKillsMax = times(40, 2_400)
const wordsMeanwhileMax = 40
const wordsPerSecondMin = times(0, 200)
// In all lanes together; a little more than is asked for, because what is said to a node that goes may get no answer.
const wordsPerSecond = times(10_000, 215)
const lanesCount = times(2, 6)
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
const guidsAtOnce = times(4, 8)
const setsOfGuids = times(4, 5)
const guids = Array.from({ length: setsOfGuids * guidsAtOnce }, (_, n) => `boats-${n}`)
// After so many turns of all, those who talk go on to other groups. There is one more of them than there are sets, so that in
// one set two talk at once, mostly by different nodes; in the others nobody has to be noted as having read the one before.
const turnsInASet = 100
// A node that was killed is known to be gone by then.
const leaseMilliseconds = 30_000

function byConversation(said: [conversationId: string, id: string][]): Said {
  const groups = Map.groupBy(said, ([conversationId]) => conversationId)
  return new Map([...groups].map(([conversationId, each]) => [conversationId, each.map(([, id]) => id)]))
}

/** A request that got no answer has failed because of its node; what is wrong with an answer is another matter. */
function ifGone(error: unknown): undefined {
  if (error instanceof assert.AssertionError) throw error
}

const limits = Object.fromEntries(
  ['STANDARD', 'CORE', 'MESSAGES', 'CONNECTS', 'UNREAD'].map((name) => [`PARLEY_LIMIT_${name}`, '999999999']),
)

describe('devices of two nodes', { skip }, () => {
  let redis: PrivateRedis
  let site: Install
  let app: AppOnDisk
  let storage: House
  let ca: string
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
    ca = readFileSync(join(site.environment.PARLEY_DATA ?? '', 'ca.pem'), 'utf8')
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

  /** A device that comes to any node that `choose` names. */
  const deviceOf = (name: string, uid: string, choose: () => ServerProcess | undefined) =>
    createListener(name, tokens.get(uid) ?? '', () => {
      const node = choose()
      if (!node) throw new Error('No node is there.')
      return socketAt({ port: node.port, ca }, app.host)
    })

  /** Tries until it is in: a node may go while it is asked. */
  const comeBack = (device: Listener) =>
    until(`${device.name} is back`, async () => {
      try {
        await device.come()
        return true
      } catch {
        return false
      }
    })

  /** Stays connected, to whichever node, until it is told to go. */
  function stay(device: Listener, gone: (end: End) => void = () => {}): { leave(): Promise<void> } {
    let isLeaving = false
    const staying = (async () => {
      while (!isLeaving) {
        const end = await device.ended()
        if (isLeaving) return
        gone(end)
        await comeBack(device)
      }
    })()
    return {
      async leave() {
        isLeaving = true
        device.cut()
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

  async function assertAllHold(devices: Listener[], acknowledged: string[], since: number): Promise<void> {
    const all = await saidAfter(since)
    const said = new Set([...all.values()].flat())
    for (const id of acknowledged) assert.ok(said.has(id), `${id} was acknowledged, and is not there`)
    for (const device of devices) {
      await until(`${device.name} has heard as much`, () => device.heardCount >= said.size, 60_000)
      assert.equal(differenceBetween(device.heard, all), undefined, device.name)
      assert.equal(device.resynced, 0, `${device.name} had to begin anew`)
    }
  }

  /** Says something in a set of the groups; answers the ids of the messages. */
  async function say(node: ServerProcess, uid: string, set = 0): Promise<string[]> {
    const from = (set % setsOfGuids) * guidsAtOnce
    const multipleReceivers = { guids: guids.slice(from, from + guidsAtOnce) }
    const answer = await app.at(node).post('/messages', { multipleReceivers, data: { text: 'Hello' } }, as(uid))
    const sent: { data: { id: string } }[] = Object.values(assertSucceeds(answer).data.guids)
    return sent.map(({ data }) => data.id)
  }

  /** Talks at whichever node is there, in so many lanes, until it is told to stop. */
  function talk(): { acknowledged: string[]; stop(): Promise<void> } {
    const acknowledged: string[] = []
    const begun = performance.now()
    let turns = 0
    let isOver = false
    const lanes = Array.from({ length: lanesCount }, async (_, lane) => {
      while (!isOver) {
        const turn = turns
        turns += 1
        const due = begun + (turn * guidsAtOnce * 1000) / wordsPerSecond
        await pause(Math.max(0, due - performance.now()))
        const node = there()[turn % there().length]
        const uid = uids[lane % uids.length] as string
        const set = lane + Math.floor(turn / turnsInASet)
        // Whether a node that is gone has stored it, the history tells.
        const ids = node && (await say(node, uid, set).catch(ifGone))
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
      await soMuchMore(random.whole(wordsBetweenKills, wordsBetweenKillsMax))
      if (kills % 5 === 1) {
        await redis.stop()
        await soMuchMore(wordsMeanwhileMax)
        await redis.start()
      }
      // Some go to the other node by themselves, so that whichever is killed has some.
      for (let n = 0; n < 4; n += 1) random.pick(devices.filter((each) => each.isThere())).cut()
      const slot = kills % 2
      const doomed = nodes[slot]
      nodes[slot] = undefined
      await doomed?.kill()
      if (random.chance(0.5)) await soMuchMore(random.whole(1, wordsMeanwhileMax))
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
    assert.ok(perSecond >= wordsPerSecondMin, `said ${perSecond.toFixed(0)} a second, not ${wordsPerSecondMin}`)
    await Promise.all(stays.map(({ leave }) => leave()))
  })

  it('resume at the other node when theirs is restarted, and need not fetch anything', async () => {
    const since = await lastSaid()
    const devices = uids.map((uid, n) => deviceOf(`${uid}-rolling`, uid, () => nodes[n % 2] ?? there()[0]))
    for (const device of devices) await device.come()
    const ends: End[] = []
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
      ends.every(({ wasTold }) => wasTold),
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
      await until('it is heard', () => device.heardCount >= acknowledged.length)
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
