import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import type { Request } from './load.ts'
import { multiplyCalls, postgresTarget, sqliteTarget, templateScripts } from './load-calls.ts'
import { type Running, startParley, throughProxy } from './processes.ts'

/** An install of Parley with data in it, and what is needed to call it. */
export interface Install {
  data: string
  environment: Record<string, string>
  calls: number
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

/** An install with so many calls; one that stands in the folder already is used again. */
export async function installWith(calls: number, folder: string, databaseUrl?: string): Promise<Install> {
  const data = join(folder, databaseUrl ? `postgres-${calls}` : `calls-${calls}`)
  const done = join(data, doneFile)
  if (existsSync(done)) return JSON.parse(readFileSync(done, 'utf8'))
  const startedAt = Date.now()
  mkdirSync(data, { recursive: true })
  const environment: Record<string, string> = databaseUrl
    ? { PARLEY_DATABASE_URL: databaseUrl, PARLEY_MASTER_KEY: randomBytes(32).toString('hex') }
    : {}
  const running = await startParley({ data, environment, words: ['--demo'] })
  const { appId, apiKey, authKey, region } = await credentialsIn(data)
  const host = `${appId}.call-${region}.localhost`
  const install: Install = { data, environment, calls, appId, apiKey, otherKey: authKey, host }
  await playTemplates(running, install)
  await running.stop()
  const target = databaseUrl ? postgresTarget(databaseUrl) : sqliteTarget(join(data, 'parley.sqlite'))
  await multiplyCalls(target, appId, calls)
  await target.close()
  writeFileSync(done, JSON.stringify(install))
  console.error(`Loaded ${calls} calls in ${Math.round((Date.now() - startedAt) / 1000)} s.`)
  return install
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
export function send(running: Running, { method, path, headers, body }: Request): Promise<Answer> {
  const addedByNode = ['date', 'connection', 'keep-alive']
  return new Promise((resolve, reject) => {
    const asking = request(
      { host: '127.0.0.1', port: running.ports.plain, method, path, headers, agent: false },
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
