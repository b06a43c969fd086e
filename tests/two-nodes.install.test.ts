import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { pino } from 'pino'
import { playScript } from '../server/src/areas/emulator/index.ts'
import { areas } from '../server/src/areas/index.ts'
import { workIn } from '../server/src/common/work-in.ts'
import { type House, openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { countingArea, numbersIn } from './support/counting-area.ts'
import { addCrowd } from './support/crowd.ts'
import { databases } from './support/databases.ts'
import { logIn, socketAt } from './support/device.ts'
import { assertSucceeds, callerAt } from './support/house.ts'
import type { Answer } from './support/http.ts'
import { type AppOnDisk, type Install, install, managementHost, type ServerProcess } from './support/server-process.ts'
import { as } from './support/talk.ts'
import { until } from './support/until.ts'

/** Several nodes on one PostgreSQL and one Redis behave as one service. */

const redisUrl = process.env.PARLEY_TEST_REDIS
const missing = [...(databases.includes('postgres') ? [] : ['PostgreSQL']), ...(redisUrl ? [] : ['Redis'])]
const skip = missing.length > 0 && `${missing.join(' and ')} is not there`

const ringSeconds = 10
const revokedMilliseconds = 1_000
// A follower's lease outlives its holder by up to 15 seconds.
const takeoverMilliseconds = 40_000
const silentLog = pino({ level: 'silent' })

describe('two nodes', { skip }, () => {
  let site: Install
  let app: AppOnDisk
  /** The install's database, seen from here, without workers of its own. */
  let storage: House
  const tokens = new Map<string, string>()

  before(async () => {
    site = await install('postgres', { PARLEY_REDIS_URL: redisUrl ?? '', PARLEY_RING_SECONDS: String(ringSeconds) })
    app = await site.createApp('two nodes')
    storage = await openHouse(readConfig(site.environment), silentLog)
  })
  after(async () => {
    await storage?.close()
    await site?.remove()
  })

  it('refuse a key on one node within a second of its revocation on the other', async () => {
    const [one, other] = await startTwo(site)
    const { apiKey } = (await app.at(one).post('/apikeys', { name: 'short-lived', scope: 'fullAccess' })).body.data
    const useIt = async (node: ServerProcess) =>
      (await callerAt(node.client, app.host, '/v3', { apikey: apiKey }).get('/calls')).status
    assert.deepEqual([await useIt(one), await useIt(other)], [200, 200])

    assert.equal((await app.at(one).delete(`/apikeys/${apiKey}`)).status, 200)
    const revoked = performance.now()
    assert.equal(await useIt(one), 401, 'the node that revoked it knows at once')
    await until('the other node refuses the key', async () => (await useIt(other)) === 401)
    const took = performance.now() - revoked
    assert.ok(took < revokedMilliseconds, `it took ${Math.round(took)} ms`)
    await stopAll(one, other)
  })

  it('refuse an auth token on one node within a second of whatever ends it on the other', async () => {
    const [one, other] = await startTwo(site)
    const useIt = async (node: ServerProcess, authToken: string) =>
      (await callerAt(node.client, app.host, '/v3', { authToken }).get('/me')).status
    const ends: [uid: string, end: (user: string, authToken: string) => Promise<Answer>][] = [
      ['one-token', (user, authToken) => app.at(one).delete(`${user}/auth_tokens/${authToken}`)],
      ['all-tokens', (user) => app.at(one).delete(`${user}/auth_tokens`)],
      ['deactivated', (user) => app.at(one).delete(user)],
      ['deleted', (user) => app.at(one).delete(user, { permanent: true })],
    ]
    for (const [uid, end] of ends) {
      const made = await app.at(one).post('/users', { uid, name: uid, withAuthToken: true })
      assert.equal(made.status, 200, made.text)
      const { authToken } = made.body.data
      assert.deepEqual([await useIt(one, authToken), await useIt(other, authToken)], [200, 200], uid)

      const ended = await end(`/users/${uid}`, authToken)
      assert.equal(ended.status, 200, ended.text)
      const since = performance.now()
      assert.equal(await useIt(one, authToken), 401, `${uid}: the node that ended it knows at once`)
      await until(`the other node refuses the token: ${uid}`, async () => (await useIt(other, authToken)) === 401)
      const took = performance.now() - since
      assert.ok(took < revokedMilliseconds, `${uid}: it took ${Math.round(took)} ms`)
    }
    await stopAll(one, other)
  })

  it('obey a setting of an app on one node soon after it was set on the other', async () => {
    const [one, other] = await startTwo(site)
    const key = 'core.conversations.updateOnReplies'
    assert.equal((await app.at(one).post('/users', { uid: 'reader', name: 'Reader' })).status, 200)
    const seen = async (node: ServerProcess) =>
      (await app.at(node).get('/me/settings', { onBehalfOf: 'reader' })).body.data.settings[key]
    assert.deepEqual([await seen(one), await seen(other)], [true, true])
    const management = callerAt(one.client, managementHost, '', { ...(await site.managementPair()) })
    assert.equal((await management.post(`/apps/${app.id}/settings`, { settings: { [key]: false } })).status, 200)
    assert.equal(await seen(one), false, 'the node that was asked obeys at once')
    await until('the other node obeys', async () => (await seen(other)) === false)
    await stopAll(one, other)
  })

  it('count the requests of an app together', async () => {
    const limit = 15
    const nodes = await startTwo(site, { PARLEY_LIMIT_STANDARD: String(limit) })
    const counted = await withinOneMinute(site, async (fresh) => {
      const answers: Answer[] = []
      for (let turn = 0; turn < limit * 2; turn += 1) {
        answers.push(await fresh.at(nodes[turn % 2] as ServerProcess).get('/calls'))
      }
      return answers
    })
    const accepted = counted.filter(({ status }) => status === 200)
    assert.deepEqual(
      accepted.map(({ headers }) => Number(headers['x-ratelimit-remaining'])),
      Array.from({ length: limit }, (_, index) => limit - 1 - index),
    )
    assert.deepEqual(
      counted.slice(limit).map(({ status }) => status),
      Array.from({ length: limit }, () => 429),
    )
    await stopAll(...nodes)
  })

  it('tell who types on the other, until they cease, their connection ends or their node dies', async () => {
    const { one, other, ada, lin, toLin } = await twoPeople()
    const actions = () =>
      lin.frames.filter(({ type }) => type === 'typing_indicator').map(({ body }) => [body.action, body.metadata])
    const typing = (action: string, metadata: string) => ({
      ...{ type: 'typing_indicator', ...toLin, body: { action, metadata } },
    })
    const heard = (...expected: string[][]) => until(`${expected}`, () => isDeepStrictEqual(actions(), expected))

    ada.send(typing('started', 'first'))
    ada.send(typing('ended', 'first'))
    await heard(['started', 'first'], ['ended', 'first'])
    lin.frames.length = 0

    const again = await deviceAt(one, 'ada')
    again.send(typing('started', 'cut'))
    await heard(['started', 'cut'])
    again.cut()
    await heard(['started', 'cut'], ['ended', 'cut'])
    lin.frames.length = 0

    const doomed = await deviceAt(one, 'ada')
    doomed.send(typing('started', 'killed'))
    await heard(['started', 'killed'])
    await one.kill()
    await heard(['started', 'killed'], ['ended', 'killed'])
    lin.cut()
    await stopAll(other)
  })

  it('count together who is online where somebody types', async () => {
    const { one, other, ada, lin, toLin } = await twoPeople()
    const third = await openHouse(readConfig(site.environment), silentLog, { isNode: true })
    const crowd = Array.from({ length: 999 }, (_, n) => `crowd-${n}`)
    const groups = { full: crowd.slice(1), crowded: crowd }
    for (const [guid, uids] of Object.entries(groups)) {
      const members = { participants: ['lin'] }
      assertSucceeds(await app.at(one).post('/groups', { guid, name: guid, members }, as('ada')))
      await addCrowd(storage, { id: app.id, caller: app.at(one) }, guid, uids)
    }
    for (const uid of crowd) third.tools.presence.came(app.id, uid)
    const onlineIn = async (guid: string) =>
      assertSucceeds(await app.at(one).get(`/groups/${guid}`)).data.onlineMembersCount as number
    await until('all are known to be online', async () => (await onlineIn('crowded')) === 1_001)
    assert.equal(await onlineIn('full'), 1_000)

    for (const receiver of Object.keys(groups).toReversed()) {
      const frame = { type: 'typing_indicator', receiver, receiverType: 'group', body: { action: 'started' } }
      assert.equal((await ada.ask(frame)).type, 'ack')
    }
    await ada.ask({ type: 'transient_message', ...toLin, body: { data: 'the end' } })
    await until('the end is heard', () => lin.frames.some(({ type }) => type === 'transient_message'))
    const typed = lin.frames.filter(({ type }) => type === 'typing_indicator').map(({ receiver }) => receiver)
    assert.deepEqual(typed, ['full'])
    await third.close()
    for (const device of [ada, lin]) device.cut()
    await stopAll(one, other)
  })

  const deviceAt = (node: ServerProcess, uid: string) => {
    const ca = readFileSync(join(site.environment.PARLEY_DATA ?? '', 'ca.pem'), 'utf8')
    return logIn(socketAt({ port: node.port, ca }, app.host), uid, { authToken: tokens.get(uid) })
  }

  /** Two nodes, with a device of ada at the one and of lin at the other. */
  async function twoPeople() {
    const [one, other] = await startTwo(site)
    for (const uid of ['ada', 'lin']) {
      if (tokens.has(uid)) continue
      const made = await app.at(one).post('/users', { uid, name: uid, withAuthToken: true })
      tokens.set(uid, assertSucceeds(made).data.authToken)
    }
    const [ada, lin] = [await deviceAt(one, 'ada'), await deviceAt(other, 'lin')]
    return { one, other, ada, lin, toLin: { receiver: 'lin', receiverType: 'user' } }
  }

  it('do every follower’s and every job’s work once', async () => {
    const { area, ticked, followed, worked } = countingArea()
    const config = readConfig(site.environment)
    const houses = [
      await openHouse(config, silentLog, { areas: [...areas, area] }),
      await openHouse(config, silentLog, { areas: [...areas, area] }),
    ]
    const numbers = Array.from({ length: 300 }, (_, index) => index)
    const done = (event: { name: string }) => numbersIn(storage.database, app.id, event)
    try {
      for (const { workers } of houses) workers.start()
      for (const n of numbers) {
        await storage.database.write((connection) => workIn(connection, app.id, storage.tools).emit(ticked, { n }))
        if (n % 10 === 0) storage.database.wake()
      }
      storage.database.wake()
      await until('all jobs have run', async () => (await done(worked)).length >= numbers.length, takeoverMilliseconds)
    } finally {
      for (const { workers, close } of houses) {
        await workers.stop()
        await close()
      }
    }
    assert.deepEqual(await done(followed), numbers)
    assert.deepEqual(await done(worked), numbers)
  })

  it('go on with the followers and the calls of a node that was killed', async () => {
    const pair = await site.managementPair()
    const sampled = async (node: ServerProcess, name: string) => {
      const management = callerAt(node.client, managementHost, '', { ...pair })
      const answer = await management.post('/apps', { name, region: 'us', skipSampleData: false })
      assert.equal(answer.status, 200, answer.text)
      return answer.body.data.id as string
    }
    const usersOf = async (appId: string) =>
      (await tenantDb(storage.database.reader, appId).select('users').select('users.uid').execute()).length

    const doomed = await site.start()
    const first = await sampled(doomed, 'before')
    // Whoever has read the log once holds the lease, so it is the first node that has to be replaced.
    await until('the first node follows the log', async () => (await usersOf(first)) > 0, takeoverMilliseconds)
    const heir = await site.start()
    const calls = await Promise.all(Array.from({ length: 20 }, (_, index) => ringingCall(storage, app, `u${index}`)))
    await doomed.kill()
    const second = await sampled(heir, 'after')

    await until('every call has ended', async () => (await stillRinging(app, heir)) === 0, takeoverMilliseconds)
    for (const sessionId of calls) {
      const { facts } = (await app.at(heir).get(`/calls/${sessionId}/explain`)).body.data
      const kinds = facts.map(({ fact }: { fact: { kind: string } }) => fact.kind)
      assert.deepEqual(kinds, ['initiated', 'unanswered'])
    }
    await until('the second node follows the log', async () => (await usersOf(second)) > 0, takeoverMilliseconds)
    await stopAll(heir)
  })
})

async function startTwo(
  site: Install,
  environment: Record<string, string> = {},
): Promise<[ServerProcess, ServerProcess]> {
  // One after the other: the first one makes the certificates that both use.
  return [await site.start(environment), await site.start(environment)]
}

async function stopAll(...nodes: ServerProcess[]): Promise<void> {
  for (const node of nodes) node.signal('SIGTERM')
  for (const node of nodes) assert.equal((await node.exited).code, 0, node.log())
}

/** Limits are counted by the minute, so requests that straddle two are made again, with an app of their own. */
async function withinOneMinute(site: Install, send: (app: AppOnDisk) => Promise<Answer[]>): Promise<Answer[]> {
  for (let attempt = 1; ; attempt += 1) {
    const answers = await send(await site.createApp(`limited ${attempt}`))
    const windows = new Set(answers.map(({ headers }) => headers['x-ratelimit-reset']))
    if (windows.size === 1) return answers
    assert.ok(attempt < 3, 'no minute was long enough')
  }
}

/** A call that nobody answers and that stops ringing a few seconds from now. */
function ringingCall(storage: House, { id }: AppOnDisk, caller: string): Promise<string> {
  const secondsLeft = 4
  return storage.database.write((connection) => {
    const work = workIn(connection, id, storage.tools)
    const startAt = work.now - ringSeconds + secondsLeft
    return playScript(work, 'us', { initiator: caller, receiver: 'milo', startAt, steps: [] })
  })
}

async function stillRinging(app: AppOnDisk, node: ServerProcess): Promise<number> {
  return (await app.at(node).get('/calls?status=initiated')).body.meta.pagination.total
}
