import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { WebSocketServer } from 'ws'
import { memoryFolder } from '../scripts/memory-folder.ts'
import { times } from '../tests/support/quick.ts'
import type { CheckedArea } from './check.ts'
import { type Answer, type Connection, connect } from './client.ts'
import { checkedAreas, examine, type Finding, type Target } from './suite.ts'

/** The suite itself: it must find nothing wrong with the demo install, and find what is wrong with others. */

const root = join(import.meta.dirname, '..')
const flags = ['--disable-warning=ExperimentalWarning']

interface Run {
  code: number
  stdout: string
  stderr: string
}

/** The suite as a person starts it. */
async function conformance(...words: string[]): Promise<Run> {
  const child = spawn(process.execPath, [...flags, join(root, 'conformance/run.ts'), ...words], { cwd: root })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (part) => {
    stdout += part
  })
  child.stderr.setEncoding('utf8').on('data', (part) => {
    stderr += part
  })
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

async function demoServer(folder: string): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    [...flags, join(root, 'server/src/main.ts'), 'start', '--demo', '--port', '0'],
    {
      env: {
        ...{ PATH: process.env.PATH, PARLEY_DATA: folder, PARLEY_LOG_LEVEL: 'error' },
        ...{ NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (part) => {
    output += part
  })
  while (!output.includes('Stop with')) await once(child.stdout, 'data')
  return child
}

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3`
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

interface Reply {
  method: string
  path: string
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: replies of every shape are falsified
  body: any
  headers: Record<string, string>
}

const keptHeaders = /^(x-rate|access-control-|deprecation$|link$)/

/** The demo server with one habit of its own: everything passes through, and `falsify` changes what comes back. */
function impostor(connection: Connection, origin: string, falsify: (reply: Reply) => void): Server {
  const server = createServer(async (request, response) => {
    const { host: _, 'content-length': __, connection: ___, ...headers } = request.headers
    const { method = 'GET', url = '/' } = request
    const raw = await bodyOf(request)
    const answer: Answer = await connection.send(method, `${origin}${url}`, {
      headers: headers as Record<string, string>,
      ...(raw !== '' && { raw }),
    })
    const kept = Object.entries(answer.headers).filter(([name]) => keptHeaders.test(name))
    const reply: Reply = {
      ...{ method, path: url, status: answer.status, body: answer.body ?? {} },
      headers: Object.fromEntries(kept) as Record<string, string>,
    }
    falsify(reply)
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
    response.end(reply.status === 204 ? undefined : JSON.stringify(reply.body))
  })
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (near) => {
      const far = connection.socket(`${origin}${request.url}`)
      const opened = once(far, 'open')
      near.on('message', async (text) => {
        await opened
        far.send(String(text))
      })
      far.on('message', (text) => {
        const reply = { method: 'FRAME', path: '', status: 200, body: JSON.parse(String(text)), headers: {} }
        falsify(reply)
        near.send(JSON.stringify(reply.body))
      })
      far.on('close', (code) => near.close(code))
      near.on('close', () => far.terminate())
    }),
  )
  return server
}

/** One wrong habit each, and where the suite must notice it. */
const habits: { habit: string; area: string; section: string; falsify: (reply: Reply) => void }[] = [
  {
    habit: 'tells devices nothing by which they could come back',
    area: 'realtime',
    section: '4 Resuming',
    falsify(reply) {
      if (reply.method === 'FRAME') delete reply.body.position
    },
  },
  {
    habit: 'tells messages to the wrong people',
    area: 'realtime',
    section: '5 Events',
    falsify(reply) {
      if (reply.method === 'FRAME' && reply.body.type === 'message') reply.body.receiver = reply.body.sender
    },
  },
  {
    habit: 'answers creations with 201',
    area: 'conventions',
    section: '4 Success bodies',
    falsify(reply) {
      if (reply.method === 'POST' && reply.status === 200) reply.status = 201
    },
  },
  {
    habit: 'keeps failures from pages of other origins',
    area: 'addresses',
    section: '2 Browsers',
    falsify(reply) {
      if (reply.status >= 400) delete reply.headers['access-control-allow-origin']
    },
  },
  {
    habit: 'asks a browser for a key before it says what may be sent',
    area: 'addresses',
    section: '2 Browsers',
    falsify(reply) {
      if (reply.method === 'OPTIONS') reply.status = 401
    },
  },
  {
    habit: 'calls every part of itself by one name',
    area: 'addresses',
    section: '5 Error body',
    falsify({ body }) {
      if (body.error) body.error.source = 'api'
    },
  },
  {
    habit: 'leaves per_page out',
    area: 'conventions',
    section: '7 Pagination',
    falsify: ({ body }) => delete body.meta?.pagination?.per_page,
  },
  {
    habit: 'writes details as single strings',
    area: 'conventions',
    section: '5 Error body',
    falsify({ body }) {
      const details = body.error?.details ?? {}
      for (const field of Object.keys(details)) details[field] = String(details[field])
    },
  },
  {
    habit: 'sends null for what has no value',
    area: 'conventions',
    section: '4 Success bodies',
    falsify({ body }) {
      if (body.data?.apiKey) body.data.updatedAt ??= null
    },
  },
  {
    habit: 'calls every refusal 400',
    area: 'api-keys',
    section: '5 Delete',
    falsify(reply) {
      if (reply.status > 400) reply.status = 400
    },
  },
  {
    habit: 'lists the oldest keys first',
    area: 'api-keys',
    section: '4 List',
    falsify({ body }) {
      if (Array.isArray(body.data)) for (const [i, key] of body.data.entries()) key.createdAt += i
    },
  },
  {
    habit: 'calls a quota a lack of permission',
    area: 'api-keys',
    section: '7 Errors',
    falsify(reply) {
      if (reply.status === 402) reply.status = 403
    },
  },
  {
    habit: 'shows ids as the numbers they were sent as',
    area: 'lenient',
    section: '2 Request bodies',
    falsify({ body }) {
      if (/^\d+$/.test(body.data?.uid)) body.data.uid = Number(body.data.uid)
    },
  },
  {
    habit: 'tells in a cursor of its own page alone',
    area: 'lenient',
    section: '7 Pagination',
    falsify({ body }) {
      if (body.meta?.cursor?.updatedAt === undefined) return
      const times = body.data.map((row: { createdAt: number; updatedAt?: number }) => row.updatedAt ?? row.createdAt)
      body.meta.cursor.updatedAt = Math.max(...times)
    },
  },
  {
    habit: 'keeps what was empty as if it had been given',
    area: 'lenient',
    section: '13.4 Send',
    falsify({ path, body }) {
      if (path === '/v3/messages' && body.data?.id) body.data.muid ??= ''
    },
  },
  {
    habit: 'tells no way back',
    area: 'messages',
    section: '9 List',
    falsify: ({ body }) => delete body.meta?.previous,
  },
  {
    habit: 'forgets the tags of what it deletes for good',
    area: 'messages',
    section: '8 Delete',
    falsify: ({ method, body }) => method === 'DELETE' && delete body.data?.data?.entities?.on?.entity.tags,
  },
  {
    habit: 'counts what is unread in numbers',
    area: 'conversations',
    section: '2 Record',
    falsify({ body }) {
      if (body.data?.unreadMessageCount) body.data.unreadMessageCount = Number(body.data.unreadMessageCount)
    },
  },
  {
    habit: 'says that every page of conversations holds a hundred',
    area: 'conversations',
    section: '4 List',
    falsify({ path, body }) {
      if (path.startsWith('/v3/conversations') && body.meta?.pagination) body.meta.pagination.per_page = 100
    },
  },
  {
    habit: 'counts a minute too many',
    area: 'calls',
    section: '3 Call record',
    falsify({ body }) {
      if (Array.isArray(body.data)) for (const call of body.data) call.totalAudioMinutes += 1
    },
  },
  {
    habit: 'lists calls in the opposite order',
    area: 'calls',
    section: '2 Query parameters',
    falsify({ body }) {
      if (Array.isArray(body.data)) body.data.reverse()
    },
  },
  {
    habit: 'gives ended calls no end',
    area: 'calls',
    section: '3 Call record',
    falsify({ body }) {
      if (Array.isArray(body.data)) for (const call of body.data) delete call.endedAt
    },
  },
  {
    habit: 'leaves the UIDs of new users as they were sent',
    area: 'users',
    section: '3 Create',
    falsify({ method, body }) {
      if (method === 'POST' && body.data?.uid) body.data.uid = body.data.uid.toUpperCase()
    },
  },
  {
    habit: 'shows private metadata to everybody',
    area: 'users',
    section: '2 User record',
    falsify({ body }) {
      if (body.data?.metadata) body.data.metadata['@private'] ??= { email: 'x@example.org' }
    },
  },
  {
    habit: 'knows nothing of foreign tokens',
    area: 'auth-tokens',
    section: '8 Edge cases',
    falsify(reply) {
      if (reply.body.error?.code !== 'ERR_AUTHTOKEN_NOT_ACCESSIBLE') return
      reply.body.error.code = 'ERR_AUTH_TOKEN_NOT_FOUND'
      reply.status = 404
    },
  },
  {
    habit: 'never says when a role was changed',
    area: 'roles',
    section: '6 Update',
    falsify: ({ body }) => delete body.data?.updatedAt,
  },
  {
    habit: 'leaves a permission out of the catalogue',
    area: 'permissions',
    section: '2, 3 Role permissions',
    falsify({ path, body }) {
      if (path.endsWith('/permissions') && Array.isArray(body.data)) body.data.pop()
    },
  },
  {
    habit: 'names features without their prefix',
    area: 'restricted-features',
    section: '2 Feature record',
    falsify({ body }) {
      if (Array.isArray(body.data)) for (const feature of body.data) feature.key = feature.key?.replace('u.', '')
    },
  },
  {
    habit: 'says that everybody was befriended',
    area: 'friends',
    section: '2 Add',
    falsify({ body }) {
      const accepted = body.data?.accepted ?? {}
      for (const uid of Object.keys(accepted)) accepted[uid] = { success: true, message: 'Friends.' }
    },
  },
  {
    habit: 'sets settings without telling for each what became of it',
    area: 'settings',
    section: '22.3 Set',
    falsify({ method, path, body }) {
      if (method === 'POST' && path.endsWith('/settings')) body.data = { success: true, message: 'Set.' }
    },
  },
  {
    habit: 'takes everybody for a collaborator who is to be removed',
    area: 'collaborators',
    section: '22.5 Remove',
    falsify({ body }) {
      const removed = body.data?.collaboratorsToRemove ?? {}
      for (const email of Object.keys(removed)) removed[email] = { success: true, message: 'Gone.' }
    },
  },
  {
    habit: 'keeps from clients what their role may not use',
    area: 'settings',
    section: '15.2 Client',
    falsify: ({ body }) => delete body.data?.restrictedFeatures,
  },
  {
    habit: 'bans whoever is named, member or not',
    area: 'banned-users',
    section: '2 Ban',
    falsify(reply) {
      if (reply.body.error?.code !== 'ERR_NOT_A_MEMBER') return
      Object.assign(reply, { status: 200, body: { data: { success: true, message: 'Banned.' } } })
    },
  },
  {
    habit: 'answers a repeated join as a success',
    area: 'members',
    section: '3 Self-join',
    falsify(reply) {
      if (reply.body.error?.code !== 'ERR_ALREADY_JOINED') return
      Object.assign(reply, { status: 200, body: { data: { participants: {} } } })
    },
  },
  {
    habit: 'lists the newest block first',
    area: 'blocked-users',
    section: '3 List',
    falsify({ path, body }) {
      if (path.includes('/blockedusers') && Array.isArray(body.data)) body.data.reverse()
    },
  },
  {
    habit: 'says in other words that a UID is taken',
    area: 'users',
    section: '3 Create',
    falsify({ body }) {
      if (body.error?.code === 'ERR_UID_ALREADY_EXISTS') body.error.message = 'That one is gone.'
    },
  },
  {
    habit: 'keeps silent about who has blocked the user',
    area: 'blocked-users',
    section: '3 List',
    falsify({ body }) {
      if (Array.isArray(body.data)) for (const user of body.data) delete user.hasBlockedMe
    },
  },
]

/** The checks that must notice a habit; what the others of the area find is of no matter here. */
function sectionOf(area: string, section: string): CheckedArea[] {
  return checkedAreas
    .filter(({ name }) => name === area)
    .map((checked) => ({ ...checked, checks: checked.checks.filter((each) => each.section === section) }))
}

const failed = (findings: Finding[]) => findings.filter(({ verdict }) => verdict === 'does not hold')

describe('the conformance suite', () => {
  let folder: string
  let demo: ChildProcess
  let target: Target

  before(async () => {
    folder = mkdtempSync(join(memoryFolder(), 'parley-conformance-'))
    demo = await demoServer(folder)
    const { baseUrl, callsBaseUrl, apiKey, authKey, caFile, port, ...more } = JSON.parse(
      readFileSync(join(folder, 'credentials.json'), 'utf8'),
    )
    target = {
      url: baseUrl,
      callsUrl: callsBaseUrl,
      apiKey,
      authKey,
      management: {
        url: more.managementUrl,
        key: more.managementKey,
        secret: more.managementSecret,
        appId: more.appId,
      },
      ca: readFileSync(caFile, 'utf8'),
      connectTo: `127.0.0.1:${port}`,
    }
  })
  after(async () => {
    demo.kill('SIGTERM')
    await once(demo, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })

  it('finds that everything holds at the demo install, says so in a table, and leaves nothing behind', async () => {
    const earlier = await recordsThere()
    const { code, stdout, stderr } = await conformance('--credentials', join(folder, 'credentials.json'))
    const notHeld = stdout.split('\n').filter((line) => /✖|expected:|answered:|not seen:/.test(line))
    assert.deepEqual(notHeld, [], stderr)
    assert.equal(code, 0)
    for (const { title, contract } of checkedAreas) assert.ok(stdout.includes(`${title} (contract ${contract})`), title)
    assert.match(stdout, /^all +\d+ +0 +0$/m)
    assert.deepEqual(await recordsThere(), earlier, 'it leaves nothing behind')
  })

  it('takes address, keys and one area from the command line, and prints JSON', async () => {
    const { code, stdout } = await conformance(
      ...['--url', `${target.url}/`, '--calls-url', target.callsUrl, '--api-key', target.apiKey],
      ...['--auth-key', target.authKey, '--ca', join(folder, 'ca.pem')],
      ...['--connect-to', target.connectTo ?? '', '--only', 'api-keys', '--json'],
    )
    assert.equal(code, 0)
    const { findings } = JSON.parse(stdout) as { findings: Finding[] }
    assert.ok(findings.length > 0)
    assert.deepEqual(new Set(findings.map(({ contract }) => contract)), new Set(['04']))
  })

  it('refuses to start without an address, or with an area or a patience that it does not understand', async () => {
    assert.deepEqual([(await conformance()).code, (await conformance('--nonsense')).code], [2, 2])
    for (const [flag, value] of [
      ['--only', 'telepathy'],
      ['--patience', 'endless'],
    ] as const) {
      const wrong = await conformance('--credentials', join(folder, 'credentials.json'), flag, value)
      assert.equal(wrong.code, 2)
      assert.match(wrong.stderr, value === 'telepathy' ? /telepathy/ : /number of seconds/)
    }
  })

  it('finds fault with a server that says yes to everything, in every area', async () => {
    const server = createServer((_, response) => response.end('{"data": {}}'))
    const url = await listening(server)
    const door = ['--management-url', url, '--management-key', 'c', '--management-secret', 'd', '--app', 'e']
    const { code, stdout } = await conformance(
      ...['--url', url, '--api-key', 'a', '--auth-key', 'b', ...door],
      ...['--patience', '0'],
    )
    server.close()
    assert.equal(code, 1)
    assert.match(stdout, /✖ 3 Authentication +no key.*\n +expected: status 401.*\n +answered: GET \/v3\/apikeys -> 200/)
    for (const { title } of checkedAreas) assert.match(stdout, new RegExp(`^${title} +\\d+ +[1-9]`, 'm'))
  })

  it('notices a server that knows an app by one name alone', async () => {
    const own = 'app1.api-us.example.test'
    const server = createServer((request, response) => {
      const [status, text] = request.headers.host === own ? [200, '{"data": {}}'] : [401, '{"error": {}}']
      response.writeHead(status as number).end(text)
    })
    const connectTo = new URL(await listening(server)).host
    const url = `http://${own}/v3`
    const areas = checkedAreas.filter(({ name }) => name === 'addresses')
    const findings = await examine({ ...target, url, callsUrl: url, ca: undefined, connectTo }, areas)
    server.close()
    const unknown = failed(findings).filter(
      ({ section, answered }) => section.startsWith('1') && answered?.includes('401'),
    )
    assert.ok(unknown.length > 0, JSON.stringify(findings))
  })

  it('finds fault with a server that is not there', async () => {
    const { code, stdout } = await conformance('--url', 'http://127.0.0.1:1/v3', '--api-key', 'a', '--auth-key', 'b')
    assert.equal(code, 1)
    assert.match(stdout, /ECONNREFUSED/)
  })

  /** By the door that a demo install has for it. */
  async function advanceClock(connection: Connection): Promise<void> {
    const clock = `${new URL(target.url).origin}/_emulator/clock`
    const moving = { headers: { apikey: target.apiKey }, body: { advance: 1 } }
    const { status, text } = await connection.send('PUT', clock, moving)
    assert.equal(status, 200, text)
  }

  /** What the suite finds when answers are changed on their way. */
  async function findingsThrough(falsify: (reply: Reply) => void, areas = checkedAreas): Promise<Finding[]> {
    const connection = connect(target)
    const server = impostor(connection, new URL(target.url).origin, falsify)
    const url = await listening(server)
    const management = target.management && { ...target.management, url: url.replace('/v3', '/mgmt') }
    const nextSecond = () => advanceClock(connection)
    const through = { url, callsUrl: url, management, ca: undefined, connectTo: undefined, nextSecond }
    const findings = await examine({ ...target, ...through }, areas)
    server.close()
    connection.close()
    return findings
  }

  /** How many keys, users and roles there are. */
  async function recordsThere(): Promise<unknown[]> {
    const connection = connect(target)
    const api = connection.caller(target.url, { apikey: target.apiKey })
    const answers = [await api.get('/apikeys'), await api.get('/users?withDeactivated=true'), await api.get('/roles')]
    connection.close()
    return answers.map(({ body }) => body.meta.pagination.total)
  }

  it('finds no fault where nothing is changed on the way', async () => {
    const someAreas = checkedAreas.slice(0, times(2, checkedAreas.length))
    assert.deepEqual(failed(await findingsThrough(() => {}, someAreas)), [])
  })

  for (const { habit, area, section, falsify } of habits) {
    it(`notices a server that ${habit}`, async () => {
      const findings = await findingsThrough(falsify, sectionOf(area, section))
      assert.ok(findings.length > 0, `there is no section "${section}" of ${area}`)
      assert.ok(failed(findings).length > 0, 'nothing is found to be wrong')
    })
  }
})
