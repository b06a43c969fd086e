import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { folderOf } from '../scripts/processes.ts'
import { assertSucceeds } from './support/house.ts'
import { parsed } from './support/http.ts'
import { parley, parleyHere } from './support/parley.ts'
import { type AppOnDisk, type Install, install } from './support/server-process.ts'
import { wire } from './support/wire.ts'

/** Clients of three languages, as they are on the machine, call the names of another service and find this install. */

const domain = 'old-service.example'
const mainFile = join(import.meta.dirname, '../server/src/main.ts')
const run = promisify(execFile)

interface Told {
  port: number
  proxyPort: number
  caFile: string
  appIds: string[]
  environment: Record<string, string>
  environmentFile: string
}

interface Heard {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers have every shape
  body: any
}

type Ask = (method: string, url: string, headers: Record<string, string>, body?: object) => Promise<Heard>

const programOfFetch = `
  const [method, url, headers, body] = JSON.parse(process.argv[1])
  const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  console.log(JSON.stringify({ status: answer.status, body: await answer.json() }))`

const programOfPython = `
import json, sys, urllib.error, urllib.request
method, url, headers, body = json.loads(sys.argv[1])
data = None if body is None else json.dumps(body).encode()
request = urllib.request.Request(url, data=data, headers=headers, method=method)
try:
    answer = urllib.request.urlopen(request, timeout=30)
except urllib.error.HTTPError as error:
    answer = error
print(json.dumps({'status': answer.status, 'body': json.load(answer)}))`

const pythonMissing = folderOf('python3') === undefined && 'python3 is not installed (Debian package: python3)'

