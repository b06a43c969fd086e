import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { memoryFolder } from './memory-folder.ts'
import { folderOf, freePort, stopProcess, until } from './processes.ts'

/** A private PostgreSQL on a free loopback port, in a temporary folder: in memory, unless it has to be durable. */
export interface PrivatePostgres {
  url: string
  /** Where it also listens, as a socket in the file system. */
  socketFolder: string
  /** The address of that socket: the same database for two thirds of what a small statement costs over TCP. */
  socketUrl: string
  start(): Promise<void>
  /** Fast, it ends what is under way and writes everything down; immediately, it recovers at its next start. */
  stop(how?: 'fast' | 'immediate'): Promise<void>
  /** Stops it and removes all that it holds. */
  remove(): Promise<void>
}

const user = 'parley'
const signals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const
// Where only Parley is ended, never PostgreSQL or the machine, nothing hangs on what reached a disk.
const careless = [
  'fsync=off',
  'full_page_writes=off',
  'synchronous_commit=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'checkpoint_timeout=1h',
  'max_wal_size=512MB',
]

export interface PostgresOptions {
  /** Whether it keeps what it has committed, even if it is stopped immediately. */
  isDurable: boolean
  /** What it shows to those who connect with TLS. */
  certificate?: { cert: string; key: string }
}

/** Makes one that is not running yet. */
export async function makePostgres({ isDurable, certificate }: PostgresOptions): Promise<PrivatePostgres> {
  const bin = postgresBinaries()
  if (!bin) throw new Error('There is no PostgreSQL on this machine.')
  // On a disk, making and dropping databases, each of hundreds of files, costs more than most of what is done in them.
  const folder = mkdtempSync(join(isDurable ? tmpdir() : memoryFolder(), 'parley-postgres-'))
  const run = asOrdinaryUser()
  const handOver = (path: string) => {
    if (run.uid !== undefined && run.gid !== undefined) chownSync(path, run.uid, run.gid)
  }
  handOver(folder)
  const data = join(folder, 'data')
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', user, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'], {
    stdio: 'ignore',
    ...run,
  })
  const port = await freePort()
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'max_connections=300',
    ...(isDurable ? [] : careless),
    ...(certificate ? ['ssl=on', 'ssl_cert_file=cert.pem', 'ssl_key_file=key.pem'] : []),
  ]
  for (const [name, text] of Object.entries(certificate ?? {})) {
    const file = join(data, `${name}.pem`)
    writeFileSync(file, text, { mode: 0o600 })
    handOver(file)
  }
  let server: ChildProcess | undefined

  async function stop(how: 'fast' | 'immediate' = 'fast'): Promise<void> {
    if (server) await stopProcess(server, signals[how])
    server = undefined
  }

  return {
    url: `postgres://${user}@127.0.0.1:${port}/postgres`,
    socketFolder: folder,
    socketUrl: `postgres://${user}@${encodeURIComponent(folder)}:${port}/postgres`,
    async start() {
      server = spawn(join(bin, 'postgres'), ['-D', data, ...settings.flatMap((each) => ['-c', each])], {
        stdio: 'ignore',
        ...run,
      })
      await until(`PostgreSQL on port ${port}`, () => {
        execFileSync(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
      })
    },
    stop,
    async remove() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Debian keeps the server's programs out of the path, one folder for each version. */
export function postgresBinaries(): string | undefined {
  const base = '/usr/lib/postgresql'
  const versions = existsSync(base) ? readdirSync(base).toSorted((a, b) => Number(b) - Number(a)) : []
  const debian = versions.map((version) => join(base, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')))
  return debian ?? folderOf('initdb')
}

/** PostgreSQL refuses to run as root; its package brings a user for it. */
function asOrdinaryUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** Connects, runs one statement, and answers its rows. */
export async function runAt<Row extends object>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}

/** The address of another database on the same server. */
export function databaseAt(url: string, name: string): string {
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}
