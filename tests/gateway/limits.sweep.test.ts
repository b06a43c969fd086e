import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ClientOptions } from 'ws'
import { threadFollowed } from '../../server/src/areas/threads/events.ts'
import { workIn } from '../../server/src/common/work-in.ts'
import { databases } from '../support/databases.ts'
import {
  attachDevice,
  connect,
  type Frame,
  logIn,
  openSocket,
  tokenOf,
  untilAllGone,
  untilAllHeard,
} from '../support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from '../support/house.ts'
import { sendPlain } from '../support/plain-http.ts'
import { appWith, say } from '../support/talk.ts'
import { until } from '../support/until.ts'
import { requestText, wire } from '../support/wire.ts'

/** Connections that are too many, too slow, too loud or not welcome end, with a code that says why; all others go on. */

/** A connection that has not said who it is. */
async function stranger(h: House, app: AppClient, more?: ClientOptions) {
  const device = attachDevice(openSocket(h, app.host, undefined, more))
  await device.opened
  return device
}

const errorsIn = (frames: Frame[]) => frames.filter(({ type }) => type === 'error').map(({ body }) => body.code)

describe('a device that says nothing', () => {
  let h: House
  let app: AppClient
  before(async () => {
    // Long enough for everybody else, however busy the machine is.
    const livePatience = { silenceMilliseconds: 4_000, pingMilliseconds: 500, checkMilliseconds: 50 }
    h = await house({ database: 'sqlite', livePatience: { ...livePatience, authMilliseconds: 3_000 } })
    app = await appWith(h, 'ada')
  })
  after(() => h.close())

  it('is let go: before it has logged in, and where it does not answer; but not while it gives signs of life', async () => {
    const ada = await connect(h, app, 'ada')
    const authToken = await tokenOf(app, 'ada')
    const deaf = await logIn(openSocket(h, app.host, undefined, { autoPong: false }), 'ada', { authToken })
    const unknown = await stranger(h, app)
    assert.equal((await unknown.closed).code, 4408)
    assert.equal((await deaf.closed).code, 4408)
    await ada.reached()
    await ada.close()
  })
})

