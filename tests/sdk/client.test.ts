import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { getMe, listUsers } from '../../sdk/src/api.ts'
import { type Client, type ClientSettings, createClient, ParleyError, type TokenSource } from '../../sdk/src/index.ts'
import { tokenOf } from '../support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from '../support/house.ts'
import { appWith, say } from '../support/talk.ts'
import { until } from '../support/until.ts'
import { type Place, placeIn, watches } from './place.ts'

/** The client against a real server: it comes in, stays, is cut off and comes back. */

describe('the client of the SDK', () => {
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

  const place = () => placeIn(h)

  function clientAt({ runtime }: Place, token: TokenSource, more: Partial<ClientSettings> = {}): Client {
    const client = createClient({ url: `https://${app.host}`, token, runtime, ...more })
    clients.push(client)
    return client
  }

  async function connected(at: Place, uid: string, more?: Partial<ClientSettings>): Promise<Client> {
    const client = clientAt(at, await tokenOf(app, uid), more)
    await client.login()
    await isConnected(client)
    return client
  }

  const isConnected = (client: Client) => until('it is connected', () => client.connection.get().state === 'connected')

  function textsOf(client: Client): unknown[] {
    const texts: unknown[] = []
    client.on('message.received', ({ message }) => texts.push(message.data.text))
    return texts
  }

  const heard = (texts: unknown[], text: string) => until(`${text} is heard`, () => texts.includes(text))

  it('does nothing before it is asked to, and then connects once', async () => {
    const at = place()
    let asked = 0
    const token = await tokenOf(app, 'ada')
    const provider = () => {
      asked += 1
      return token
    }
    const [first, twin] = [clientAt(at, provider), clientAt(at, provider)]
    assert.deepEqual([asked, at.opened(), at.asked.length], [0, 0, 0])
    assert.deepEqual(at.open(), { timers: 0, sockets: 0, wakers: 0 })
    const [one, same] = await Promise.all([first.login(), first.login()])
    assert.equal(one.uid, 'ada')
    assert.equal(same, one)
    assert.deepEqual([asked, at.opened()], [1, 1])
    twin.logout()
    await isConnected(first)
    first.logout()
    assert.deepEqual(first.connection.get(), { state: 'offline' })
    await until('all is released', () => Object.values(at.open()).every((count) => count === 0))
  })

  it('logs in with a token, with one who makes tokens, and with a key for prototypes', async () => {
    const token = await tokenOf(app, 'lin')
    for (const source of [token, async () => token, { uid: 'lin', authOnlyKey: app.authKey }]) {
      const client = clientAt(place(), source)
      assert.equal((await client.login()).uid, 'lin')
      assert.equal((await client.call(getMe)).uid, 'lin')
      client.logout()
    }
  })

  it('names the app where the host does not', async () => {
    const client = clientAt(place(), await tokenOf(app, 'ada'), { url: 'https://localhost', appId: app.id })
    assert.equal((await client.login()).uid, 'ada')
    assert.ok((await client.call(listUsers, { perPage: 2 })).data.length > 0)
    client.logout()
  })

  it('tells what happens, by name', async () => {
    const ada = await connected(place(), 'ada')
    const told: string[] = []
    ada.on('message.received', ({ message }) => told.push(`received ${message.data.text}`))
    ada.on('message.edited', ({ message, by }) => told.push(`edited ${message.data.text} ${by.uid}`))
    ada.on('message.deleted', ({ message }) => told.push(`deleted ${message.id}`))
    ada.on('reaction.added', ({ reaction, message }) => told.push(`${reaction.reaction} ${message.id}`))
    ada.on('receipt.read', ({ user, messageId, receiver }) => told.push(`read ${user.uid} ${messageId} ${receiver}`))
    ada.on('member.added', ({ group, user }) => told.push(`added ${user.uid} ${group.guid}`))
    const as = { onBehalfOf: 'lin' }
    const { id } = await say(app, 'lin', 'ada', 'Boat')
    assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'Boats' } }, as))
    assertSucceeds(await app.post(`/messages/${id}/reactions/ok`, undefined, as))
    const sent = await say(app, 'ada', 'lin', 'Ten')
    assertSucceeds(await app.post('/users/ada/conversation/read', {}, as))
    assertSucceeds(await app.delete(`/messages/${id}`, undefined, as))
    assertSucceeds(await app.post('/groups', { guid: 'told', name: 'Told', type: 'public' }, { onBehalfOf: 'ada' }))
    assertSucceeds(await app.post('/groups/told/members', { participants: ['lin'] }))
    await until('all is told', () => told.length >= 8)
    assert.deepEqual(told, [
      'received Boat',
      'edited Boats lin',
      `ok ${id}`,
      // Whoever speaks has read what was said.
      `read ada ${id} lin`,
      'received Ten',
      `read lin ${sent.id} ada`,
      `deleted ${id}`,
      'added lin told',
    ])
    ada.logout()
  })

  it('hears no more where somebody has stopped listening', async () => {
    const ada = await connected(place(), 'ada')
    const texts = textsOf(ada)
    const early: unknown[] = []
    const stop = ada.on('message.received', ({ message }) => early.push(message.data.text))
    stop()
    stop()
    await say(app, 'lin', 'ada', 'Late')
    await heard(texts, 'Late')
    assert.deepEqual(early, [])
    ada.logout()
  })

  it('comes back after every cut, with all that was said meanwhile, once and in order', async () => {
    const at = place()
    const ada = await connected(at, 'ada')
    const texts = textsOf(ada)
    const said: string[] = []
    for (let n = 0; n < 6; n += 1) {
      if (n % 2 === 0) at.cut()
      said.push(`cut ${n}`)
      await say(app, 'lin', 'ada', `cut ${n}`)
      await heard(texts, `cut ${n}`)
    }
    assert.deepEqual(texts, said)
    ada.logout()
  })

  it('notices a connection over which nothing comes any more, by a probe or on waking', async () => {
    const at = place()
    const ada = await connected(at, 'ada')
    const texts = textsOf(ada)
    at.mute()
    assert.equal(at.pass(watches.probe), 1)
    assert.equal(at.pass(watches.answer), 1)
    await say(app, 'lin', 'ada', 'after the probe')
    await heard(texts, 'after the probe')
    await isConnected(ada)
    at.mute()
    at.wake()
    assert.equal(at.pass(watches.answer), 1)
    await say(app, 'lin', 'ada', 'after waking')
    await heard(texts, 'after waking')
    ada.logout()
  })

  it('notices it after sleep, which nothing tells of but the clock', async () => {
    const at = place()
    let slept = 0
    const runtime = { ...at.runtime, wallClock: () => Date.now() + slept }
    const ada = await connected(at, 'ada', { runtime })
    const texts = textsOf(ada)
    assert.equal(at.pass(watches.look), 1)
    at.mute()
    slept = 3_600_000
    assert.equal(at.pass(watches.look), 1)
    assert.equal(at.pass(watches.answer), 1)
    await say(app, 'lin', 'ada', 'after sleep')
    await heard(texts, 'after sleep')
    ada.logout()
  })

  it('comes back when a node that leaves has asked for it, and not later for having been let go later', async () => {
    let now = 0
    const listeners = new Map<string, (event: object) => void>()
    class LeavingNode {
      addEventListener(type: string, listener: (event: object) => void) {
        listeners.set(type, listener)
      }
      send() {}
      close() {}
    }
    const runtime = { webSocket: () => LeavingNode, now: () => now, random: () => 0, after: () => () => {} }
    const client = createClient({ url: 'https://localhost', token: 'token', runtime })
    clients.push(client)
    const login = client.login()
    await until('it is connecting', () => listeners.has('message'))
    const hears = (frame: object) => listeners.get('message')?.({ data: JSON.stringify(frame) })
    hears({ type: 'auth', body: { status: 'OK', user: { uid: 'ada' }, resource: 'x', position: '1.0' } })
    await login
    hears({ type: 'reconnect', body: { retryAfterMs: 8_000 } })
    now = 5_000
    listeners.get('close')?.({ code: 1012 })
    assert.equal(client.connection.get().retryAt, 8_000)
    client.logout()
  })

  it('stays where its probes are answered', async () => {
    const at = place()
    const ada = await connected(at, 'ada')
    for (let n = 0; n < 3; n += 1) {
      await until('the next probe is due', () => at.pass(watches.probe) === 1)
      await until('it is answered', () => at.pass(watches.probe) === 1)
    }
    assert.equal(at.opened(), 1)
    ada.logout()
  })

  it('keeps trying while the server is away, and login waits for it', async () => {
    const at = place()
    at.setAway(true)
    const ada = clientAt(at, await tokenOf(app, 'ada'))
    const login = ada.login()
    await until('it was tried three times', () => at.opened() >= 3)
    assert.ok(['offline', 'connecting'].includes(ada.connection.get().state))
    at.setAway(false)
    assert.equal((await login).uid, 'ada')
    ada.logout()
  })

  it('gives up what waits when the user logs out, and can log in again', async () => {
    const at = place()
    at.setAway(true)
    const ada = clientAt(at, await tokenOf(app, 'ada'))
    const login = ada.login()
    ada.logout()
    await assert.rejects(login, { code: 'ERR_ABORTED' })
    at.setAway(false)
    assert.equal((await ada.login()).uid, 'ada')
    ada.logout()
    await until('all is released', () => Object.values(at.open()).every((count) => count === 0))
  })

  it('asks for another token once, and ends where that is refused, too', async () => {
    const at = place()
    const reasons: string[] = []
    const good = await tokenOf(app, 'mia')
    const tokens = ['old', good]
    const mia = clientAt(at, ({ reason }) => {
      reasons.push(reason)
      return tokens.shift() ?? 'worse'
    })
    assert.equal((await mia.login()).uid, 'mia')
    assert.deepEqual(reasons, ['login', 'refused'])
    await isConnected(mia)
    assertSucceeds(await app.delete('/users/mia/auth_tokens'))
    await until('the session has ended', () => mia.connection.get().error?.kind === 'auth')
    assert.deepEqual(reasons, ['login', 'refused', 'refused'])
    assert.equal(mia.connection.get().retryAt, undefined)
    await until('all is released', () => Object.values(at.open()).every((count) => count === 0))
  })

  it('ends at once where the token cannot be another', async () => {
    const at = place()
    const client = clientAt(at, 'wrong')
    await assert.rejects(client.login(), (error) => ParleyError.is(error, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND'))
    assert.equal(at.opened(), 1)
  })

  it('renews a token that a request finds refused', async () => {
    const good = await tokenOf(app, 'lin')
    const tokens = ['old', good]
    const lin = clientAt(place(), () => tokens.shift() ?? good)
    assert.equal((await lin.call(getMe)).uid, 'lin')
  })

  it('says what is missing where there are no WebSockets', async () => {
    const at = placeIn(h, { webSocket: false })
    const client = clientAt(at, 'any', {
      runtime: {
        ...at.runtime,
        webSocket: () => {
          throw new Error('There is no WebSocket here.')
        },
      },
    })
    await assert.rejects(client.login(), { kind: 'usage', message: /no WebSocket here/ })
  })

  it('leaves nothing behind after many logins', async () => {
    const at = place()
    const token = await tokenOf(app, 'ada')
    for (let n = 0; n < 30; n += 1) {
      const client = clientAt(at, token)
      const login = client.login().catch(() => {})
      if (n % 3 > 0) await login
      client.logout()
    }
    await until('all is released', () => Object.values(at.open()).every((count) => count === 0))
  })
})
