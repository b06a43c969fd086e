import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Agent, request as httpsRequest } from 'node:https'
import { parentPort, workerData } from 'node:worker_threads'
import type { DatabaseName } from './databases.ts'
import { type FuzzRequest, fuzzRequest, type Known, learn, soundMessage, talk } from './fuzz.ts'
import { type AppClient, assertSucceeds, type House, house } from './house.ts'
import { heldUpMilliseconds } from './processes.ts'
import { type Random, randomFrom } from './random.ts'

/**
 * Sends generated requests to a house and judges the answers. It runs in a thread of its own: there the test runner does
 * not watch every promise, which makes it several times faster, and two campaigns can run side by side.
 */
export interface Campaign {
  database: DatabaseName
  strict: boolean
  requests: number
  seed: number
}

/** What became of a campaign. */
export interface Outcome {
  statuses: Map<number, number>
  /** By area: how many requests were sent, and how many of them did what they asked for. */
  areas: Map<string, { sent: number; valid: number }>
  slowest: number
  failures: { problem: string; request: string }[]
}

const lanes = 16
const firstMessages = 60
const slowMilliseconds = 5_000
const failuresMax = 10
const requestCharactersShown = 1_500
const settings = { PARLEY_LIMIT_STANDARD: '1000000000', PARLEY_LIMIT_CORE: '1000000000', PARLEY_APPS_MAX: '20' }

async function run({ database, strict, requests, seed }: Campaign): Promise<Outcome> {
  const h = await house({ database, strict, environment: settings })
  const app = await h.app('fuzz')
  const known = await knownTo(h, app)
  const random = randomFrom(seed)
  await firstWords(app, known, random)
  const outcome: Outcome = { statuses: new Map(), areas: new Map(), slowest: 0, failures: [] }
  const send = sender(h)
  let sent = 0
  const lane = async () => {
    while (sent < requests && outcome.failures.length < failuresMax) {
      sent += 1
      await tryOne(fuzzRequest(random, known), send, known, outcome)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  send.close()
  assertSucceeds(await app.get('/calls'))
  assert.equal(Object.keys(Object.prototype).length, 0, 'a request reached the prototype of all objects')
  await h.close()
  return outcome
}

/** The app and its key are not among the records that requests may delete. */
async function knownTo(h: House, app: AppClient): Promise<Known> {
  const victim = await h.app('victim')
  await app.play({ initiator: 'nora', receiver: 'milo', steps: [] })
  for (const uid of ['u1', 'u2', 'u3', 'u4']) assertSucceeds(await app.post('/users', { uid, name: uid }))
  assertSucceeds(await app.post('/roles', { role: 'bot', name: 'Bot' }))
  assertSucceeds(await app.post('/users', { uid: 'robot', name: 'Robot', role: 'bot' }))
  const guids = ['crew', 'board', 'club', 'choir']
  const members = { admins: ['u1'], moderators: ['u2'], participants: ['nora', 'milo'], usersToBan: ['u4'] }
  for (const guid of guids) assertSucceeds(await app.post('/groups', { guid, name: guid, members }))
  await beginTalk(app)
  return {
    domain: 'localhost',
    appId: app.id,
    region: app.region,
    apiKey: app.apiKey,
    authKey: app.authKey,
    management: { key: h.management.key, secret: h.management.secret },
    records: {
      sessionId: [],
      apiKey: [],
      appId: [victim.id],
      uid: ['nora', 'milo', 'u1', 'U2', 'u3', 'u4', 'robot'],
      authToken: [],
      role: ['default'],
      guid: guids,
      scope: ['admin', 'moderator', 'participant'],
      id: [],
      conversationId: [],
      reaction: ['🚣', ':boat:', 'yes', '👍🏽', '👩‍👩‍👧‍👦', '❤', '❤️', '1️⃣', 'a/b', '50%'],
      permission: ['createGroup', 'initiateCall', 'listUsers.mode', 'listUsers.allowedRoles'],
    },
    messages: [],
  }
}

/** What the talkers say before anything else happens, so that there is something to do with it from the beginning. */
async function beginTalk(app: AppClient): Promise<void> {
  assertSucceeds(await app.post('/roles', { role: talk.role, name: 'Talker' }))
  for (const uid of talk.uids) assertSucceeds(await app.post('/users', { uid, name: uid, role: talk.role }))
  assertSucceeds(await app.post('/users', { uid: talk.bot, name: talk.bot, role: 'bot' }))
  for (const guid of talk.guids) {
    assertSucceeds(await app.post('/groups', { guid, name: guid, members: { admins: talk.uids } }))
  }
}

/** Says something, until everything that talk is about has been said. */
async function firstWords(app: AppClient, known: Known, random: Random): Promise<void> {
  for (let n = 0; n < firstMessages; n += 1) {
    const sender = random.pick(talk.uids)
    const { data } = assertSucceeds(await app.post('/messages', soundMessage(random), { onBehalfOf: sender }))
    learn(known, data)
  }
}

interface Reply {
  status: number
  type: string
  text: string
  milliseconds: number
}

type Send = ((request: FuzzRequest) => Promise<Reply>) & { close(): void }

/** Time in which this thread waited for a busy machine is none that a request takes. */
const ownMilliseconds = () => performance.now() - heldUpMilliseconds()

function sender(h: House): Send {
  const agent = new Agent({ keepAlive: true, maxSockets: lanes, ca: readFileSync(h.service.caFile, 'utf8') })
  const send = ({ method, host, path, headers, raw }: FuzzRequest) =>
    new Promise<Reply>((resolve, reject) => {
      const began = ownMilliseconds()
      const sending = httpsRequest(
        {
          agent,
          host: '127.0.0.1',
          port: h.service.port,
          servername: 'localhost',
          method,
          path,
          headers: { host, ...(raw !== undefined && { 'content-length': Buffer.byteLength(raw) }), ...headers },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              type: response.headers['content-type'] ?? '',
              text: Buffer.concat(chunks).toString('utf8'),
              milliseconds: ownMilliseconds() - began,
            }),
          )
        },
      )
      sending.on('error', reject)
      sending.end(raw)
    })
  return Object.assign(send, { close: () => agent.destroy() })
}

