import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type AppClient, type House, house } from './support/house.ts'
import { requestText, wire } from './support/wire.ts'

/** Whatever stands at the beginning of a request, it is served, refused with an answer that is heard, or closed. */

interface Refusal {
  status: number
  code: string
  fields: string[]
  /** Whether the connection was closed after it. */
  closed: boolean
}

describe('the head of a request', () => {
  let h: House
  let app: AppClient
  before(async () => {
    h = await house({ database: 'sqlite', environment: { PARLEY_TRUST_PROXY: '127.0.0.1' } })
    app = await h.app('only')
  })
  after(() => h.close())

  const vouched = { 'X-Forwarded-Proto': 'https' }
  const withKey = () => ({ ...vouched, apikey: app.apiKey })

  /** What was answered to a text; the connection is then still open, unless the server has closed it. */
  async function answerTo(text: string, secure: boolean): Promise<Refusal> {
    const line = await wire(h.service.port, { secure })
    line.say(text)
    const heard = await line.hears(/\r\n\r\n[\s\S]*\}$/)
    const body = JSON.parse(heard.slice(heard.indexOf('\r\n\r\n')))
    const closed = /^connection: close\r$/im.test(heard)
    if (closed) await line.closes()
    line.socket.destroy()
    const { code = '', message, devMessage, source, details = {} } = body.error ?? {}
    if (body.error) for (const each of [code, message, devMessage, source]) assert.equal(typeof each, 'string')
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(heard)?.[1]), code, fields: Object.keys(details), closed }
  }

  for (const secure of [true, false]) {
    const over = secure ? 'over TLS' : 'over plain HTTP from a trusted proxy'

    /** Refused in the contract's form; with the name of what is at fault, if one is given. */
    async function refused(text: string, status: number, field?: string): Promise<Refusal> {
      const answer = await answerTo(text, secure)
      assert.deepEqual([answer.status, answer.code], [status, 'ERR_BAD_REQUEST'])
      if (field !== undefined) assert.deepEqual(answer.fields, [field])
      return answer
    }
    const lines = (...all: string[]) =>
      [...all, 'X-Forwarded-Proto: https', `apikey: ${app.apiKey}`, '', ''].join('\r\n')

    describe(over, () => {
      it('must name one host', async () => {
        await refused(lines('GET /v3/apikeys HTTP/1.1'), 400, 'Host')
        await refused(lines('GET /healthz HTTP/1.1'), 400, 'Host')
        await refused(lines('GET /v3/apikeys HTTP/1.1', 'Host: localhost', 'Host: localhost'), 400, 'Host')
        await refused(
          lines('GET /v3/apikeys HTTP/1.1', `Host: ${app.host}`, 'host: other.api-us.localhost'),
          400,
          'Host',
        )
        await refused(lines('GET /v3/apikeys HTTP/1.0', 'Host: a', 'Host: b'), 400, 'Host')
      })

      it('of HTTP/1.0 may do without, and is then for the only app', async () => {
        assert.deepEqual((await answerTo(lines('GET /v3/apikeys HTTP/1.0'), secure)).status, 200)
      })

      it('may name a whole address, if it is the one that the host header names', async () => {
        const at = (target: string, host: string) => lines(`GET ${target} HTTP/1.1`, `Host: ${host}`)
        assert.equal((await answerTo(at(`https://${app.host}/v3/apikeys`, app.host), secure)).status, 200)
        await refused(at('https://other.api-us.localhost/v3/apikeys', app.host), 400, 'Host')
        await refused(at('https:///v3/apikeys', app.host), 400, 'Host')
        for (const target of ['*', 'v3/apikeys', 'ftp://x/v3', 'localhost:80']) {
          await refused(at(target, app.host), 400)
        }
      })

      it('that is too long is answered as that, and the answer is heard', async () => {
        const path = (characters: number) => `/v3/apikeys?unknown=${'x'.repeat(characters)}`
        const headers = { ...withKey(), Host: app.host }
        assert.equal((await answerTo(requestText('GET', path(8_000), headers), secure)).status, 200)
        await refused(requestText('GET', path(8_200), headers), 414)
        assert.equal((await refused(requestText('GET', path(30_000), headers), 414)).closed, true)
        assert.equal((await refused(requestText('GET', path(5_000_000), headers), 414)).closed, true)
        const header = (characters: number) =>
          requestText('GET', path(1), { ...headers, 'X-Long': 'x'.repeat(characters) })
        assert.equal((await answerTo(header(15_000), secure)).status, 200)
        assert.equal((await refused(header(17_000), 431)).closed, true)
        assert.equal((await refused(header(5_000_000), 431)).closed, true)
      })

      it('must not have lines without end', async () => {
        const many = (count: number) =>
          lines('GET /v3/apikeys HTTP/1.1', `Host: ${app.host}`, ...Array(count).fill('X: y'))
        assert.equal((await answerTo(many(150), secure)).status, 200)
        await refused(many(250), 431)
        await refused(many(2_500), 431)
        await refused(many(100_000), 431)
      })

      it('must leave no doubt about where the request ends', async () => {
        const post = (...all: string[]) =>
          [
            'POST /v3/apikeys HTTP/1.1',
            `Host: ${app.host}`,
            ...all,
            'X-Forwarded-Proto: https',
            `apikey: ${app.apiKey}`,
          ].join('\r\n')
        const smuggled = `GET /v3/apikeys HTTP/1.1\r\nHost: ${app.host}\r\n\r\n`
        for (const text of [
          `${post('Content-Length: 2', 'Content-Length: 2')}\r\n\r\n{}`,
          `${post('Content-Length: 2', 'Content-Length: 5')}\r\n\r\n{}`,
          `${post('Content-Length: 2, 2')}\r\n\r\n{}`,
          `${post('Content-Length: -1')}\r\n\r\n{}`,
          `${post('Content-Length: +2')}\r\n\r\n{}`,
          `${post('Content-Length: 0x2')}\r\n\r\n{}`,
          `${post('Content-Length: 99999999999999999999999')}\r\n\r\n{}`,
          `${post('Content-Length: 5', 'Transfer-Encoding: chunked')}\r\n\r\n0\r\n\r\n${smuggled}`,
          `${post('Transfer-Encoding: chunked', 'Content-Length: 5')}\r\n\r\n0\r\n\r\n${smuggled}`,
          `${post('Transfer-Encoding: chunked, identity')}\r\n\r\n0\r\n\r\n`,
          `${post('Transfer-Encoding: gzip')}\r\n\r\n0\r\n\r\n`,
          `${post('Transfer-Encoding : chunked')}\r\n\r\n0\r\n\r\n`,
          `${post('Transfer-Encoding: chunked')}\r\n\r\nzz\r\n`,
          `${post('Transfer-Encoding: chunked')}\r\n\r\n-1\r\n`,
          `${post('Transfer-Encoding: chunked')}\r\n\r\nffffffffffffffffff\r\n`,
          `${post('Transfer-Encoding: chunked')}\r\n\r\n2\r\n{}{}\r\n0\r\n\r\n`,
          `${post('Transfer-Encoding: chunked')}\n\n0\n\n`,
        ]) {
          const { closed } = await refused(text, 400)
          assert.equal(closed, true, text)
        }
        const extended = `${post('Transfer-Encoding: chunked')}\r\n\r\n2;${'x'.repeat(100_000)}\r\n{}\r\n0\r\n\r\n`
        assert.equal((await refused(extended, 413)).closed, true)
      })

      it('must have lines that are lines', async () => {
        for (const line of [
          'X: a\0b',
          'X\0Y: a',
          'X: a\r\n folded: b',
          'X: a\rY: b',
          ': a',
          'X Y: a',
          'no colon',
          'X: a\nY: b',
        ]) {
          await refused(lines('GET /v3/apikeys HTTP/1.1', `Host: ${app.host}`, line), 400)
        }
        await refused(lines('GET /v3/apikeys HTTP/9.9', `Host: ${app.host}`), 400)
        await refused(lines('GET /v3/apikeys', `Host: ${app.host}`), 400, 'HTTP')
        await refused(lines('GE T /v3/apikeys HTTP/1.1', `Host: ${app.host}`), 400)
        await refused(lines('BREW /v3/apikeys HTTP/1.1', `Host: ${app.host}`), 400)
        await refused('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400)
      })

      it('must not ask for another protocol, or for a way to somewhere else', async () => {
        const upgrade = [
          'Connection: Upgrade',
          'Upgrade: websocket',
          'Sec-WebSocket-Version: 13',
          'Sec-WebSocket-Key: x',
        ]
        await refused(lines('GET /v3/users HTTP/1.1', `Host: ${app.host}`, ...upgrade), 400, 'Upgrade')
        await refused(lines('GET /v3/realtime HTTP/1.1', `Host: ${app.host}`, ...upgrade), 400, 'Sec-WebSocket-Key')
        const offered = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: x']
        assert.equal(
          (await answerTo(lines('GET /v3/apikeys HTTP/1.1', `Host: ${app.host}`, ...offered), secure)).status,
          200,
        )
        assert.equal((await refused(lines(`CONNECT ${app.host}:443 HTTP/1.1`, `Host: ${app.host}`), 405)).closed, true)
        const traced = await answerTo(lines('TRACE /v3/apikeys HTTP/1.1', `Host: ${app.host}`), secure)
        assert.deepEqual([traced.status, traced.code], [404, 'ERR_API_NOT_FOUND'])
        await refused(lines('GET /v3/apikeys HTTP/1.1', `Host: ${app.host}`, 'Expect: cookies'), 400, 'Expect')
      })

      it('may offer another protocol, and no answer is then taken for that of a request behind it', async () => {
        for (const [offer, status] of [
          ['Upgrade: h2c', '200'],
          ['Upgrade: websocket', '400'],
        ] as const) {
          const line = await wire(h.service.port, { secure })
          const get = (...more: string[]) => lines('GET /v3/apikeys HTTP/1.1', `Host: ${app.host}`, ...more)
          line.say(`${get('Connection: Upgrade', offer)}${get()}`)
          await line.hears(/^HTTP/)
          line.say(get())
          assert.deepEqual((await line.closes()).match(/(?<=HTTP\/1\.1 )\d+/g), [status])
        }
      })

      it('may ask whether its body is welcome, and is then refused without having sent it', async () => {
        const asking = (key: string) =>
          [
            'POST /v3/apikeys HTTP/1.1',
            `Host: ${app.host}`,
            'X-Forwarded-Proto: https',
            `apikey: ${key}`,
            'Content-Length: 16',
            'Expect: 100-continue',
            '',
            '',
          ].join('\r\n')
        const refusedLine = await wire(h.service.port, { secure })
        refusedLine.say(asking('wrong'))
        const heard = await refusedLine.closes()
        assert.match(heard, /^HTTP\/1\.1 401 /)
        const welcome = await wire(h.service.port, { secure })
        welcome.say(asking(app.apiKey))
        await welcome.hears(/^HTTP\/1\.1 100 Continue\r\n\r\n$/)
        welcome.say(JSON.stringify({ name: secure ? 'asked' : 'again' }))
        assert.match(await welcome.hears(/\}$/), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
        welcome.socket.destroy()
      })
    })
  }
})
