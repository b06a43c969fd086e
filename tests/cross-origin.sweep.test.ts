import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from './support/databases.ts'
import { nothingChanges } from './support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from './support/house.ts'
import { sendPlain } from './support/plain-http.ts'
import { stream } from './support/uploads.ts'
import { wire } from './support/wire.ts'

/** A browser shows a page nothing of an answer without these headers, not even that it was a refusal. */

type Headers = Record<string, string | string[] | undefined>

const methods = 'OPTIONS,HEAD,GET,POST,PUT,PATCH,DELETE'
const sent = ['apikey', 'onBehalfOf', 'Content-Type', 'Accept', 'appid', 'key', 'secret', 'authToken']
const sentInVain = ['dnt', 'origin', 'referer', 'sdk', 'resource', 'Authorization']

function assertOpen(headers: Headers, what: string): void {
  assert.equal(headers['access-control-allow-origin'], '*', what)
  assert.equal(headers['access-control-allow-methods'], methods, what)
  const allowed = String(headers['access-control-allow-headers']).toLowerCase().split(', ')
  for (const name of [...sent, ...sentInVain]) assert.ok(allowed.includes(name.toLowerCase()), `${what}: ${name}`)
  assert.equal(headers['access-control-allow-credentials'], undefined, what)
}

/** The headers in the text of an answer. */
function headersIn(text: string): Headers {
  const lines = text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n').slice(1)
  return Object.fromEntries(lines.map((line) => [line.split(': ', 1)[0]?.toLowerCase(), line.replace(/^[^:]*: /, '')]))
}

const lines = (...all: string[]) => [...all, '', ''].join('\r\n')

