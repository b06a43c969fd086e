import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type Agent, request } from 'node:http'
import { join } from 'node:path'
import { databaseAt, runAt } from '../scripts/postgres.ts'
import { sqliteFile } from '../server/src/storage/sqlite.ts'
import type { Request } from './load.ts'
import { multiplyCalls, postgresTarget, sqliteTarget, templateScripts } from './load-calls.ts'
import { loadCrowd } from './load-crowd.ts'
import { loadListeners } from './load-listeners.ts'
import { loadMessages } from './load-messages.ts'
import { loadReader } from './load-reader.ts'
import { loadUsers } from './load-users.ts'
import { loadWorst } from './load-worst.ts'
import { type Running, startParley, throughProxy } from './processes.ts'

/** An install of Parley with data in it, and what is needed to call it. */
export interface Install {
  data: string
  environment: Record<string, string>
  /** How many calls or users it was filled with. */
  records: number
  appId: string
  /** A full key, and another that requests made with the first may rename. */
  apiKey: string
  otherKey: string
  host: string
}

export interface Answer {
  status: number
  headers: string[]
  text: string
}

const doneFile = 'bench.json'
const sentAtOnce = 20

/** What an install is made for, and what goes into it before it is measured. */
interface Filling {
  kind: string
  records: number
  /** Through the doors, while the server runs. */
  online?(running: Running, install: Install): Promise<void>
  /** Straight into the stopped install. */
  offline(install: Install): Promise<void>
}

/** An install with so many calls. */
export function installWith(calls: number, folder: string, postgresUrl?: string): Promise<Install> {
  return installFilled(folder, postgresUrl, {
    kind: 'calls',
    records: calls,
    online: playTemplates,
    async offline({ data, appId, environment: { PARLEY_DATABASE_URL: url } }) {
      const target = url ? postgresTarget(url) : sqliteTarget(join(data, sqliteFile))
      await multiplyCalls(target, appId, calls)
      await target.close()
    },
  })
}

/** An install with so many users. */
export function installWithUsers(users: number, folder: string, postgresUrl?: string): Promise<Install> {
  return installFilled(folder, postgresUrl, {
    kind: 'users',
    records: users,
    offline: (install) => loadUsers(install, users),
  })
}

/** An install with so many messages. */
export function installWithMessages(messages: number, folder: string, postgresUrl?: string): Promise<Install> {
  return installFilled(folder, postgresUrl, {
    kind: 'messages',
    records: messages,
    offline: (install) => loadMessages(install, messages),
  })
}

/** An install with a group of very many users and so many messages in it, and others to delete. */
export function installWithCrowd(messages: number, folder: string): Promise<Install> {
  return installFilled(folder, undefined, {
    kind: 'crowd',
    records: messages,
    offline: (install) => loadCrowd(install, messages),
  })
}

/** An install with so many users who listen to one. */
export function installWithListeners(users: number, folder: string): Promise<Install> {
  return installFilled(folder, undefined, {
    kind: 'listeners',
    records: users,
    offline: (install) => loadListeners(install, users),
  })
}

/** An install with so many messages in a group of somebody who has many other conversations. */
export function installWithReader(messages: number, folder: string): Promise<Install> {
  return installFilled(folder, undefined, {
    kind: 'reader',
    records: messages,
    offline: (install) => loadReader(install, messages),
  })
}

/** An install in which every list has its worst case, with so many messages. */
export function installWithWorst(messages: number, folder: string): Promise<Install> {
  return installFilled(folder, undefined, {
    kind: 'worst',
    records: messages,
    online: playTemplates,
    async offline(install) {
      // Calls first: their counts are made anew, and nothing else's is left.
      const target = sqliteTarget(join(install.data, sqliteFile))
      await multiplyCalls(target, install.appId, messages)
      await target.close()
      await loadWorst(install, messages)
    },
  })
}

/** A copy of an install, to be used up. */
export function copyOf(install: Install): Install {
  const data = `${install.data}_copy`
  rmSync(data, { recursive: true, force: true })
  cpSync(install.data, data, { recursive: true })
  return { ...install, data }
}

