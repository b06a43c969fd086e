import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, mock } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { databaseAt, runAt } from '../scripts/postgres.ts'
import { hostNames, localCertificates, namesMissing } from '../server/src/install/certificates.ts'
import { issue } from '../server/src/install/issue-certificates.ts'
import { databases } from './support/databases.ts'
import { nothingChanges } from './support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, callerAt, type House, house } from './support/house.ts'
import type { Sending } from './support/http.ts'
import { sendPlain } from './support/plain-http.ts'
import { install } from './support/server-process.ts'

const regions = ['us', 'eu', 'in']
const vouched = { 'x-forwarded-proto': 'https' }

for (const database of databases) {
  describe(`plain HTTP on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database })
      app = await h.app('a')
    })
    after(() => h.close())

    const plain = (path: string, sending: Sending = {}, host = app.host) =>
      sendPlain(h.service.port, host, path, { ...sending, headers: { apikey: app.apiKey, ...sending.headers } })

    it('is refused and never processed, whatever is asked', async () => {
      const { key, secret } = h.management
      const assertUnchanged = await nothingChanges(h)
      const answers = [
        await plain('/v3/apikeys'),
        await plain('/v3/apikeys', { method: 'POST', body: { name: 'leaked' } }),
        await plain(`/v3/apikeys/${app.authKey}`, { method: 'DELETE' }),
        await plain('/apps', { method: 'POST', body: { name: 'x' }, headers: { key, secret } }, 'apimgmt.localhost'),
        await plain('/v3/apikeys', {}, 'localhost'),
        await plain('/nothing'),
        await plain('/healthz'),
        await plain('/metrics'),
        await plain('/docs'),
        await plain('/v3/apikeys', { headers: vouched }),
        await plain('/v3/apikeys', {
          headers: { ...vouched, 'x-forwarded-for': '127.0.0.1', forwarded: 'proto=https' },
        }),
      ]
      for (const answer of answers) {
        assertFails(answer, 403, 'ERR_BAD_REQUEST')
        assert.equal(answer.headers.location, undefined)
        assert.ok(!answer.text.includes(app.apiKey))
      }
      await assertUnchanged('plain requests')
    })

    it('that is no HTTP at all gets a readable refusal', async () => {
      const text = await rawAnswer(h.service.port, 'hello there\r\n\r\n')
      assert.match(text, /^HTTP\/1\.1 400 /)
      assert.equal(JSON.parse(text.split('\r\n\r\n')[1] ?? '').error.code, 'ERR_BAD_REQUEST')
    })

    it('with a body too large is refused as that, whether its length is told or not', async () => {
      const h = await house({ database })
      const app = await h.app('one')
      const raw = JSON.stringify({ uid: 'a', name: 'x'.repeat(10_240) })
      const told = await app.send('/users', { method: 'POST', raw })
      assert.deepEqual([told.status, told.body.error.code], [413, 'ERR_BAD_REQUEST'])
      const chunk = `${raw.length.toString(16)}\r\n${raw}\r\n0\r\n\r\n`
      const head = `POST /v3/users HTTP/1.1\r\nhost: ${app.host}\r\napikey: ${app.apiKey}\r\ntransfer-encoding: chunked`
      const socket = connect({
        host: '127.0.0.1',
        port: h.service.port,
        servername: app.host,
        rejectUnauthorized: false,
      })
      socket.write(`${head}\r\n\r\n${chunk}`)
      const [answer] = await once(socket, 'data')
      assert.match(String(answer), /^HTTP\/1\.1 413 /)
      socket.destroy()
      await h.close()
    })

    it('with headers too large is refused as that', async () => {
      const headers = `x: ${'y'.repeat(40_000)}`
      const text = await rawAnswer(h.service.port, `GET / HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`)
      assert.match(text, /^HTTP\/1\.1 431 /)
    })
  })

  describe(`a proxy in front, on ${database}`, () => {
    const behind = (trusted: string) => house({ database, environment: { PARLEY_TRUST_PROXY: trusted } })

    it('is believed when its address is trusted and it says https', async () => {
      const h = await behind('127.0.0.1')
      const { host, apiKey } = await h.app('a')
      const send = (headers: Record<string, string>) =>
        sendPlain(h.service.port, host, '/v3/apikeys', { headers: { apikey: apiKey, ...headers } })
      assertSucceeds(await send(vouched))
      for (const headers of [
        {},
        { 'x-forwarded-proto': 'http' },
        { 'x-forwarded-proto': 'http, https' },
        { forwarded: 'proto=https' },
      ]) {
        assertFails(await send(headers as Record<string, string>), 403, 'ERR_BAD_REQUEST')
      }
      await h.close()
    })

    it('is believed by range', async () => {
      const h = await behind('10.0.0.0/8, 127.0.0.0/8, ::1')
      const { host, apiKey } = await h.app('a')
      assertSucceeds(await sendPlain(h.service.port, host, '/v3/apikeys', { headers: { apikey: apiKey, ...vouched } }))
      await h.close()
    })

    it('is not believed from any other address', async () => {
      const h = await behind('10.0.0.0/8, 192.168.1.1, fd00::/8')
      const { host, apiKey } = await h.app('a')
      const assertUnchanged = await nothingChanges(h)
      const sending = { method: 'POST', body: { name: 'x' }, headers: { apikey: apiKey, ...vouched } }
      assertFails(await sendPlain(h.service.port, host, '/v3/apikeys', sending), 403, 'ERR_BAD_REQUEST')
      await assertUnchanged('a request over an untrusted proxy')
      await h.close()
    })

    it('does not stand in the way of TLS', async () => {
      const h = await behind('127.0.0.1')
      assertSucceeds(await (await h.app('a')).get('/apikeys'))
      await h.close()
    })
  })
}

describe('certificates', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-test-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  it('are verified by the authority for every host of the install', async () => {
    const h = await house({ database: 'sqlite', environment: { PARLEY_DOMAIN: 'chat.example' } })
    const ca = readFileSync(h.service.caFile, 'utf8')
    const ofApps = regions.flatMap((region) => [
      ...['api', 'apiclient', 'call'].map((host) => `app1.${host}-${region}.chat.example`),
      `api-${region}.chat.example`,
    ])
    for (const name of [...ofApps, 'apimgmt.chat.example', 'chat.example', 'localhost']) {
      const socket = await handshake(h.service.port, name, ca)
      assert.equal(socket.authorized, true, name)
      socket.destroy()
    }
    for (const name of ['other.example', 'a.b.apiclient-us.chat.example', 'app1.api-mars.chat.example']) {
      await assert.rejects(handshake(h.service.port, name, ca), /altnames/, name)
    }
    await assert.rejects(handshake(h.service.port, 'localhost', undefined), /certificate/)
    await h.close()
  })

  it('stay the same from start to start', async () => {
    const first = await localCertificates(folder, 'one.example')
    assert.deepEqual(await localCertificates(folder, 'one.example'), first)
  })

  it('are renewed under the same authority when the domain changes', async () => {
    const one = await localCertificates(folder, 'one.example')
    const authority = readFileSync(one.caFile, 'utf8')
    const two = await localCertificates(folder, 'two.example')
    assert.notEqual(two.cert, one.cert)
    assert.equal(readFileSync(two.caFile, 'utf8'), authority)
    const certificate = new X509Certificate(two.cert)
    assert.equal(certificate.checkHost('x.api-eu.two.example'), '*.api-eu.two.example')
    assert.equal(certificate.checkHost('x.api-eu.one.example'), undefined)
    assert.ok(certificate.verify(new X509Certificate(authority).publicKey))
  })

  it('of an install that knew fewer names are renewed under the same authority', async () => {
    const { cert, caFile } = await localCertificates(folder, 'older.example')
    const authority = { cert: readFileSync(caFile, 'utf8'), key: readFileSync(join(folder, 'ca-key.pem'), 'utf8') }
    const fewer = hostNames('older.example').filter((name) => !name.includes('apiclient'))
    const { leaf } = await issue(fewer, authority, { caDays: 1, leafDays: 90 })
    writeFileSync(join(folder, 'server.pem'), leaf.cert)
    writeFileSync(join(folder, 'server-key.pem'), leaf.key)
    const renewed = await localCertificates(folder, 'older.example')
    assert.ok(renewed.cert !== leaf.cert && renewed.cert !== cert)
    assert.equal(
      new X509Certificate(renewed.cert).checkHost('x.apiclient-in.older.example'),
      '*.apiclient-in.older.example',
    )
    assert.equal(readFileSync(caFile, 'utf8'), authority.cert)
  })

  it('are renewed before they run out', async () => {
    const { cert } = await localCertificates(folder, 'two.example')
    const ends = Date.parse(new X509Certificate(cert).validTo)
    const day = 24 * 3600 * 1000
    mock.timers.enable({ apis: ['Date'], now: ends - 31 * day })
    assert.equal((await localCertificates(folder, 'two.example')).cert, cert)
    mock.timers.setTime(ends - 29 * day)
    const renewed = await localCertificates(folder, 'two.example')
    mock.timers.reset()
    assert.ok(Date.parse(new X509Certificate(renewed.cert).validTo) > ends + 300 * day)
  })

  it('and all keys are readable by their owner only', async () => {
    const h = await house({ database: 'sqlite' })
    const { data } = h.service.house.config
    for (const name of ['ca-key.pem', 'server-key.pem', 'master.key']) {
      assert.equal(statSync(join(data, name)).mode & 0o777, 0o600, name)
    }
    for (const name of ['ca-key.pem', 'server-key.pem']) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600)
    await h.close()
  })

  it('of the operator are used when they are given', async () => {
    const { cert } = await localCertificates(folder, 'given.example')
    const environment = {
      PARLEY_DOMAIN: 'given.example',
      PARLEY_TLS_CERT: join(folder, 'server.pem'),
      PARLEY_TLS_KEY: join(folder, 'server-key.pem'),
    }
    const h = await house({ database: 'sqlite', environment })
    const socket = await handshake(
      h.service.port,
      'apimgmt.given.example',
      readFileSync(join(folder, 'ca.pem'), 'utf8'),
    )
    assert.equal(socket.getPeerX509Certificate()?.toString().trim(), cert.trim())
    socket.destroy()
    await h.close()
  })

  it('of the operator that lack a name are used all the same, and one line at the start names it', async () => {
    const { leaf } = await issue(
      ['*.api-us.given.example', '*.call-us.given.example', 'api-us.given.example'],
      undefined,
      { caDays: 1, leafDays: 1 },
    )
    assert.deepEqual(namesMissing(leaf.cert, 'us', 'given.example'), [
      '*.apiclient-us.given.example',
      'apimgmt.given.example',
    ])
    writeFileSync(join(folder, 'given.pem'), leaf.cert)
    writeFileSync(join(folder, 'given-key.pem'), leaf.key)
    const site = await install('sqlite', {
      PARLEY_LOG_LEVEL: 'warn',
      PARLEY_DOMAIN: 'given.example',
      PARLEY_TLS_CERT: join(folder, 'given.pem'),
      PARLEY_TLS_KEY: join(folder, 'given-key.pem'),
    })
    // Tests reach a server by the authority in its data folder.
    await localCertificates(site.environment.PARLEY_DATA ?? '', 'given.example')
    const server = await site.start()
    server.signal('SIGTERM')
    await server.exited
    const told = server
      .log()
      .split('\n')
      .filter((line) => line.includes('apiclient'))
    assert.equal(told.length, 1)
    assert.deepEqual(JSON.parse(told[0] ?? '').missing, ['*.apiclient-us.given.example', 'apimgmt.given.example'])
    await site.remove()
  })
})

for (const database of databases) {
  describe(`pages of the install on ${database}`, () => {
    it('tell that the process lives and is ready, on any host and without a key', async () => {
      const h = await house({ database })
      for (const host of ['localhost', 'apimgmt.localhost', '0000.api-us.localhost']) {
        const [health, ready] = [await h.client.send(host, '/healthz'), await h.client.send(host, '/readyz')]
        assert.deepEqual([health.status, health.body], [200, { status: 'ok' }])
        assert.deepEqual([ready.status, ready.body], [200, { status: 'ready', reasons: [] }])
      }
      const head = await h.client.send('localhost', '/healthz', { method: 'HEAD' })
      assert.deepEqual([head.status, head.text], [200, ''])
      assertFails(await h.client.send('localhost', '/healthz', { method: 'POST' }), 401, 'AUTH_ERR_EMPTY_APPID')
      await h.close()
    })

    it('tell that a stopping node wants no traffic, while requests under way finish', async () => {
      const h = await house({ database })
      const { host, apiKey } = await h.app('a')
      const ca = readFileSync(h.service.caFile, 'utf8')
      const body = JSON.stringify({ name: 'in flight' })
      const slow = await handshake(h.service.port, host, ca)
      slow.write(
        `POST /v3/apikeys HTTP/1.1\r\nhost: ${host}\r\napikey: ${apiKey}\r\ncontent-length: ${body.length}\r\n` +
          'expect: 100-continue\r\n\r\n',
      )
      // The interim answer tells that the request has arrived.
      await heard(slow, /100 Continue/)
      const other = await handshake(h.service.port, 'localhost', ca)
      other.write('GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n')
      await heard(other, /"ready"/)
      const closing = h.close()
      other.write('GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n')
      const answer = await heard(other, /reasons/)
      assert.match(answer, /503 [\s\S]*"not ready","reasons":\["stopping"\]/)
      slow.write(body)
      assert.match(await heard(slow, /createdAt/), /200 OK/)
      await closing
    })
  })
}

describe('/readyz', { skip: !databases.includes('postgres') }, () => {
  it('says when the database does not answer, and the process lives on', async () => {
    const site = await install('postgres')
    const server = await site.start()
    const url = site.environment.PARLEY_DATABASE_URL ?? ''
    await runAt(databaseAt(url, 'postgres'), `DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`)
    const { status, body } = await server.client.send('localhost', '/readyz')
    assert.deepEqual([status, body.status], [503, 'not ready'])
    assert.match(body.reasons.join(), /database/)
    assert.equal((await server.client.send('localhost', '/healthz')).status, 200)
    await site.remove()
  })
})

describe('/metrics', () => {
  it('counts requests by operation and status, in Prometheus text, for readers on this machine', async () => {
    const h = await house({ database: 'sqlite' })
    const app = await h.app('a')
    assertSucceeds(await app.get('/apikeys'))
    assertFails(await app.get('/apikeys/unknown'), 404, 'ERR_APIKEY_NOT_FOUND')
    const { status, text, headers } = await h.client.send('localhost', '/metrics')
    assert.equal(status, 200)
    assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/)
    assert.match(text, /^# TYPE parley_request_seconds histogram$/m)
    assert.match(text, /^parley_request_seconds_count\{operation="listApiKeys",status="200"\} 1$/m)
    assert.match(text, /^parley_request_seconds_count\{operation="getApiKey",status="404"\} 1$/m)
    assert.match(text, /^process_resident_memory_bytes \d+/m)
    for (const secret of [app.id, app.apiKey, 'unknown']) assert.ok(!text.includes(secret))
    await h.close()
  })

  it('is closed to readers elsewhere, as a trusted proxy tells them', async () => {
    const h = await house({ database: 'sqlite', environment: { PARLEY_TRUST_PROXY: '127.0.0.1' } })
    const from = (address: string) =>
      sendPlain(h.service.port, 'localhost', '/metrics', { headers: { ...vouched, 'x-forwarded-for': address } })
    for (const address of ['203.0.113.9', '127.0.0.1, 203.0.113.9']) assert.equal((await from(address)).status, 403)
    await h.close()
  })

  it('asks for the token once there is one, from everybody', async () => {
    const h = await house({ database: 'sqlite', environment: { PARLEY_METRICS_TOKEN: 'letmein' } })
    const read = async (headers: Record<string, string>) =>
      (await h.client.send('localhost', '/metrics', { headers })).status
    assert.equal(await read({}), 403)
    for (const authorization of ['letmein', 'Bearer letmei', 'Bearer letmeinx', 'Bearer ']) {
      assert.equal(await read({ authorization }), 403)
    }
    assert.equal(await read({ authorization: 'Bearer letmein' }), 200)
    await h.close()
  })
})

describe('the log', () => {
  it('has one JSON line for each request, and never a key, a secret or a value from a path, query or body', async () => {
    const site = await install('sqlite', { PARLEY_LOG_LEVEL: 'info' })
    const app = await site.createApp('logged')
    const { key, secret } = await site.managementPair()
    const server = await site.start()
    const caller = app.at(server)
    const management = callerAt(server.client, 'apimgmt.localhost', '', { key, secret })
    const created = await caller.post('/apikeys', { name: 'name-in-body' })
    const wrong = 'wrong-key-in-header'
    const requests = [
      created,
      await caller.get(`/apikeys/${created.body.data.apiKey}`),
      await caller.get('/apikeys/value-in-path'),
      await caller.get('/apikeys?searchKey=value-in-query'),
      await caller.get('/calls', { onBehalfOf: 'user-in-header' }),
      await caller.get('/path-that-is-unknown'),
      await caller.post('/apikeys', { name: 'name-in-body' }, { 'Idempotency-Key': 'key-of-attempt' }),
      await caller.send('/apikeys', { method: 'POST', raw: '{"broken-body' }),
      await server.client.send(app.host, '/v3/apikeys', { headers: { apikey: wrong } }),
      await management.get(`/apps/${app.id}`),
      await server.client.send('apimgmt.localhost', '/apps', { headers: { key, secret: wrong } }),
      ...(await Promise.all(
        [`${app.id}.apiclient-us.localhost`, 'api-us.localhost', 'localhost'].map((host) =>
          server.client.send(host, '/v3/users', { headers: { apikey: app.apiKey, appid: app.id } }),
        ),
      )),
    ]
    server.signal('SIGTERM')
    await server.exited
    const log = server.log()
    const lines = log
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
      .filter(({ operation }) => operation !== undefined)
    assert.equal(lines.length, requests.length)
    assert.deepEqual(
      lines.map(({ status }) => status),
      requests.map(({ status }) => status),
    )
    assert.deepEqual(
      lines.slice(0, 6).map(({ operation }) => operation),
      ['createApiKey', 'getApiKey', 'getApiKey', 'listApiKeys', 'listCalls', 'none'],
    )
    for (const line of lines.slice(0, 6)) {
      assert.deepEqual([line.app, line.caller], [app.id, 'server'])
      assert.deepEqual(
        [typeof line.id, typeof line.ms, typeof line.method, typeof line.time],
        ['string', 'number', 'string', 'string'],
      )
    }
    // Whichever name of the app was used.
    for (const line of lines.slice(-3)) assert.deepEqual([line.app, line.operation], [app.id, 'listUsers'])
    const untold = [app.apiKey, created.body.data.apiKey, key, secret, wrong]
    const values = [
      'name-in-body',
      'value-in-path',
      'value-in-query',
      'path-that-is-unknown',
      'key-of-attempt',
      'broken-body',
      'user-in-header',
    ]
    for (const text of [...untold, ...values]) assert.ok(!log.includes(text), `${text} stands in the log`)
    await site.remove()
  })
})

function handshake(port: number, servername: string, ca: string | undefined): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, servername, ...(ca !== undefined && { ca }) }, () =>
      resolve(socket),
    )
    socket.once('error', reject)
  })
}

/** Waits until the socket has said something like it; answers all it said meanwhile. */
function heard(socket: TLSSocket, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const listen = (part: Buffer) => {
      text += part
      if (!pattern.test(text)) return
      socket.off('data', listen)
      resolve(text)
    }
    socket.on('data', listen)
    socket.once('close', () => reject(new Error(`closed after: ${text}`)))
  })
}

function rawAnswer(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connectPlain(port, '127.0.0.1', () => socket.write(request))
    socket.on('data', (part) => {
      text += part
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}
