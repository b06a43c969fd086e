import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { type Admin, createAdmin, createManagement, ParleyError } from '../../sdk/src/admin/index.ts'
import { type AppClient, type House, house } from '../support/house.ts'
import { type FaultProxy, faultProxy } from './fault-proxy.ts'

/** Real requests over a network that fails. Time is moved by hand: a wait is over at once, a time-out when it is told to be. */

const timeoutMs = 30_000

describe('the SDK on a network that fails', () => {
  let h: House
  let app: AppClient
  let proxy: FaultProxy
  let waits: number[]
  let patience: Set<() => void>

  before(async () => {
    h = await house({ database: 'sqlite' })
    app = await h.app('sdk')
    proxy = await faultProxy(h, app.host)
  })
  beforeEach(() => {
    waits = []
    patience = new Set()
  })
  after(async () => {
    await proxy.close()
    await h.close()
  })

  function adminWith(retries: number): Admin {
    return createAdmin({
      url: proxy.url,
      apiKey: app.apiKey,
      timeoutMs,
      retries,
      runtime: { random: () => 0.5, after: timer },
    })
  }

  function timer(milliseconds: number, run: () => void): () => void {
    if (milliseconds === timeoutMs) {
      patience.add(run)
      return () => patience.delete(run)
    }
    waits.push(milliseconds)
    queueMicrotask(run)
    return () => {}
  }

  const textsTo = async (uid: string) => {
    const messages = await adminWith(0).as('ada').messages.listUserMessages({ uid }).take(100)
    return messages.map(({ data }) => data.text)
  }

  async function people(...uids: string[]): Promise<void> {
    for (const uid of uids) await app.post('/users', { uid, name: uid })
  }

  it('tells why the server could not be reached, such as a certificate that nobody trusts', async () => {
    const { port } = h.service
    const admin = createAdmin({ url: `https://localhost:${port}`, appId: app.id, apiKey: app.apiKey, retries: 0 })
    await assert.rejects(admin.users.list().take(1), { code: 'ERR_NETWORK', message: /certificate/ })
  })

  it('does a write once whose answer was lost, and answers what it became', async () => {
    await people('ada', 'lost')
    proxy.plan('lose', 'cut', 'pass')
    const sent = await adminWith(2)
      .as('ada')
      .messages.send({ to: { user: 'lost' }, text: 'Once' })
    assert.equal(sent.data.text, 'Once')
    assert.deepEqual(await textsTo('lost'), ['Once'])
    const keys = proxy.seen.slice(0, 3).map(({ key }) => key)
    assert.equal(new Set(keys).size, 1)
    assert.ok(keys[0])
  })

  it('sends files again, and has them once', async () => {
    await people('ada', 'files')
    proxy.plan('lose', 'pass')
    const files = [new File(['oars'], 'oars.txt', { type: 'text/plain' })]
    const sent = await adminWith(1)
      .as('ada')
      .messages.send({ to: { user: 'files' }, text: 'Plan', type: 'file', files })
    assert.equal((sent.data.attachments as object[]).length, 1)
    assert.deepEqual(await textsTo('files'), ['Plan'])
  })

  it('makes an app once, too', async () => {
    const { key, secret } = h.management
    const door = await faultProxy(h, 'apimgmt.localhost')
    const management = createManagement({ url: door.url, key, secret, timeoutMs, runtime: { after: timer } })
    door.plan('lose', 'pass')
    const created = await management.apps.create({ name: 'Once', region: app.region as 'us' })
    const named = await management.apps.list({ searchKey: 'Once' }).take(10)
    await door.close()
    assert.deepEqual(
      named.map(({ id }) => id),
      [created.id],
    )
  })

  it('names a write also where it does not try again, so that its caller can', async () => {
    await people('ada', 'byhand')
    proxy.plan('lose')
    const ada = adminWith(0).as('ada')
    const idempotencyKey = 'order-17'
    const sending = { to: { user: 'byhand' }, text: 'By hand' }
    await assert.rejects(ada.messages.send(sending, { idempotencyKey }), { code: 'ERR_NETWORK', kind: 'network' })
    await ada.messages.send(sending, { idempotencyKey })
    assert.deepEqual(await textsTo('byhand'), ['By hand'])
    proxy.plan()
    await adminWith(0).users.create({ uid: 'keyed', name: 'Keyed' })
    assert.match(proxy.seen[0]?.key ?? '', /^[0-9a-f]{32}$/)
  })

  it('waits as long as it is told to, and some more', async () => {
    const body = JSON.stringify({ error: { code: 'ERR_TOO_MANY_REQUESTS', message: 'Later.' } })
    proxy.plan({ status: 429, headers: { 'Retry-After': '7' }, body }, { status: 503, body: '<html>' }, 'pass')
    await adminWith(2).users.list().take(1)
    assert.deepEqual(waits, [7_250, 500])
  })

  it('tells at once of what is too far off, or has failed often enough', async () => {
    const body = JSON.stringify({ error: { code: 'ERR_TOO_MANY_REQUESTS', message: 'Later.' } })
    proxy.plan({ status: 429, headers: { 'Retry-After': '3600' }, body })
    await assert.rejects(adminWith(2).users.list().take(1), { kind: 'rate', retryAfterMs: 3_600_000 })
    proxy.plan({ status: 502, body: '<html>' }, { status: 502, body: '<html>' }, { status: 502, body: '<html>' })
    await assert.rejects(adminWith(2).users.list().take(1), { code: 'ERR_UNREADABLE_ANSWER', kind: 'server' })
    assert.equal(proxy.seen.length, 3)
  })

  it('says so when an answer is not of this server', async () => {
    const odd = [
      '',
      'null',
      '"x"',
      '5',
      '[]',
      '{}',
      '{"error":null}',
      '{"error":"no"}',
      '{"error":{"code":5,"message":{}}}',
    ]
    for (const [status, kind] of [
      [200, 'server'],
      [403, 'refused'],
      [500, 'server'],
    ] as const) {
      for (const body of odd) {
        proxy.plan({ status, body })
        const refused = await adminWith(0)
          .users.get({ uid: 'ada' })
          .catch((error) => error)
        assert.ok(ParleyError.is(refused, 'ERR_UNREADABLE_ANSWER'), `${status} ${body}: ${refused}`)
        assert.equal(refused.kind, kind)
      }
    }
  })

  it('does not try again what was refused', async () => {
    proxy.plan()
    await assert.rejects(adminWith(2).users.get({ uid: 'nobody' }), { code: 'ERR_UID_NOT_FOUND' })
    assert.equal(proxy.seen.length, 1)
  })

  it('is not led elsewhere with its key', async () => {
    proxy.plan({ status: 307, headers: { Location: `${proxy.url}/elsewhere` } })
    await assert.rejects(adminWith(0).users.get({ uid: 'ada' }), { kind: 'network' })
    assert.equal(proxy.seen.length, 1)
  })

  it('gives up on an answer that does not come, and asks again', async () => {
    proxy.plan('hang', 'pass')
    const hanging = proxy.hanging()
    const answered = adminWith(1).users.list().take(1)
    await hanging
    for (const isOver of patience) isOver()
    await answered
    assert.equal(proxy.seen.length, 2)
    assert.equal(patience.size, 0)
  })

  it('says so where it may not ask again', async () => {
    proxy.plan('hang')
    const hanging = proxy.hanging()
    const answered = adminWith(0).users.list().take(1)
    const refused = assert.rejects(answered, { code: 'ERR_TIMEOUT', kind: 'network' })
    await hanging
    for (const isOver of patience) isOver()
    await refused
  })

  it('is given up between two attempts', async () => {
    const controller = new AbortController()
    const admin = createAdmin({
      url: proxy.url,
      apiKey: app.apiKey,
      timeoutMs,
      runtime: {
        after(milliseconds) {
          if (milliseconds !== timeoutMs) controller.abort()
          return () => {}
        },
      },
    })
    proxy.plan('cut')
    await assert.rejects(admin.users.get({ uid: 'ada' }, { signal: controller.signal }), { kind: 'aborted' })
    assert.equal(proxy.seen.length, 1)
  })
})
