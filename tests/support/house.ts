import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { pino } from 'pino'
import { addManagementKey } from '../../server/src/areas/apps/index.ts'
import { areas as allAreas } from '../../server/src/areas/index.ts'
import { readConfig } from '../../server/src/config.ts'
import type { GatewayPatience } from '../../server/src/gateway/patience.ts'
import type { PageSet } from '../../server/src/http/page-door.ts'
import type { Area } from '../../server/src/kit/area.ts'
import type { AdjustableClock, Passwords } from '../../server/src/kit/ports.ts'
import { type Service, startService } from '../../server/src/service.ts'
import { standingClock } from './clock.ts'
import { type DatabaseName, type FreshDatabase, preparedDatabase } from './databases.ts'
import { dispatchClient, type Way } from './dispatched.ts'
import { type Answer, type Client, httpsClient, type Sending } from './http.ts'
import { cheapPasswords } from './passwords.ts'
import { assertNothingTripped, installTripwire } from './tripwire.ts'

/** The whole service in this process, on a fresh database, behind its real front door, unless another way in is asked for. */
export interface House {
  service: Service
  clock: AdjustableClock
  client: Client
  /** An app of this name, created on first use. */
  app(name: string): Promise<AppClient>
  /** An app that was there already. */
  appOf(id: string): Promise<AppClient>
  management: Caller & { key: string; secret: string }
  /** Runs followers and jobs until nothing is due. */
  settle(): Promise<void>
  close(): Promise<void>
}

type Send = (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

export interface Caller {
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  post: Send
  put: Send
  delete: Send
  send(path: string, sending: Sending): Promise<Answer>
}

export interface AppClient extends Caller {
  id: string
  region: string
  apiKey: string
  authKey: string
  host: string
  callsHost: string
  /** The same app with another key. */
  withKey(apiKey: string): Caller
  /** Plays a scripted call; answers its record. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into records freely
  play(script: object): Promise<any>
}

export interface HouseOptions {
  database: DatabaseName
  /** With what is in it already; a new one, if there is none. */
  on?: FreshDatabase
  areas?: Area[]
  pages?: PageSet[]
  /** How long devices may take that stay connected. */
  livePatience?: Partial<GatewayPatience>
  environment?: Record<string, string>
  strict?: boolean
  passwords?: Passwords
  /** Straight into `dispatch` takes half the time: for tables in which how a request came makes no difference. */
  way?: Way
  /** One that stands still, unless it is given. */
  clock?: AdjustableClock
}

export async function house({
  database,
  on,
  areas,
  pages,
  livePatience,
  environment,
  strict = true,
  passwords = cheapPasswords(),
  way = 'http',
  clock = standingClock(),
}: HouseOptions): Promise<House> {
  installTripwire()
  const fresh = on ?? (await preparedDatabase(database))
  const config = readConfig({
    PARLEY_PORT: '0',
    PARLEY_EMULATOR: 'true',
    PARLEY_LOG_LEVEL: 'silent',
    PARLEY_LIMIT_MESSAGES: '1000000',
    PARLEY_LIMIT_CALLS: '1000000',
    PARLEY_LIMIT_UNREAD: '1000000',
    // However busy the machine is.
    PARLEY_READ_SECONDS: '60',
    ...fresh.environment,
    ...environment,
  })
  const log = pino({ level: process.env.PARLEY_TEST_LOG ?? 'silent' })
  const service = await startService(config, log, {
    ...{ clock, strict, passwords },
    // Whoever closes a house has its answers.
    patience: { arrivalMilliseconds: 1 },
    ...(livePatience && { livePatience }),
    ...(pages && { pages }),
    ...(areas && { areas: [...allAreas, ...areas] }),
  })
  const client =
    way === 'http'
      ? httpsClient(service.port, readFileSync(service.caFile, 'utf8'))
      : dispatchClient(service, config.domain)
  const { house: opened } = service
  const pair = await opened.database.write(({ query }) =>
    addManagementKey(query, opened.tools.secrets, config.domain, clock.now()),
  )
  const management = callerAt(client, `apimgmt.${config.domain}`, '', { key: pair.key, secret: pair.secret })
  const apps = new Map<string, Promise<AppClient>>()

  async function createApp(name: string): Promise<AppClient> {
    const answer = await management.post('/apps', { name, region: config.region })
    assert.equal(answer.status, 200, answer.text)
    return appClient(client, config.domain, answer.body.data)
  }

  return {
    service,
    clock,
    client,
    management: { ...management, ...pair },
    app(name) {
      const known = apps.get(name) ?? createApp(name)
      apps.set(name, known)
      return known
    },
    async appOf(id) {
      const answer = await management.get(`/apps/${id}`)
      assert.equal(answer.status, 200, answer.text)
      return appClient(client, config.domain, answer.body.data)
    },
    settle: () => opened.workers.settle(),
    async close() {
      client.close()
      await service.stop()
      await fresh.drop()
      assertNothingTripped()
    },
  }
}

function appClient(
  client: Client,
  domain: string,
  { id, region, apiKeys }: { id: string; region: string; apiKeys: Record<string, { apiKey: string; scope: string }> },
): AppClient {
  const keyOf = (wanted: string) => Object.values(apiKeys).find(({ scope }) => scope === wanted)?.apiKey ?? ''
  const host = `${id}.api-${region}.${domain}`
  const withKey = (apiKey: string) => callerAt(client, host, '/v3', { apikey: apiKey })
  const apiKey = keyOf('fullAccess')
  const emulator = callerAt(client, host, '/_emulator', { apikey: apiKey })
  return {
    id,
    region,
    apiKey,
    authKey: keyOf('authOnly'),
    host,
    callsHost: `${id}.call-${region}.${domain}`,
    ...withKey(apiKey),
    withKey,
    async play(script) {
      const answer = await emulator.post('/calls/script', script)
      assert.equal(answer.status, 200, answer.text)
      return answer.body.data
    },
  }
}

/** Sends to one host with one set of credentials. */
export function callerAt(client: Client, host: string, prefix: string, credentials: Record<string, string>): Caller {
  const send = (path: string, sending: Sending) =>
    client.send(host, `${prefix}${path}`, { ...sending, headers: { ...credentials, ...sending.headers } })
  const withBody =
    (method: string): Send =>
    (path, body, headers) =>
      send(path, { method, body, ...(headers && { headers }) })
  return {
    send,
    get: (path, headers) => send(path, headers ? { headers } : {}),
    post: withBody('POST'),
    put: withBody('PUT'),
    delete: withBody('DELETE'),
  }
}

/** The answer is this failure, in the contract's form. */
export function assertFails(answer: Answer, status: number, code: string): void {
  assert.equal(answer.body?.error?.code, code, answer.text)
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.body.data, undefined)
  assert.equal(typeof answer.body.error.message, 'string')
  assert.equal(typeof answer.body.error.devMessage, 'string')
  assert.equal(typeof answer.body.error.source, 'string')
}

/** The answer is a success; answers its body. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
export function assertSucceeds(answer: Answer): any {
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}
