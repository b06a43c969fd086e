import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type DatabaseName, freshDatabase, preparedDatabase } from './databases.ts'
import { type Caller, callerAt } from './house.ts'
import { type Client, httpsClient } from './http.ts'
import { parleyHere } from './parley.ts'

/** The real server as processes of their own, for tests that kill them, signal them or run several on one database. */

const mainFile = join(import.meta.dirname, '../../server/src/main.ts')
const domain = 'localhost'
const startMilliseconds = 30_000

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface ServerProcess {
  pid: number
  port: number
  client: Client
  signal(name: NodeJS.Signals): void
  /** Resolves when the process has ended, however it ended. */
  exited: Promise<Exit>
  /** Ends it the way a power cut would. */
  kill(): Promise<void>
  /** What it has written to its log so far. */
  log(): string
}

export interface AppOnDisk {
  id: string
  apiKey: string
  host: string
  /** The app's API at one of the servers. */
  at(server: ServerProcess): Caller
  /** The emulator's door at one of the servers. */
  emulator(server: ServerProcess): Caller
}

/** One install: a database, a data folder, and as many servers on them as a test starts. */
export interface Install {
  environment: Record<string, string>
  start(environment?: Record<string, string>, ...words: string[]): Promise<ServerProcess>
  /** Runs a command and answers what it said as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: every command says a shape of its own
  command(...words: string[]): Promise<{ code: number; data: any }>
  createApp(name: string): Promise<AppOnDisk>
  managementPair(): Promise<{ key: string; secret: string }>
  /** Kills what still runs and removes everything. */
  remove(): Promise<void>
}

export async function install(
  database: DatabaseName,
  environment: Record<string, string> = {},
  postgresUrl?: string,
): Promise<Install> {
  const isPlain = postgresUrl === undefined && environment.PARLEY_DATA === undefined
  const fresh = isPlain ? await preparedDatabase(database) : await freshDatabase(database, postgresUrl)
  const settings = { PARLEY_PORT: '0', PARLEY_LOG_LEVEL: 'error', ...fresh.environment, ...environment }
  const running = new Set<ServerProcess>()

  async function command(...words: string[]) {
    const { code, stdout, stderr } = await parleyHere([...words, '--json'], settings)
    return { code, data: parsedOrThrow(stdout, `parley ${words.join(' ')}`, stderr) }
  }

  return {
    environment: settings,
    command,
    async start(extra = {}, ...words) {
      const server = await startServer({ ...settings, ...extra }, words)
      running.add(server)
      void server.exited.then(() => running.delete(server))
      return server
    },
    createApp: async (name) => appOnDisk((await command('apps', 'create', '--name', name)).data),
    managementPair: async () => (await command('keys', 'create', '--management')).data,
    async remove() {
      await Promise.all([...running].map((server) => server.kill()))
      await fresh.drop()
    },
  }
}

export const managementHost = `apimgmt.${domain}`

function appOnDisk(record: { id: string; region: string; apiKeys: Record<string, { apiKey: string; scope: string }> }) {
  const { id, region } = record
  const apiKey = Object.values(record.apiKeys).find(({ scope }) => scope === 'fullAccess')?.apiKey ?? ''
  const host = `${id}.api-${region}.${domain}`
  const credentials = { apikey: apiKey }
  return {
    id,
    apiKey,
    host,
    at: ({ client }: ServerProcess) => callerAt(client, host, '/v3', credentials),
    emulator: ({ client }: ServerProcess) => callerAt(client, host, '/_emulator', credentials),
  }
}

async function startServer(settings: Record<string, string>, words: string[]): Promise<ServerProcess> {
  const child = run(settings, ['start', ...words])
  const output = collect(child.stdout, child.stderr)
  const exited = ended(child)
  const port = await printedPort(child, exited, output)
  const client = httpsClient(port, readFileSync(join(settings.PARLEY_DATA ?? '', 'ca.pem'), 'utf8'))
  void exited.then(() => client.close())
  return {
    pid: child.pid ?? 0,
    port,
    client,
    exited,
    signal: (name) => void child.kill(name),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    log: output,
  }
}

/** The tests' own variables stay behind: the server refuses settings it does not know. */
function run(settings: Record<string, string>, words: string[]): ChildProcess {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = join(settings.PARLEY_DATA ?? '', 'compile-cache') } = process.env
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', mainFile, ...words], {
    // With code that is compiled already, starting takes half the time.
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function collect(...streams: (Readable | null)[]): () => string {
  let text = ''
  for (const stream of streams) {
    stream?.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  }
  return () => text
}

function ended(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
}

function printedPort(child: ChildProcess, exited: Promise<Exit>, output: () => string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`The server ${why}:\n${output()}`))
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      fail('printed no address in time')
    }, startMilliseconds)
    void exited.then(() => {
      clearTimeout(timer)
      fail('ended before it printed its address')
    })
    child.stdout?.on('data', () => {
      const port = /https:\/\/[^\s:]+:(\d+)/.exec(output())?.[1]
      if (port === undefined) return
      clearTimeout(timer)
      resolve(Number(port))
    })
  })
}

function parsedOrThrow(text: string, command: string, complaints: string) {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`"${command}" printed no JSON:\n${text}\n${complaints}`)
  }
}