describe('a trial under the names of another service', () => {
  let site: Install
  let app: AppOnDisk
  let server: ChildProcess
  let told: Told

  before(async () => {
    site = await install('sqlite')
    app = await site.createApp('tried out')
    const words = ['trial', '--domain', domain, '--proxy-port', '0', '--json']
    server = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', mainFile, ...words], {
      env: { PATH: process.env.PATH, ...site.environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(server.stdout?.setEncoding('utf8') as NodeJS.ReadableStream, 'data')
    told = JSON.parse(line)
  })
  after(async () => {
    if (server.exitCode === null) {
      server.kill('SIGKILL')
      await once(server, 'exit')
    }
    await site.remove()
  })

  const environment = () => ({ PATH: process.env.PATH, HOME: process.env.HOME, ...told.environment })

  const byCurl: Ask = async (method, url, headers, body) => {
    const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
    const json = body ? ['-H', 'content-type: application/json', '-d', JSON.stringify(body)] : []
    const words = ['-sS', '-X', method, ...sent, ...json, '-w', '\n%{http_code}', url]
    const { stdout } = await run('curl', words, { env: environment() })
    const cut = stdout.lastIndexOf('\n')
    return { status: Number(stdout.slice(cut)), body: parsed(stdout.slice(0, cut)) }
  }
  const byProgram =
    (command: string, words: string[]): Ask =>
    async (method, url, headers, body) => {
      const request = JSON.stringify([method, url, { ...headers, 'content-type': 'application/json' }, body ?? null])
      const { stdout } = await run(command, [...words, request], { env: environment() })
      return JSON.parse(stdout)
    }

  const clients: Record<string, { ask: Ask; missing: string | false }> = {
    curl: { ask: byCurl, missing: false },
    'the fetch of Node': {
      ask: byProgram(process.execPath, ['--input-type=module', '-e', programOfFetch]),
      missing: false,
    },
    'the urllib of Python': { ask: byProgram('python3', ['-c', programOfPython]), missing: pythonMissing },
  }

  for (const [name, { ask, missing }] of Object.entries(clients)) {
    it(`is found by ${name}, with nothing but variables of the environment`, { skip: missing }, async () => {
      const uid = name.replaceAll(/\W/g, '-').toLowerCase()
      const base = `https://${app.id}.api-us.${domain}/v3`
      const apikey = app.apiKey
      const made = await ask('POST', `${base}/users`, { apikey }, { uid, name })
      assert.deepEqual([made.status, made.body.data?.uid], [200, uid])
      const again = await ask('POST', `${base}/users`, { apikey }, { uid, name })
      assert.deepEqual([again.status, again.body.error?.code], [400, 'ERR_UID_ALREADY_EXISTS'])
      const calls = await ask('GET', `https://${app.id}.call-us.${domain}/v3/calls`, { apikey })
      assert.equal(calls.status, 200)
      const { authToken } = (await ask('POST', `${base}/users/${uid}/auth_tokens`, { apikey }, {})).body.data
      const own = await ask('GET', `https://${app.id}.apiclient-us.${domain}/v3/me`, { authToken })
      assert.equal(own.body.data?.uid, uid)
      const byHeader = await ask('GET', `https://api-us.${domain}/v3/me`, { authToken, appid: app.id })
      assert.equal(byHeader.body.data?.uid, uid)
      const unknown = await ask('GET', `https://0000.api-us.${domain}/v3/me`, { authToken })
      assert.equal(unknown.body.error?.code, 'AUTH_ERR_INVALID_APPID')
    })
  }

  it('is found by curl without the proxy, by --connect-to', async () => {
    const { stdout } = await run('curl', [
      ...['-sS', '--cacert', told.caFile, '--connect-to', `::127.0.0.1:${told.port}`, '-H', `apikey: ${app.apiKey}`],
      `https://${app.id}.api-us.${domain}/v3/users?perPage=1`,
    ])
    assert.equal(JSON.parse(stdout).meta.pagination.count, 1)
  })

  it('answers management under its name', async () => {
    const { key, secret } = await site.managementPair()
    const { body } = await byCurl('GET', `https://apimgmt.${domain}/apps/${app.id}`, { key, secret })
    assert.equal(body.data.id, app.id)
  })

  it('tells addresses of files that clients can use as they are', async () => {
    const at = `https://${app.id}.api-us.${domain}/v3`
    for (const uid of ['nora', 'milo']) await byCurl('POST', `${at}/users`, { apikey: app.apiKey }, { uid, name: uid })
    const files = [{ fileId: 'f', name: 'a.txt', size: 5, mimeType: 'text/plain' }]
    const asked = { receiverId: 'milo', receiverType: 'user', files }
    const places = await byCurl('POST', `${at}/files`, { apikey: app.apiKey, onBehalfOf: 'nora' }, asked)
    const { uploadUrl, attachment } = places.body.data.f
    for (const url of [uploadUrl, attachment.url]) assert.ok(url.startsWith(`https://${app.id}.api-us.${domain}/`), url)
    await run('curl', ['-sSf', '-X', 'PUT', '--data-binary', 'hello', uploadUrl], { env: environment() })
    const { stdout } = await run('curl', ['-sSf', attachment.url], { env: environment() })
    assert.equal(stdout, 'hello')
  })

  it('tells of itself under its domain, without a port that clients do not know', async () => {
    const url = `https://${app.id}.api-us.${domain}/openapi.json`
    const { stdout } = await run('curl', ['-sSf', url], { env: environment(), maxBuffer: 16 * 1024 * 1024 })
    assert.equal(JSON.parse(stdout).servers[0].variables.domain.default, domain)
  })

  it('refuses all other names, so that nothing of it reaches anybody else', async () => {
    for (const url of ['https://example.org/', `https://${domain}/`, `https://${app.id}.api-us.${domain}:8443/v3`]) {
      await assert.rejects(run('curl', ['-sS', url], { env: environment() }), /403/, url)
    }
  })

  it('shows a certificate of the install’s own authority, for the names of the trial', async () => {
    const servername = `${app.id}.apiclient-us.${domain}`
    const ca = readFileSync(told.caFile)
    const socket = connect({ host: '127.0.0.1', port: told.port, servername, ca })
    await once(socket, 'secureConnect')
    assert.equal(socket.authorized, true)
    socket.destroy()
  })

  it('leaves a file for shells that says the same', async () => {
    const { stdout } = await run('sh', ['-c', '. "$1"; env', 'sh', told.environmentFile])
    for (const [name, value] of Object.entries(told.environment)) assert.ok(stdout.includes(`${name}=${value}\n`), name)
  })

  it('needs a domain, a port that is one, and an install that no other server has open', async () => {
    const { code, stderr } = await parleyHere(['trial'], site.environment)
    assert.equal(code, 2)
    assert.match(stderr, /--domain is needed/)
    const odd = await parleyHere(['trial', '--domain', domain, '--proxy-port', 'x'], site.environment)
    assert.equal(odd.code, 2)
    assert.match(odd.stderr, /--proxy-port/)
    const second = await parley(['trial', '--domain', domain, '--proxy-port', '0'], site.environment)
    assert.equal(second.code, 2)
    assert.match(second.stderr, /Another server is running on/)
  })

  it('ends on SIGTERM with connections open, and leaves the install as it was', async () => {
    const line = await wire(told.proxyPort, { secure: false })
    line.say(`CONNECT ${app.id}.api-us.${domain}:443 HTTP/1.1\r\nHost: x\r\n\r\n`)
    await line.hears(/200 Connection Established/)
    server.kill('SIGTERM')
    const [code] = await once(server, 'exit')
    assert.equal(code, 0)
    await line.closes()
    const usual = await site.start()
    assertSucceeds(await app.at(usual).get('/users'))
    await usual.kill()
  })
})