describe('a device', () => {
  let h: House
  let app: AppClient
  before(async () => {
    h = await house({ database: 'sqlite' })
    app = await appWith(h, 'ada', 'lin', 'many', 'crowded', 'often')
  })
  after(() => h.close())

  it('makes room for the hundred that came after it', async () => {
    const token = await tokenOf(app, 'many')
    const first = await connect(h, app, 'many', { token })
    const others = await Promise.all(Array.from({ length: 99 }, () => connect(h, app, 'many', { token })))
    await first.reached()
    const last = await connect(h, app, 'many', { token })
    assert.equal((await first.closed).code, 4409)
    for (const device of [...others, last]) await device.reached()
    const { text } = await h.client.send('localhost', '/metrics')
    assert.match(text, /^parley_sockets 100$/m)
    assert.match(text, /^parley_devices 100$/m)
    for (const device of [...others, last]) device.cut()
    await untilAllGone(h)
  })

  it('is one of a hundred, however many come at the same moment', async () => {
    const token = await tokenOf(app, 'crowded')
    const devices = await Promise.all(Array.from({ length: 120 }, () => connect(h, app, 'crowded', { token })))
    await until('the others are gone', async () => {
      const { text } = await h.client.send('localhost', '/metrics')
      return /^parley_devices 100$/m.test(text)
    })
    for (const device of devices) device.cut()
    await untilAllGone(h)
  })

  it('may send 64 KB in a frame, and not more', async () => {
    const ada = await connect(h, app, 'ada')
    const padded = (bytes: number) => `{"type":"ping","ref":7,"x":"${'x'.repeat(bytes - 30)}"}`
    assert.equal(padded(100).length, 100)
    const isAnswered = () => ada.frames.some(({ ref }) => ref === 7)
    socketOf(ada).send(padded(64 * 1024))
    await until('it is answered', isAnswered)
    socketOf(ada).send(padded(64 * 1024 + 1))
    assert.equal((await ada.closed).code, 4413)
    const lin = await connect(h, app, 'lin')
    socketOf(lin).send('x'.repeat(200_000))
    assert.equal((await lin.closed).code, 1009)
  })

  it('is let go where it sends too many frames, and not where it sends many', async () => {
    const ada = await connect(h, app, 'ada')
    for (let n = 0; n < 50; n += 1) ada.send({ type: 'ping' })
    await ada.reached()
    for (let n = 0; n < 200; n += 1) ada.send({ type: 'ping' })
    assert.equal((await ada.closed).code, 4429)
  })

  for (const sign of ['ping', 'pong'] as const) {
    it(`is let go where it sends a ${sign} of the WebSocket protocol without end`, async () => {
      const ada = await connect(h, app, 'ada')
      const socket = socketOf(ada)
      const answered = new Promise<string>((resolve) => socket.once('pong', (data) => resolve(String(data))))
      socket.ping('here')
      assert.equal(await answered, 'here')
      for (let n = 0; n < 200; n += 1) socket[sign]()
      assert.equal((await ada.closed).code, 4429)
    })
  }

  it('is let go where it sends a frame in pieces without end', async () => {
    const ada = await connect(h, app, 'ada')
    for (let n = 0; n < 501; n += 1) socketOf(ada).send(' ', { fin: false })
    assert.equal((await ada.closed).code, 1008)
  })

  it('is let go where it is refused more than ten times', async () => {
    const ada = await connect(h, app, 'ada')
    for (let n = 0; n < 10; n += 1) assert.equal((await ada.ask({ type: 'dance' })).type, 'error')
    await ada.reached()
    ada.send({ type: 'dance' })
    assert.equal((await ada.closed).code, 4429)
  })

  it('may not connect too often', async () => {
    const few = await house({ database: 'sqlite', environment: { PARLEY_LIMIT_CONNECTS: '3' } })
    const its = await appWith(few, 'often', 'seldom')
    const authToken = await tokenOf(its, 'often')
    for (let n = 0; n < 3; n += 1) await (await connect(few, its, 'often', { token: authToken })).close()
    const again = await stranger(few, its)
    again.send({ type: 'auth', body: { authToken } })
    assert.equal((await again.closed).code, 4429)
    assert.deepEqual(errorsIn(again.frames), ['ERR_TOO_MANY_REQUESTS'])
    await (await connect(few, its, 'seldom')).close()
    await few.close()
  })

  it('that does not read is let go, costs nobody else anything, and misses nothing', async () => {
    const [slow, quick] = [await connect(h, app, 'lin'), await connect(h, app, 'ada')]
    socketOf(slow).pause()
    const { database, tools } = h.service.house
    const words = Array.from({ length: 40 }, (_, n) => ({ uid: 'lin', messageId: `${n}`.padEnd(512 * 1024) }))
    await database.write((connection) => workIn(connection, app.id, tools).emitEach(threadFollowed, words))
    await say(app, 'lin', 'ada', 'Meanwhile')
    await until('the other one hears it', () => quick.frames.some(({ body }) => body?.data?.text === 'Meanwhile'))
    await until('it is let go', async () =>
      /^parley_devices_too_slow_total [1-9]/m.test((await h.client.send('localhost', '/metrics')).text),
    )
    socketOf(slow).resume()
    assert.ok([4503, 1006].includes((await slow.closed).code))
    const auth = { position: slow.position(), resource: slow.welcome.resource }
    const back = await connect(h, app, 'lin', { auth })
    await untilAllHeard(app, [back])
    assert.equal(back.welcome.resumed, true)
    const heard = [...slow.frames, ...back.frames].filter(({ type }) => type === 'thread')
    assert.deepEqual(
      heard.map(({ body }) => Number(body.messageId)),
      words.map((_, n) => n),
    )
    assert.ok(slow.frames.length < words.length)
    await back.close()
    await quick.close()
  })

  it('stays with its app, also where it need not name it and another one comes', async () => {
    const few = await house({ database: 'sqlite' })
    const only = await appWith(few, 'ada')
    const ada = await logIn(openSocket(few, 'localhost'), 'ada', { authToken: await tokenOf(only, 'ada') })
    await appWith(few, 'ada')
    await until('it would have to be named', async () =>
      (await few.client.send('localhost', '/v3/users')).text.includes('AUTH_ERR_EMPTY_APPID'),
    )
    assert.equal((await ada.ask({ type: 'presence', body: { mode: 'NONE' } })).type, 'ack')
    await ada.close()
    await few.close()
  })

  it('is told when to come back where the node leaves, and is let go in time', async () => {
    const leaving = await house({ database: 'sqlite' })
    const its = await appWith(leaving, 'ada')
    const token = await tokenOf(its, 'ada')
    const devices = await Promise.all(Array.from({ length: 5 }, () => connect(leaving, its, 'ada', { token })))
    const unknown = await stranger(leaving, its)
    const closing = leaving.close()
    for (const { frames, closed } of [...devices, unknown]) {
      assert.equal((await closed).code, 1012)
      const { type, body } = frames.at(-1)
      assert.equal(type, 'reconnect')
      assert.ok(body.retryAfterMs >= 0 && body.retryAfterMs <= 1_000)
    }
    await closing
  })
})

const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const typing = (more: string) => `{"type":"typing_indicator","ref":"t","receiver":"lin","receiverType":"user",${more}}`

