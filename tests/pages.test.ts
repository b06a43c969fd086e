import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pino } from 'pino'
import { createObserver } from '../server/src/http/observe.ts'
import { createPageDoor } from '../server/src/http/page-door.ts'
import { filesIn, madePage } from '../server/src/http/page-files.ts'
import { assertFails, type House, house } from './support/house.ts'
import type { Sending } from './support/http.ts'

const script = "console.log('é')"
const large = Buffer.alloc(300_000, 'large ')

/** Built files as a bundler leaves them, beside what must never be shown. */
function build(): { folder: string; root: string } {
  const root = mkdtempSync(join(tmpdir(), 'parley-pages-'))
  const folder = join(root, 'built')
  for (const each of ['assets', 'inner', '.git']) mkdirSync(join(folder, each), { recursive: true })
  const files = {
    'index.html': '<!doctype html><title>Chat</title>',
    'inner/index.html': '<!doctype html><title>Inner</title>',
    'assets/app-1a2b3c4d.js': script,
    'assets/app-5e6f7a8b.css': 'body{}',
    'assets/page.html': '<!doctype html>',
    'two words.svg': '<svg/>',
    'large.txt': large,
    'data.unheard-of': 'x',
    '.env': 'SECRET=inside',
    '.git/config': 'SECRET=inside',
    '../secret.txt': 'SECRET=outside',
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  symlinkSync(join(root, 'secret.txt'), join(folder, 'linked.txt'))
  symlinkSync(root, join(folder, 'linked'))
  return { folder, root }
}

const policy = { 'script-src': "'self'", 'connect-src': "'self' wss:", 'base-uri': "'self'" }
const wholePolicy =
  "default-src 'none'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'; " +
  "script-src 'self'; connect-src 'self' wss:"

describe('pages', () => {
  const { folder, root } = build()
  let h: House
  const get = (path: string, sending: Sending = {}) => h.client.send('localhost', path, sending)

  before(async () => {
    const files = filesIn(folder, { hashed: 'assets' })
    h = await house({ database: 'sqlite', pages: [{ at: '/chat', policy, files }] })
  })
  after(async () => {
    await h.close()
    rmSync(root, { recursive: true })
  })

  it('are shown as what they are, with the policy of their set and nothing to be guessed', async () => {
    const shown = {
      '/chat/': 'text/html; charset=utf-8',
      '/chat/index.html': 'text/html; charset=utf-8',
      '/chat/inner/': 'text/html; charset=utf-8',
      '/chat/assets/app-1a2b3c4d.js': 'text/javascript; charset=utf-8',
      '/chat/assets/app-5e6f7a8b.css?v=2': 'text/css; charset=utf-8',
      '/chat/two%20words.svg': 'image/svg+xml; charset=utf-8',
      '/chat/data.unheard-of': 'application/octet-stream',
    }
    for (const [path, type] of Object.entries(shown)) {
      const { status, headers, text } = await get(path)
      assert.equal(status, 200, path)
      assert.equal(headers['content-type'], type, path)
      assert.equal(Number(headers['content-length']), Buffer.byteLength(text), path)
      assert.equal(headers['content-security-policy'], wholePolicy, path)
      assert.equal(headers['x-content-type-options'], 'nosniff', path)
      assert.equal(headers['referrer-policy'], 'no-referrer', path)
    }
    assert.equal((await get('/chat/assets/app-1a2b3c4d.js')).text, script)
    assert.equal((await get('/chat/large.txt')).text, large.toString())
  })

  it('may be kept for ever where the name has the hash of the content; all others are asked for again', async () => {
    const keep = async (path: string) => (await get(path)).headers['cache-control']
    assert.equal(await keep('/chat/assets/app-1a2b3c4d.js'), 'public, max-age=31536000, immutable')
    for (const path of ['/chat/', '/chat/assets/page.html', '/chat/large.txt', '/docs', '/openapi.json']) {
      assert.equal(await keep(path), 'no-cache', path)
    }
  })

  it('are not sent to whoever has them already', async () => {
    for (const path of ['/chat/', '/chat/assets/app-1a2b3c4d.js', '/docs', '/openapi.json']) {
      const first = await get(path)
      const tag = String(first.headers.etag)
      assert.equal(tag, `"${createHash('sha256').update(first.text).digest('base64url')}"`)
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, `W/"other",W/${tag}`, '*']) {
        for (const method of ['GET', 'HEAD']) {
          const again = await get(path, { method, headers: { 'if-none-match': known } })
          assert.deepEqual([again.status, again.text], [304, ''], `${method} ${known}`)
          for (const name of ['etag', 'cache-control', 'content-security-policy']) {
            assert.equal(again.headers[name], first.headers[name], name)
          }
        }
      }
      for (const other of ['"other"', tag.slice(1, -1), `${tag.slice(0, -1)}x"`, '', ',']) {
        assert.equal((await get(path, { headers: { 'if-none-match': other } })).status, 200, other)
      }
    }
  })

  it('are told of by HEAD as GET would, without what is in them', async () => {
    for (const path of ['/chat/', '/chat/large.txt', '/docs', '/chat/nothing']) {
      const [{ headers, status }, head] = [await get(path), await get(path, { method: 'HEAD' })]
      assert.deepEqual([head.status, head.text], [status, ''])
      const { date: _, ...told } = headers
      const { date: __, ...toldByHead } = head.headers
      assert.deepEqual(toldByHead, told)
    }
  })

  it('are found in their folder: its path without the last slash leads there', async () => {
    const { status, headers, text } = await get('/chat?to=//elsewhere.example')
    assert.deepEqual([status, headers.location, text], [308, '/chat/', ''])
    assert.equal(headers['content-security-policy'], wholePolicy)
  })

  const outside = [
    ...['/../secret.txt', '/%2e%2e/secret.txt', '/%2E%2E%2Fsecret.txt', '/..%2fsecret.txt', '/..%5csecret.txt'],
    ...['/..\\secret.txt', '/assets/../../secret.txt', '/assets/%2e%2e/%2e%2e/secret.txt', '/%252e%252e/secret.txt'],
    ...['//secret.txt', '//etc/passwd', '/%2fetc%2fpasswd', '/index.html%00', '/%00', '/index.html/', '/index.html/..'],
    ...['/linked.txt', '/linked/secret.txt', '/linked/built/index.html', '/.env', '/.git/config', '/./index.html'],
    ...[
      '/assets',
      '/assets/',
      '/inner',
      '/INDEX.HTML',
      '/nothing',
      '/%',
      '/%zz',
      '/%ff%fe',
      '/__proto__',
      '/constructor',
    ],
  ]
  for (const name of outside) {
    it(`are no way to anything else: ${name} is not there`, async () => {
      const answer = await get(`/chat${name}`)
      assertFails(answer, 404, 'ERR_API_NOT_FOUND')
      assert.equal(answer.headers['content-security-policy'], wholePolicy)
      assert.equal(answer.headers['cache-control'], 'no-cache')
      assert.doesNotMatch(answer.text, /SECRET/)
    })
  }

  it('are read and nothing else: any other method is answered as where there is no page', async () => {
    const app = await h.app('a')
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE']) {
      for (const path of ['/chat/', '/docs', '/openapi.json']) {
        const answer = await h.client.send(app.host, path, { method, headers: { apikey: app.apiKey } })
        assertFails(answer, 404, 'ERR_API_NOT_FOUND')
      }
    }
    assert.equal((await get('/chat/', { method: 'OPTIONS' })).status, 204)
  })

  it('are as they were at the start, whatever becomes of their folder', async () => {
    const before = await get('/chat/')
    writeFileSync(join(folder, 'index.html'), 'anew')
    writeFileSync(join(folder, 'added.txt'), 'anew')
    assert.equal((await get('/chat/')).text, before.text)
    assert.equal((await get('/chat/added.txt')).status, 404)
  })

  it('of the reference are held to a policy that lets nothing but its styles through', async () => {
    const strictest = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    const policyOf = async (path: string) => (await get(path)).headers['content-security-policy']
    assert.equal(await policyOf('/docs'), `${strictest}; style-src 'unsafe-inline'`)
    assert.equal(await policyOf('/openapi.json'), strictest)
    assert.equal((await get('/docs/')).status, 404)
  })

  it('that take more memory than pages should are refused at the start', () => {
    const file = join(folder, 'huge.bin')
    writeFileSync(file, '')
    truncateSync(file, 64_000_001)
    assert.throws(() => filesIn(folder), /more than 64000000 bytes/)
    rmSync(file)
  })

  it('have a path that is one word, and theirs alone', () => {
    const observer = createObserver(pino({ level: 'silent' }))
    const at = (...paths: string[]) =>
      createPageDoor(
        observer,
        paths.map((path) => ({ at: path, policy: {}, files: madePage('.html', () => '') })),
      )
    for (const path of ['chat', '/', '/chat/', '/chat/inner', '/chat?', '/%63hat']) {
      assert.throws(() => at(path), /No pages can be at/, path)
    }
    assert.throws(() => at('/chat', '/docs', '/chat'), /Two sets of pages are at the same path/)
  })
})
