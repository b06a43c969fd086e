import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type FreshDatabase, freshDatabase } from './support/databases.ts'
import { type Answer, type Client, httpsClient } from './support/http.ts'
import { parley, parleyHere } from './support/parley.ts'

/** `npm start` as a stranger meets it: the printed block, the credentials, the demo data. */

const main = join(import.meta.dirname, '../server/src/main.ts')
const daySeconds = 24 * 3600

interface Demo {
  output: string
  credentials: Record<string, string> & { port: number }
  client: Client
  stop(): Promise<number>
}

async function startDemo({ environment }: FreshDatabase): Promise<Demo> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', main, 'start', '--demo', '--port', '0'],
    {
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (part) => {
    output += part
  })
  while (!output.includes('Stop with')) await once(child.stdout, 'data')
  const credentials = JSON.parse(readFileSync(join(environment.PARLEY_DATA ?? '', 'credentials.json'), 'utf8'))
  const client = httpsClient(credentials.port, readFileSync(credentials.caFile, 'utf8'))
  return {
    output,
    credentials,
    client,
    async stop() {
      client.close()
      child.kill('SIGTERM')
      const [code] = await once(child, 'exit')
      return code
    },
  }
}

describe('the demo install', () => {
  let database: FreshDatabase
  let demo: Demo
  // biome-ignore lint/suspicious/noExplicitAny: records are looked into freely
  let calls: any[]

  const get = (path: string): Promise<Answer> => {
    const { hostname } = new URL(demo.credentials.callsBaseUrl ?? '')
    return demo.client.send(hostname, `/v3${path}`, { headers: { apikey: demo.credentials.apiKey ?? '' } })
  }

  before(async () => {
    database = await freshDatabase('sqlite')
    demo = await startDemo(database)
    calls = (await get('/calls?perPage=1000')).body.data
  })
  after(async () => {
    await demo.stop()
    await database.drop()
  })

  it('has a small company of people with pictures, roles and tags', async () => {
    const { data } = (await get('/users?withTags=true')).body
    assert.ok(data.length >= 10)
    for (const { name, avatar, metadata, tags } of data) {
      assert.match(avatar, /^https:\/\//, name)
      assert.ok(metadata.title && tags.length > 0, name)
    }
    assert.ok(new Set(data.map(({ role }: { role: string }) => role)).size > 2)
    assert.equal((await get(`/users?searchKey=${encodeURIComponent('田中')}`)).body.meta.pagination.total, 1)
  })

  it('has friends and blocks among them, and friends for those who see friends only', async () => {
    const { body: friends } = await get('/users/nora/friends')
    assert.ok(friends.data.length > 2)
    assert.ok((await get('/users/mei/blockedusers')).body.data.length > 0)
    const { body: customers } = await get('/users?role=customer')
    for (const { uid } of customers.data) assert.ok((await get(`/users/${uid}/friends`)).body.data.length > 0, uid)
  })

  it('has groups of every type, with somebody shut out of one', async () => {
    const { data } = (await get('/groups')).body
    assert.deepEqual(data.map(({ type }: { type: string }) => type).toSorted(), ['password', 'private', 'public'])
    for (const { guid, membersCount } of data) {
      assert.equal((await get(`/groups/${guid}/members`)).body.meta.pagination.total, membersCount, guid)
    }
    assert.equal((await get('/groups/all-hands/bannedusers')).body.data[0].uid, 'omar')
  })

  it('has people talking in groups and in private, in several scripts, with threads, reactions and files', async () => {
    const { data } = (await get('/messages?limit=1000')).body
    const said = data.filter(({ category }: { category: string }) => category === 'message')
    for (const script of [/\p{Script=Hiragana}/u, /\p{Script=Devanagari}/u, /\p{Script=Arabic}/u, /ü/]) {
      assert.ok(
        said.some(({ data: { text } }: { data: { text: string } }) => script.test(text)),
        String(script),
      )
    }
    for (const has of ['parentId', 'replyCount']) {
      assert.ok(
        said.some((message: Record<string, unknown>) => message[has]),
        has,
      )
    }
    assert.ok(said.some((message: { data: { reactions?: unknown } }) => message.data.reactions))
    assert.ok(said.some((message: { data: { attachments?: unknown } }) => message.data.attachments))
  })

  it('prints addresses, keys and a line to paste', () => {
    const { output, credentials } = demo
    for (const name of ['pageUrl', 'baseUrl', 'callsBaseUrl', 'managementUrl', 'appId', 'apiKey', 'authKey']) {
      assert.ok(output.includes(credentials[name] ?? '?'), name)
    }
    assert.ok(!output.includes(credentials.managementSecret ?? '?'), 'the management secret stays in the file')
    const line = /curl .*/.exec(output)?.[0] ?? ''
    assert.ok(line.includes(credentials.caFile ?? '?') && line.includes(`${credentials.callsBaseUrl}/calls`))
  })

  it('writes the same to credentials.json, for its owner only', () => {
    const file = join(database.environment.PARLEY_DATA ?? '', 'credentials.json')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.deepEqual(Object.keys(demo.credentials).toSorted(), [
      'apiKey',
      'appId',
      'authKey',
      'baseUrl',
      'caFile',
      'callsBaseUrl',
      'managementKey',
      'managementSecret',
      'managementUrl',
      'pageUrl',
      'port',
      'region',
    ])
    assert.match(demo.credentials.baseUrl ?? '', /^https:\/\/[0-9a-f]{16}\.api-us\.localhost:\d+\/v3$/)
    assert.match(demo.credentials.callsBaseUrl ?? '', /^https:\/\/[0-9a-f]{16}\.call-us\.localhost:\d+\/v3$/)
  })

  it('has at least 60 calls over the last 30 days, of every type, mode, status and receiver', () => {
    assert.ok(calls.length >= 60)
    const values = (name: string) => [...new Set(calls.map((call) => call[name]))].toSorted()
    assert.deepEqual(values('type'), ['audio', 'video'])
    assert.deepEqual(values('mode'), ['call', 'meet', 'presenter'])
    assert.deepEqual(values('receiverType'), ['group', 'user'])
    assert.deepEqual(values('status'), ['canceled', 'ended', 'initiated', 'ongoing', 'rejected', 'unanswered'])
    assert.deepEqual(values('hasRecording'), [false, true])
    const days = new Set(calls.map(({ startedAt }) => Math.floor(startedAt / daySeconds)))
    assert.ok(days.size >= 25, `${days.size} days`)
    const oldest = Math.min(...calls.map(({ startedAt }) => startedAt))
    assert.ok(oldest > Date.now() / 1000 - 31 * daySeconds)
  })

  it('has users on several devices, and names everyone it has calls of', async () => {
    const severalDevices = calls.filter(({ participants }) => {
      const joined = participants.filter(({ deviceId }: { deviceId?: string }) => deviceId)
      return new Set(joined.map(({ uid }: { uid: string }) => uid)).size < joined.length
    })
    assert.ok(severalDevices.length >= 3)
    const { hostname } = new URL(demo.credentials.callsBaseUrl ?? '')
    for (const uid of new Set(calls.map(({ initiator }) => initiator))) {
      const answer = await demo.client.send(hostname, '/v3/calls', {
        headers: { apikey: demo.credentials.apiKey ?? '', onBehalfOf: uid },
      })
      assert.equal(answer.status, 200)
      assert.ok(answer.body.meta.pagination.total > 0)
    }
  })

  it('opens the management door with the pair of the file', async () => {
    const { managementKey = '', managementSecret = '' } = demo.credentials
    const answer = await demo.client.send('apimgmt.localhost', '/apps', {
      headers: { key: managementKey, secret: managementSecret },
    })
    assert.equal(answer.body.data[0].id, demo.credentials.appId)
  })

  it('comes back with the same app, keys and pair, ends what was live, and the doctor finds nothing', async () => {
    const earlier = demo.credentials
    assert.equal(await demo.stop(), 0)
    demo = await startDemo(database)
    for (const name of ['appId', 'apiKey', 'authKey', 'managementKey', 'managementSecret', 'caFile']) {
      assert.equal(demo.credentials[name], earlier[name], name)
    }
    const doctor = await parleyHere(['doctor', '--json'], database.environment)
    assert.equal(doctor.code, 0, doctor.stdout)
  })

  it('makes a new demo app when the old one was deleted', async () => {
    const { managementKey = '', managementSecret = '', appId } = demo.credentials
    const answer = await demo.client.send('apimgmt.localhost', `/apps/${appId}`, {
      method: 'DELETE',
      headers: { key: managementKey, secret: managementSecret },
    })
    assert.equal(answer.status, 200)
    await demo.stop()
    demo = await startDemo(database)
    assert.notEqual(demo.credentials.appId, appId)
  })

  it('is for one server at a time', async () => {
    const second = await parley(['start', '--port', '0'], database.environment)
    assert.equal(second.code, 2)
    assert.match(second.stderr, /Another server is running/)
  })
})

describe('the demo data', () => {
  it('is made whatever the durations that are set', async () => {
    for (const [ring, lease] of [
      ['10', '5'],
      ['180', '3600'],
    ] as const) {
      const fresh = await freshDatabase('sqlite')
      const settings = { ...fresh.environment, PARLEY_RING_SECONDS: ring, PARLEY_LEASE_SECONDS: lease }
      const seeded = await parleyHere(['seed'], settings)
      assert.equal(seeded.code, 0, seeded.stderr)
      await fresh.drop()
    }
  })
})