/** Frames that are refused, whoever sends them. */
const odd: Record<string, (string | Buffer)[]> = {
  'that is no JSON': ['', '{', 'x', '{"type":"ping"', 'NaN', '\u0000'],
  'that is no object': ['null', '1', '"ping"', '[]', '[{"type":"ping"}]', 'true'],
  'of no known type': ['{}', '{"type":1}', '{"type":["ping"]}', '{"type":"Ping"}', '{"type":"__proto__"}'],
  'of a type that every object has': ['{"type":"constructor"}', '{"type":"toString"}', '{"__proto__":{"type":"ping"}}'],
  'that is binary': [Buffer.from('{"type":"ping"}'), Buffer.alloc(100)],
  'that is nested without end': [
    deep(30_000),
    typing(`"body":{"action":"started","metadata":${deep(15_000)}}`),
    `{"type":"transient_message","receiver":"lin","receiverType":"user","body":{"data":${deep(65)}}}`,
    `{"type":"auth","body":{"authToken":"x","appInfo":{"a":${deep(20_000)}}}}`,
  ],
  'with more values than anybody needs': [typing(`"body":{"action":"started","metadata":[${'1,'.repeat(20_000)}1]}`)],
  'without what it needs': [
    typing('"body":{}'),
    typing('"x":1'),
    typing('"body":null'),
    '{"type":"presence","body":{"mode":"EVERYBODY"}}',
    '{"type":"receipts","receiver":"lin","receiverType":"bot","body":{"action":"read"}}',
    '{"type":"receipts","receiver":"","receiverType":"user","body":{"action":"read"}}',
    `{"type":"receipts","receiver":"${'x'.repeat(101)}","receiverType":"user","body":{"action":"read"}}`,
  ],
  'with text that no database keeps': [
    '{"type":"typing_indicator","receiver":"l\\u0000n","receiverType":"user","body":{"action":"started"}}',
    '{"type":"receipts","receiver":"l\\ud800n","receiverType":"user","body":{"action":"read"}}',
    '{"type":"receipts","receiver":"lin","receiverType":"user","body":{"action":"read","messageId":"\\u0000"}}',
  ],
  'with numbers that are too large': [
    '{"type":"receipts","receiver":"lin","receiverType":"user","body":{"action":"read","messageId":1e400}}',
    '{"type":"receipts","receiver":"lin","receiverType":"user","body":{"action":"read","messageId":99999999999999999999}}',
  ],
  'that says something twice, the last time wrongly': ['{"type":"ping","type":"dance"}'],
}

