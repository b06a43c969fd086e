import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { demoPage } from '../server/src/cli/demo-page.ts'
import type { DemoCredentials } from '../server/src/install/seed.ts'
import { type House, house } from './support/house.ts'

const credentials = {
  baseUrl: 'https://0123456789abcdef.api-us.localhost:8443/v3',
  appId: '0123456789abcdef',
  authKey: 'an authOnly key',
  apiKey: 'a fullAccess key',
  managementSecret: 'a secret',
} as DemoCredentials

const place = { domain: 'localhost', region: 'us' }

describe('the chat page of a demo install', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-demo-page-'))
  const known = Promise.withResolvers<DemoCredentials>()
  let h: House
  const get = (path: string) => h.client.send('localhost', path, { headers: { origin: 'https://elsewhere.example' } })

  before(async () => {
    mkdirSync(join(folder, 'assets'))
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Built</title>')
    writeFileSync(join(folder, 'assets/page-1a2b3c4d.js'), '')
    h = await house({ database: 'sqlite', pages: [demoPage({ ...place, credentials: known.promise }, folder)] })
  })
  after(async () => {
    await h.close()
    rmSync(folder, { recursive: true })
  })

  it('is what was built, and its files may be kept', async () => {
    assert.equal((await get('/demo')).headers.location, '/demo/')
    assert.match((await get('/demo/')).text, /Built/)
    assert.match(String((await get('/demo/assets/page-1a2b3c4d.js')).headers['cache-control']), /immutable/)
  })

  it('is where a browser is led that was given the host alone, and nobody else', async () => {
    const ask = (accept: string, path = '/', method = 'GET') =>
      h.client.send('localhost', path, { method, headers: { accept } })
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    const { status, headers } = await ask(browser)
    assert.deepEqual([status, headers.location], [302, '/demo/'])
    assert.equal((await ask(browser, '/nothing')).headers.location, undefined)
    assert.equal((await ask(browser, '/', 'POST')).headers.location, undefined)
    for (const accept of ['*/*', 'application/json']) assert.equal((await ask(accept)).status, 401, accept)
  })

  it('runs scripts of its own alone, and talks to this install alone', async () => {
    const policy = String((await get('/demo/')).headers['content-security-policy'])
    const directives = Object.fromEntries(
      policy.split('; ').map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1)]),
    )
    const api = '*.api-us.localhost:*'
    assert.deepEqual(directives, {
      'default-src': ["'none'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
      'script-src': ["'self'"],
      'style-src': ["'self'", "'unsafe-inline'"],
      'connect-src': ["'self'", `https://${api}`, `wss://${api}`],
      'img-src': ["'self'", `https://${api}`, 'blob:', 'data:'],
      'media-src': ["'self'", `https://${api}`, 'blob:', 'data:'],
    })
  })

  it('may use the microphone, as nothing forbids it', async () => {
    assert.equal((await get('/demo/')).headers['permissions-policy'], undefined)
  })

  it('learns of the install once there is one: where it is, a key that makes tokens, and the people', async () => {
    const asked = get('/demo/install.json')
    known.resolve(credentials)
    const { status, body } = await asked
    assert.equal(status, 200)
    const { people, ...install } = body
    assert.deepEqual(install, {
      url: 'https://0123456789abcdef.api-us.localhost:8443',
      appId: credentials.appId,
      authKey: credentials.authKey,
    })
    assert.ok(people.length > 10)
    assert.deepEqual(Object.keys(people[0]), ['uid', 'name', 'title'])
  })

  it('is read by no page of another origin, as the key would be', async () => {
    for (const path of ['/demo/', '/demo/install.json', '/demo/nothing']) {
      const { headers } = await get(path)
      assert.equal(headers['access-control-allow-origin'], undefined, path)
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin', path)
    }
  })
})

describe('a demo install whose chat page is not built', () => {
  it('says so where the page would be, and how to build it', async () => {
    const page = demoPage(
      { ...place, credentials: Promise.resolve(credentials) },
      join(tmpdir(), 'parley-no-such-page'),
    )
    const h = await house({ database: 'sqlite', pages: [page] })
    const { status, text } = await h.client.send('localhost', '/demo/')
    assert.equal(status, 200)
    assert.match(text, /not built[\s\S]*npm run build -w demo/)
    await h.close()
  })
})

describe('an install without --demo', () => {
  it('has no chat page', async () => {
    const h = await house({ database: 'sqlite' })
    for (const path of ['/demo', '/demo/', '/demo/install.json']) {
      assert.ok((await h.client.send('localhost', path)).status >= 400, path)
    }
    await h.close()
  })
})