function count(outcome: Outcome, { area }: FuzzRequest, { status, milliseconds }: Reply): void {
  const { sent, valid } = outcome.areas.get(area) ?? { sent: 0, valid: 0 }
  outcome.areas.set(area, { sent: sent + 1, valid: valid + (status === 200 ? 1 : 0) })
  outcome.statuses.set(status, (outcome.statuses.get(status) ?? 0) + 1)
  outcome.slowest = Math.max(outcome.slowest, milliseconds)
}

async function tryOne(request: FuzzRequest, send: Send, known: Known, outcome: Outcome): Promise<void> {
  let problem: string | undefined
  try {
    const reply = await send(request)
    count(outcome, request, reply)
    problem = problemOf(request, reply)
    if (!problem && reply.status === 200 && request.method === 'POST') learn(known, JSON.parse(reply.text).data)
  } catch (error) {
    problem = String(error)
  }
  if (problem) outcome.failures.push({ problem, request: JSON.stringify(request).slice(0, requestCharactersShown) })
}

/** What is wrong with a reply, if anything is. */
function problemOf({ method, path }: FuzzRequest, { status, type, text, milliseconds }: Reply): string | undefined {
  if (milliseconds > slowMilliseconds) return `took ${Math.round(milliseconds)} ms`
  // On a machine that is busy enough, this is what it is there to say.
  if (status === 503 && /^\/readyz\b/.test(path) && text.startsWith('{"status":"not ready"')) return undefined
  if (status >= 500 || status < 200) return `${status} ${text}`
  if (method === 'OPTIONS' && status === 204) return text === '' ? undefined : 'a body in answer to OPTIONS'
  if (method === 'HEAD') return text === '' ? undefined : 'a body in answer to HEAD'
  if (!type.startsWith('application/json'))
    return status === 200 && /^text\/(html|plain)/.test(type) ? undefined : `${status} ${type}`
  let body: Record<string, unknown>
  try {
    body = JSON.parse(text)
  } catch {
    return `${status} with a body that is not JSON: ${text}`
  }
  if (status === 200) return 'error' in body ? `200 with an error: ${text}` : undefined
  return errorProblem(body, text)
}

const sources = ['chat-api', 'calls-api', 'mgmt-api']

function errorProblem(body: Record<string, unknown>, text: string): string | undefined {
  const error = body.error as Record<string, unknown> | undefined
  const wellFormed =
    Object.keys(body).join() === 'error' &&
    /^[A-Z_]+$/.test(String(error?.code)) &&
    [error?.message, error?.devMessage].every((each) => typeof each === 'string' && each !== '') &&
    sources.includes(String(error?.source)) &&
    detailsFit(error?.details)
  return wellFormed ? undefined : `an error that is not in the contract's form: ${text}`
}

function detailsFit(details: unknown): boolean {
  if (details === undefined) return true
  if (typeof details !== 'object' || details === null) return false
  return Object.values(details).every(
    (value) => typeof value === 'number' || (Array.isArray(value) && value.every((each) => typeof each === 'string')),
  )
}

parentPort?.postMessage(await run(workerData as Campaign))