for (const database of databases) {
  describe(`connections on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', 'lin')
    })
    after(() => h.close())

    for (const [what, frames] of Object.entries(odd)) {
      it(`are told what is wrong with a frame ${what}, and go on`, async () => {
        const ada = await connect(h, app, 'ada')
        for (const frame of frames) socketOf(ada).send(frame)
        await ada.reached()
        assert.deepEqual(
          ada.frames.slice(1).map(({ type, body }) => [type, body.code, typeof body.message]),
          frames.map(() => ['error', 'ERR_BAD_REQUEST', 'string']),
        )
        await ada.close()
      })
    }

    it('are answered with the ref that they gave, if it is one', async () => {
      const ada = await connect(h, app, 'ada')
      const refs = ['1e400', '"x"', '1.5', `"${'x'.repeat(101)}"`, '{}', 'null', '-0']
      for (const ref of refs) socketOf(ada).send(`{"type":"ping","ref":${ref}}`)
      await ada.reached()
      assert.deepEqual(
        ada.frames.slice(1).map(({ ref }) => ref),
        [undefined, 'x', 1.5, undefined, undefined, undefined, 0],
      )
      await ada.close()
    })

    it('are welcomed with the ref that they gave', async () => {
      const ada = await stranger(h, app)
      const welcome = await ada.ask({ type: 'auth', body: { authToken: await tokenOf(app, 'ada') } })
      assert.deepEqual([welcome.type, welcome.body.user.uid], ['auth', 'ada'])
      ada.cut()
    })

    it('say who they are, once, before anything else', async () => {
      const unknown = await stranger(h, app)
      unknown.send({ type: 'typing_indicator', receiver: 'lin', receiverType: 'user', body: { action: 'started' } })
      unknown.send({ type: 'ping' })
      await until('both are answered', () => unknown.frames.length === 2)
      assert.deepEqual(
        unknown.frames.map(({ type }) => type),
        ['error', 'pong'],
      )
      unknown.cut()
      const ada = await connect(h, app, 'ada')
      assert.equal((await ada.ask({ type: 'auth', body: { authToken: await tokenOf(app, 'lin') } })).type, 'error')
      await ada.close()
    })

    it('are closed without a token that lets them in', async () => {
      const other = await appWith(h, 'ada')
      const deleted = await tokenOf(app, 'ada')
      assertSucceeds(await app.delete(`/users/ada/auth_tokens/${deleted}`))
      const tokens: [object, string][] = [
        [{}, 'AUTH_ERR_EMPTY_AUTH_TOKEN'],
        [{ authToken: '' }, 'AUTH_ERR_EMPTY_AUTH_TOKEN'],
        [{ authToken: 'ada_123' }, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND'],
        [{ authToken: deleted }, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND'],
        [{ authToken: await tokenOf(other, 'ada') }, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND'],
        [{ authToken: app.apiKey }, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND'],
      ]
      for (const [body, code] of tokens) {
        const unknown = await stranger(h, app)
        unknown.send({ type: 'auth', body })
        assert.equal((await unknown.closed).code, 4401)
        assert.deepEqual(errorsIn(unknown.frames), [code])
      }
    })

    const ends: Record<string, (app: AppClient, token: string) => Promise<unknown>> = {
      'its token is deleted': (its, token) => its.delete(`/users/ada/auth_tokens/${token}`),
      'all tokens of its user are deleted': (its) => its.delete('/users/ada/auth_tokens'),
      'its user is deactivated': (its) => its.delete('/users', { uidsToDeactivate: ['ada'] }),
      'its user is deleted': (its) => its.delete('/users/ada', { permanent: true }),
      'its app is deleted': (its) => h.management.delete(`/apps/${its.id}`),
    }
    for (const [when, end] of Object.entries(ends)) {
      it(`are closed when ${when}, and no others`, async () => {
        const its = await appWith(h, 'ada', 'lin')
        const token = await tokenOf(its, 'ada')
        const [gone, stays] = [await connect(h, its, 'ada', { token }), await connect(h, app, 'ada')]
        const lin = await connect(h, its, 'lin')
        assertSucceeds((await end(its, token)) as never)
        assert.equal((await gone.closed).code, 4401)
        await stays.reached()
        if (when !== 'its app is deleted') await lin.reached()
        else assert.equal((await lin.closed).code, 4401)
        const again = await stranger(h, its)
        again.send({ type: 'auth', body: { authToken: token } })
        assert.equal((await again.closed).code, 4401)
        await stays.close()
        lin.cut()
      })
    }
  })
}

describe('the way in', () => {
  let h: House
  let app: AppClient
  before(async () => {
    h = await house({ database: 'sqlite' })
    app = await appWith(h, 'ada')
  })
  after(() => h.close())

  const asking = (more: Record<string, string> = {}) => ({
    ...{ Host: app.host, Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' },
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...more,
  })
  async function answerTo(text: string): Promise<string> {
    const line = await wire(h.service.port)
    line.say(text)
    const heard = await line.hears(/^HTTP\/1.1 \d+ /)
    line.socket.destroy()
    return heard.slice(0, 12)
  }

  it('is one path, over TLS, for those who can speak the protocol', async () => {
    const paths = ['/v3/realtime', '/v3.0/realtime', '/v3/realtime/', '/v3/realtime?appid=x']
    for (const path of paths) assert.equal(await answerTo(requestText('GET', path, asking())), 'HTTP/1.1 101')
    for (const path of ['/', '/v3', '/v3/users', '/v3/realtimes', '/v3/realtime/x', '/v2/realtime', '/metrics']) {
      assert.match(await answerTo(requestText('GET', path, asking())), / 4\d\d$/, path)
    }
    assert.match(await answerTo(requestText('GET', '/v3/realtime', asking({ 'Sec-WebSocket-Key': 'x' }))), / 400$/)
    assert.match(await answerTo(requestText('GET', '/v3/realtime', asking({ 'Sec-WebSocket-Version': '8' }))), / 400$/)
    assert.match(await answerTo(requestText('POST', '/v3/realtime', asking())), / 400$/)
    assert.match(await answerTo(requestText('GET', '/v3/realtime', { Host: app.host })), / 4\d\d$/)
  })

  it('is not open over plain HTTP', async () => {
    const { status } = await sendPlain(h.service.port, app.host, '/v3/realtime', { headers: asking() })
    assert.ok(status >= 400 && status < 500, String(status))
  })

  it('is not open before earlier requests are answered', async () => {
    const line = await wire(h.service.port)
    line.say(requestText('GET', '/healthz', { Host: app.host }) + requestText('GET', '/v3/realtime', asking()))
    const heard = await line.closes()
    assert.deepEqual(heard.match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 400'])
  })
})

const socketOf = (device: object) => (device as ReturnType<typeof attachDevice>).socket