for (const database of databases) {
  describe(`pages of other origins on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database, strict: false, environment: { PARLEY_LIMIT_STANDARD: '200' } })
      app = await h.app('a')
      assertSucceeds(await app.post('/users', { uid: 'nora', name: 'Nora' }))
      assertSucceeds(await app.post('/users', { uid: 'milo', name: 'Milo' }))
    })
    after(() => h.close())

    it('may read every answer of the API, failures of every kind included', async () => {
      const large = JSON.stringify({ uid: 'x', name: 'x'.repeat(20_000) })
      const { key, secret } = h.management
      const answers = {
        200: await app.get('/users'),
        400: await app.post('/users', {}),
        '400 of a version': await h.client.send(app.host, '/v4/users', { headers: { apikey: app.apiKey } }),
        401: await h.client.send(app.host, '/v3/users'),
        '401 of an app': await h.client.send('0000.api-us.localhost', '/v3/users'),
        403: await app.withKey(app.authKey).get('/users'),
        '403 over plain HTTP': await sendPlain(h.service.port, app.host, '/v3/users'),
        404: await app.get('/nothing'),
        '404 of a record': await app.get('/users/nobody'),
        413: await app.send('/users', { method: 'POST', raw: large }),
        '200 of management': await h.client.send('apimgmt.localhost', '/apps', { headers: { key, secret } }),
        '401 of management': await h.client.send('apimgmt.localhost', '/apps'),
      }
      for (const [name, { status, headers }] of Object.entries(answers)) {
        assert.equal(status, Number.parseInt(name, 10), name)
        assertOpen(headers, name)
      }
    })

    it('may read the headers of limits, of repeats and of the request’s id', async () => {
      const { headers } = await app.get('/users', { origin: 'https://shop.example.org' })
      const readable = String(headers['access-control-expose-headers']).toLowerCase().split(', ')
      for (const name of ['x-request-id', 'retry-after', 'x-ratelimit-remaining', 'x-rate-limit-reset']) {
        assert.ok(readable.includes(name), name)
      }
      for (const name of Object.keys(headers).filter((each) => /^x-/.test(each)))
        assert.ok(readable.includes(name), name)
    })

    it('may read refusals of what never became a request', async () => {
      const texts = {
        400: 'hello there\r\n\r\n',
        '400 without a host': lines('GET /v3/users HTTP/1.1'),
        '400 of two hosts': lines('GET /v3/users HTTP/1.1', `host: ${app.host}`, 'host: localhost'),
        405: lines(`CONNECT ${app.host}:443 HTTP/1.1`, `host: ${app.host}`),
        414: lines(`GET /v3/${'x'.repeat(9_000)} HTTP/1.1`, `host: ${app.host}`),
        431: lines('GET /v3/users HTTP/1.1', `host: ${app.host}`, `x: ${'y'.repeat(40_000)}`),
        '431 of many headers': lines('GET /v3/users HTTP/1.1', `host: ${app.host}`, ...Array(250).fill('x: y')),
      }
      for (const [name, text] of Object.entries(texts)) {
        const line = await wire(h.service.port)
        line.say(text)
        const heard = await line.hears(/\r\n\r\n[\s\S]*\}$/)
        assert.equal(Number(heard.slice(9, 12)), Number.parseInt(name, 10), heard)
        assertOpen(headersIn(heard), name)
        line.socket.destroy()
      }
    })

    it('may read the refusal when there is no room, and when an allowance is used up', async () => {
      const full = await house({
        database,
        environment: { PARLEY_CONNECTIONS_MAX: '1', PARLEY_TRUST_PROXY: '127.0.0.1' },
      })
      const host = (await full.app('a')).host
      full.client.close()
      // A request whose body does not come keeps its connection busy.
      const busy = await wire(full.service.port, { secure: false })
      const head = ['POST /v3/users HTTP/1.1', `host: ${host}`, 'x-forwarded-proto: https', 'content-length: 9']
      busy.say(lines(...head, `apikey: ${(await full.app('a')).apiKey}`, 'expect: 100-continue'))
      await busy.hears(/100 Continue/)
      const turnedAway = await wire(full.service.port, { secure: false })
      turnedAway.say(lines('GET /healthz HTTP/1.1', `host: ${host}`))
      const heard = await turnedAway.closes()
      assert.match(heard, /^HTTP\/1\.1 503 /)
      assertOpen(headersIn(heard), '503')
      busy.socket.destroy()
      await full.close()

      const spent = await h.app('spent')
      const answers = await Promise.all(Array.from({ length: 401 }, () => spent.get('/nothing')))
      const refused = answers.find(({ status }) => status === 429)
      assert.ok(refused)
      assertOpen(refused.headers, '429')
    })

    it('may read files, and why one cannot be had', async () => {
      const files = [{ fileId: 'f1', name: 'a.txt', size: 5, mimeType: 'text/plain' }]
      const ask = { receiverId: 'milo', receiverType: 'user', files }
      const { uploadUrl, attachment } = assertSucceeds(await app.post('/files', ask, { onBehalfOf: 'nora' })).data.f1
      const { url } = attachment
      assertOpen((await stream(h, uploadUrl, { method: 'PUT', pieces: ['hello'] })).headers, 'the upload')
      const got = await stream(h, url)
      assert.equal(got.status, 200)
      assertOpen(got.headers, 'a file')
      const etag = String(got.headers.etag)
      const answers = {
        206: await stream(h, url, { headers: { range: 'bytes=1-2' } }),
        304: await stream(h, url, { headers: { 'if-none-match': etag } }),
        416: await stream(h, url, { headers: { range: 'bytes=90-99' } }),
        400: await stream(h, uploadUrl, { method: 'PUT', pieces: ['hello'] }),
        404: await stream(h, url.replace(/files\/..../, 'files/AAAA')),
      }
      for (const [status, { status: answered, headers }] of Object.entries(answers)) {
        assert.equal(answered, Number(status))
        assertOpen(headers, `${status} of a file`)
        if (answered !== 400) assert.equal(headers['cross-origin-resource-policy'], 'cross-origin')
      }
    })

    it('may read the pages of the install, but not the metrics, which are open by where a browser runs', async () => {
      for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs']) {
        assertOpen((await h.client.send('localhost', path)).headers, path)
      }
      const metrics = await h.client.send('localhost', '/metrics')
      assert.deepEqual([metrics.status, metrics.headers['access-control-allow-origin']], [200, undefined])
    })

    it('are told what they may send without a key, an app or a path that exists, and nothing happens', async () => {
      const assertUnchanged = await nothingChanges(h)
      const asked = { origin: 'https://shop.example.org', 'access-control-request-method': 'PUT' }
      const hosts = [app.host, app.callsHost, `${app.id}.apiclient-us.localhost`, 'api-us.localhost', 'localhost']
      for (const host of [...hosts, 'apimgmt.localhost', '0000.api-us.localhost']) {
        for (const headers of [{}, asked, { apikey: app.apiKey }] as Record<string, string>[]) {
          for (const path of ['/v3/users/nora', '/v4/odd', '/files/AAAA/a.txt', '/healthz']) {
            const answer = await h.client.send(host, path, { method: 'OPTIONS', headers })
            assert.deepEqual([answer.status, answer.text], [204, ''])
            assertOpen(answer.headers, `${host}${path}`)
            assert.equal(answer.headers['access-control-max-age'], '86400')
          }
        }
      }
      await assertUnchanged('questions of browsers')
    })

    it('may send any header that they ask for', async () => {
      const headers = { 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authtoken, x-own' }
      const answer = await h.client.send(app.host, '/v3/me', { method: 'OPTIONS', headers })
      assert.equal(answer.headers['access-control-allow-headers'], 'authtoken, x-own')
      assert.match(String(answer.headers.vary), /Access-Control-Request-Headers/)
    })

    it('are refused over plain HTTP when they ask, so that no browser goes on to send a key', async () => {
      const headers = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'apikey' }
      const answer = await sendPlain(h.service.port, app.host, '/v3/users', { method: 'OPTIONS', headers })
      assertFails(answer, 403, 'ERR_BAD_REQUEST')
    })

    it('do not keep a connection with a body that goes with the question and does not end', async () => {
      const line = await wire(h.service.port)
      line.say(lines('OPTIONS /v3/users HTTP/1.1', `host: ${app.host}`, 'transfer-encoding: chunked'))
      line.say('5\r\nhello\r\n')
      assert.match(await line.closes(), /^HTTP\/1\.1 204 /)
      const short = await wire(h.service.port)
      short.say(`${lines('OPTIONS /v3/users HTTP/1.1', `host: ${app.host}`, 'content-length: 5')}hello`)
      short.say(lines('GET /healthz HTTP/1.1', `host: ${app.host}`))
      await short.hears(/"ok"/)
      short.socket.destroy()
    })
  })
}
