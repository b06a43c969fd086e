import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Client, type ClientSettings, createClient, type TextStorage } from '../../sdk/src/index.ts'
import { tokenOf } from '../support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from '../support/house.ts'
import { appWith, as, somebodyIn } from '../support/talk.ts'
import { until } from '../support/until.ts'
import { type Place, placeIn } from './place.ts'

/** Texts that wait to be sent survive the page: once, in order, and for nobody else. */

const day = 24 * 60 * 60_000

/** As `localStorage`, of which one can see what is in it. */
function storageWith(items = new Map<string, string>()): TextStorage & { items: Map<string, string> } {
  return {
    items,
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, text) => void items.set(key, text),
    removeItem: (key) => void items.delete(key),
  }
}

/** As the locks of a browser: one holder at a time, then the next. */
function locks() {
  const queues = new Map<string, { run(): void }[]>()
  return (name: string, run: () => void) => {
    const queue = queues.get(name) ?? []
    queues.set(name, queue)
    const own = { run }
    queue.push(own)
    if (queue[0] === own) run()
    return () => {
      const isHolder = queue[0] === own
      queue.splice(queue.indexOf(own), 1)
      if (isHolder) queue[0]?.run()
    }
  }
}

describe('the outbox on a storage', () => {
  let h: House
  let app: AppClient
  const clients: Client[] = []

  before(async () => {
    h = await house({ database: 'sqlite' })
    app = await appWith(h, 'ada', 'lin', 'mia')
  })
  after(async () => {
    for (const client of clients) client.logout()
    await h.close()
  })

  const somebody = () => somebodyIn(app)

  async function clientOf(uid: string, place: Place, more: Partial<ClientSettings>): Promise<Client> {
    const { runtime } = place
    const client = createClient({ url: `https://${app.host}`, token: await tokenOf(app, uid), runtime, ...more })
    clients.push(client)
    await client.login()
    await until('it is connected', () => client.connection.get().state === 'connected')
    return client
  }

  /** A page that is closed says nothing, and is heard of no more. */
  function close(place: Place): void {
    place.setAway(true)
    place.cut()
  }

  async function said(uid: string, to: string): Promise<string[]> {
    const { data } = assertSucceeds(await app.get(`/users/${to}/messages?affix=append`, as(uid)))
    return data.map((message: { data: { text: string } }) => message.data.text)
  }

  /** A page on which something was written, and could not be sent, before it was closed. */
  async function left(uid: string, to: string, texts: string[], more: Partial<ClientSettings>): Promise<void> {
    const place = placeIn(h)
    const client = await clientOf(uid, place, { ...more, runtime: { ...place.runtime, ...more.runtime } })
    place.setFault((method) => (method === 'POST' ? 'cut' : 'pass'))
    for (const text of texts) client.conversation({ user: to }).send({ text })
    await until('it was tried', () => client.outbox.get()[0]?.error !== undefined)
    close(place)
  }

  it('sends after a reload what was waiting, once and in order', async () => {
    const [uid, to] = [await somebody(), await somebody()]
    const storage = storageWith()
    await left(uid, to, ['one', 'two'], { storage })
    const client = await clientOf(uid, placeIn(h), { storage })
    const talk = client.conversation({ user: to })
    const stop = talk.messages.subscribe(() => {})
    const last = talk.send({ text: 'three' })
    await last.done
    await until('all has gone', () => client.outbox.get().length === 0)
    assert.deepEqual(await said(uid, to), ['one', 'two', 'three'])
    assert.equal(storage.items.size, 0)
    stop()
  })

  it('sends once what had arrived though its answer was lost', async () => {
    const [uid, to] = [await somebody(), await somebody()]
    const storage = storageWith()
    const place = placeIn(h)
    const client = await clientOf(uid, place, { storage })
    place.mute()
    place.setFault((method) => (method === 'POST' ? 'lose' : 'pass'))
    client.conversation({ user: to }).send({ text: 'one' })
    await until('it was tried', () => client.outbox.get()[0]?.error !== undefined)
    close(place)
    const next = await clientOf(uid, placeIn(h), { storage })
    await until('all has gone', () => storage.items.size === 0 && next.outbox.get().length === 0)
    assert.deepEqual(await said(uid, to), ['one'])
  })

  it('is for one user of one app alone, and cleared when they log out', async () => {
    const [uid, to, other] = [await somebody(), await somebody(), await somebody()]
    const storage = storageWith()
    await left(uid, to, ['one'], { storage })
    assert.equal(storage.items.size, 1)
    assert.ok(![...storage.items].flat().some((text) => text.includes('authToken')))
    const stranger = await clientOf(other, placeIn(h), { storage })
    assert.deepEqual(stranger.outbox.get(), [])
    stranger.logout()
    assert.equal(storage.items.size, 1)
    const place = placeIn(h)
    const runtime = { ...place.runtime, wallClock: () => Date.now() + 2 * day }
    const client = await clientOf(uid, place, { storage, runtime })
    assert.equal(client.outbox.get().length, 1)
    client.logout()
    assert.equal(storage.items.size, 0)
  })

  it('waits for a tap after a day', async () => {
    const [uid, to] = [await somebody(), await somebody()]
    const storage = storageWith()
    await left(uid, to, ['one'], { storage })
    const place = placeIn(h)
    const runtime = { ...place.runtime, wallClock: () => Date.now() + day }
    const client = await clientOf(uid, place, { storage, runtime })
    await until('it waits', () => client.outbox.get()[0]?.state === 'failed')
    assert.equal(client.outbox.get()[0]?.error?.code, 'ERR_TIMEOUT')
    assert.deepEqual(await said(uid, to), [])
    client.outbox.get()[0]?.retry()
    await until('it has gone', () => client.outbox.get().length === 0)
    assert.deepEqual(await said(uid, to), ['one'])
  })

  it('keeps what was refused, with the reason, until it is discarded', async () => {
    const [uid, to] = [await somebody(), await somebody()]
    const storage = storageWith()
    assertSucceeds(await app.post(`/users/${to}/blockedusers`, { blockedUids: [uid] }))
    const place = placeIn(h)
    const before = await clientOf(uid, place, { storage })
    await assert.rejects(before.conversation({ user: to }).send({ text: 'Hello?' }).done)
    const [refused] = before.outbox.get()
    close(place)
    const client = await clientOf(uid, placeIn(h), { storage })
    const [entry] = client.outbox.get()
    assert.deepEqual([entry?.key, entry?.state, entry?.error?.code], [refused?.key, 'failed', refused?.error?.code])
    entry?.discard()
    assert.equal(storage.items.size, 0)
  })

  it('outlives a session whose token is refused', async () => {
    const [uid, to] = [await somebody(), await somebody()]
    const storage = storageWith()
    const place = placeIn(h)
    const client = await clientOf(uid, place, { storage })
    place.setFault((method) => (method === 'POST' ? 'cut' : 'pass'))
    client.conversation({ user: to }).send({ text: 'one' })
    assertSucceeds(await app.delete(`/users/${uid}/auth_tokens`))
    await until('the session has ended', () => client.connection.get().error?.kind === 'auth')
    assert.deepEqual([client.outbox.get().length, storage.items.size], [0, 1])
    const next = await clientOf(uid, placeIn(h), { storage })
    await until('it has gone', () => storage.items.size === 0 && next.outbox.get().length === 0)
    assert.deepEqual(await said(uid, to), ['one'])
  })

  it('is taken over by one tab at a time, and none loses what is of another', async () => {
    const [uid, to] = [await somebody(), await somebody()]
    const storage = storageWith()
    const lock = locks()
    await left(uid, to, ['one'], { storage })
    const [first, second] = [placeIn(h), placeIn(h)]
    for (const place of [first, second]) place.setFault((method) => (method === 'POST' ? 'cut' : 'pass'))
    const holder = await clientOf(uid, first, { storage, runtime: { ...first.runtime, lock } })
    const waiter = await clientOf(uid, second, { storage, runtime: { ...second.runtime, lock } })
    assert.deepEqual([holder.outbox.get().length, waiter.outbox.get().length], [1, 0])
    waiter.conversation({ user: to }).send({ text: 'two' })
    holder.conversation({ user: to }).send({ text: 'three' })
    assert.equal(JSON.parse([...storage.items.values()][0] ?? '').length, 3)
    second.setFault(() => 'pass')
    await until('the second has sent its own', () => waiter.outbox.get().length === 0)
    assert.deepEqual(await said(uid, to), ['two'])
    first.setFault(() => 'pass')
    await until('the first has sent the rest', () => storage.items.size === 0)
    assert.deepEqual(await said(uid, to), ['two', 'one', 'three'])
  })

  it('survives a storage that is full, forbidden, or holds what it cannot read', async () => {
    const [uid, to] = [await somebody(), await somebody()]
    const fail = () => {
      throw new Error('QuotaExceededError')
    }
    const broken: TextStorage = { getItem: fail, setItem: fail, removeItem: fail }
    const client = await clientOf(uid, placeIn(h), { storage: broken })
    await client.conversation({ user: to }).send({ text: 'one' }).done
    client.logout()
    const storage = storageWith()
    await left(uid, to, ['kept'], { storage })
    const [[key = '', text = ''] = []] = [...storage.items]
    const [good] = JSON.parse(text)
    const others = ['{', 'null', '{}', '"x"', '[null, 1, "x", {}]']
    for (const stored of others) {
      storage.items.set(key, stored)
      const next = await clientOf(uid, placeIn(h), { storage })
      assert.deepEqual(next.outbox.get(), [])
      await next.conversation({ user: to }).send({ text: stored }).done
      next.logout()
    }
    const bad = { ...good, input: { ...good.input, receiver: 7 } }
    storage.items.set(key, JSON.stringify([bad, { ...good, since: 'now' }, good]))
    const next = await clientOf(uid, placeIn(h), { storage })
    await until('all has gone', () => next.outbox.get().length === 0)
    assert.deepEqual(await said(uid, to), ['one', ...others, 'kept'])
  })

  it('has room for 200, whatever is stored', async () => {
    const [uid, to] = [await somebody(), await somebody()]
    const storage = storageWith()
    await left(uid, to, ['x'], { storage })
    const [[key = '', text = ''] = []] = [...storage.items]
    const [good] = JSON.parse(text)
    const many = Array.from({ length: 300 }, (_, n) => ({ ...good, since: 0, input: { ...good.input, muid: `${n}` } }))
    storage.items.set(key, JSON.stringify(many))
    const client = await clientOf(uid, placeIn(h), { storage })
    assert.equal(client.outbox.get().length, 200)
    await until('all wait', () => client.outbox.get().every(({ state }) => state === 'failed'))
    client.logout()
  })
})