/** A filled install. An embedded one that stands in the folder already is used again; a PostgreSQL lasts for one run. */
async function installFilled(
  folder: string,
  postgresUrl: string | undefined,
  { kind, records, online, offline }: Filling,
): Promise<Install> {
  const name = `${postgresUrl ? 'postgres_' : ''}${kind}_${records}`
  const data = join(folder, name)
  const done = join(data, doneFile)
  if (existsSync(done) && !postgresUrl) return JSON.parse(readFileSync(done, 'utf8'))
  const startedAt = Date.now()
  rmSync(data, { recursive: true, force: true })
  mkdirSync(data, { recursive: true })
  const environment = postgresUrl ? await databaseNamed(name, postgresUrl) : {}
  const running = await startParley({ data, environment, words: ['--demo'] })
  const { appId, apiKey, authKey, region } = await credentialsIn(data)
  const host = `${appId}.call-${region}.localhost`
  const install: Install = { data, environment, records, appId, apiKey, otherKey: authKey, host }
  await online?.(running, install)
  await running.stop()
  await offline(install)
  writeFileSync(done, JSON.stringify(install))
  console.error(`Made an install with ${records} ${kind} in ${Math.round((Date.now() - startedAt) / 1000)} s.`)
  return install
}

async function databaseNamed(name: string, postgresUrl: string): Promise<Record<string, string>> {
  await runAt(postgresUrl, `DROP DATABASE IF EXISTS ${name}`)
  await runAt(postgresUrl, `CREATE DATABASE ${name}`)
  return {
    PARLEY_DATABASE_URL: databaseAt(postgresUrl, name),
    PARLEY_MASTER_KEY: randomBytes(32).toString('hex'),
  }
}

const seededMilliseconds = 30_000

/** The demo is created after the doors are open, so its credentials come a moment later. */
async function credentialsIn(data: string) {
  for (const deadline = Date.now() + seededMilliseconds; ; ) {
    try {
      return JSON.parse(readFileSync(join(data, 'credentials.json'), 'utf8'))
    } catch (error) {
      if (Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

async function playTemplates(running: Running, install: Install): Promise<void> {
  const scripts = templateScripts(Math.floor(Date.now() / 1000))
  for (let first = 0; first < scripts.length; first += sentAtOnce) {
    const some = scripts.slice(first, first + sentAtOnce)
    const answers = await Promise.all(
      some.map((script) =>
        send(running, requestTo(install, '/_emulator/calls/script', { method: 'POST', body: script })),
      ),
    )
    const refused = answers.find(({ status }) => status !== 200)
    if (refused) throw new Error(`A template was refused: ${refused.text}`)
  }
}

/** A request as a proxy in front of Parley would pass it on. */
export function requestTo(
  { host, apiKey }: Install,
  path: string,
  { method = 'GET', body, headers }: { method?: string; body?: object; headers?: Record<string, string> } = {},
): Request {
  return {
    method,
    path,
    headers: {
      host,
      apikey: apiKey,
      accept: 'application/json',
      ...throughProxy,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  }
}

/** Sends one request and answers what came back, headers without those that Node adds by itself. */
export function send(
  running: Running,
  { method, path, headers, body }: Request,
  agent: Agent | false = false,
): Promise<Answer> {
  const addedByNode = ['date', 'connection', 'keep-alive']
  // Node sends the body of a DELETE without saying how long it is.
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const asking = request(
      { host: '127.0.0.1', port: running.ports.plain, method, path, headers: { ...headers, ...length }, agent },
      async (response) => {
        const chunks = await response.toArray()
        const pairs = response.rawHeaders.flatMap((_, n, all) =>
          n % 2 === 0 ? [[all[n], all[n + 1]] as string[]] : [],
        )
        resolve({
          status: response.statusCode ?? 0,
          headers: pairs.filter(([name = '']) => !addedByNode.includes(name.toLowerCase())).flat(),
          text: Buffer.concat(chunks).toString('utf8'),
        })
      },
    )
    asking.on('error', reject)
    asking.end(body)
  })
}
