import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Finds what the tests need, installs it from the system's packages where that is possible, and starts private copies on
 * free loopback ports in a temporary folder. Nothing that runs on the machine already is touched.
 */

export interface Services {
  /** Variables for the tests; a service that is missing has none. */
  environment: Record<string, string>
  missing: string[]
  stop(): Promise<void>
}

const readySeconds = 30

export async function startServices(): Promise<Services> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-services-'))
  const started: ChildProcess[] = []
  const environment: Record<string, string> = {}
  const missing: string[] = []

  installMissing()
  const postgres = postgresBinaries()
  if (postgres) {
    const port = await freePort()
    started.push(await startPostgres(postgres, join(folder, 'postgres'), port))
    environment.PARLEY_TEST_POSTGRES = `postgres://parley@127.0.0.1:${port}/postgres`
  } else missing.push('PostgreSQL (Debian package: postgresql)')
  if (onPath('redis-server')) {
    const port = await freePort()
    started.push(await startRedis(port))
    environment.PARLEY_TEST_REDIS = `redis://127.0.0.1:${port}`
  } else missing.push('Redis (Debian package: redis-server)')

  return {
    environment,
    missing,
    async stop() {
      await Promise.all(started.map(stopProcess))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** As root on Debian, packages can be installed; anywhere else the developer is told what is missing. */
function installMissing(): void {
  const packages = [...(postgresBinaries() ? [] : ['postgresql']), ...(onPath('redis-server') ? [] : ['redis-server'])]
  if (packages.length === 0 || process.getuid?.() !== 0 || !onPath('apt-get')) return
  console.log(`Installing ${packages.join(' and ')} from the system's packages (needed once) ...`)
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  try {
    execFileSync('apt-get', ['update', '-qq'], { stdio: 'ignore', env: environment })
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: environment,
    })
  } catch (error) {
    console.error(`Could not install them: ${(error as Error).message}`)
  }
}

function onPath(command: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, command)))
}

/** Debian keeps the server's programs out of the path, one folder for each version. */
function postgresBinaries(): string | undefined {
  const base = '/usr/lib/postgresql'
  const versions = existsSync(base) ? readdirSync(base).toSorted((a, b) => Number(b) - Number(a)) : []
  const debian = versions.map((version) => join(base, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')))
  if (debian) return debian
  return (process.env.PATH ?? '').split(':').find((folder) => existsSync(join(folder, 'initdb')))
}

async function startPostgres(bin: string, folder: string, port: number): Promise<ChildProcess> {
  const run = asOrdinaryUser()
  execFileSync('mkdir', ['-p', folder])
  if (run.uid !== undefined && run.gid !== undefined) {
    chownSync(join(folder, '..'), run.uid, run.gid)
    chownSync(folder, run.uid, run.gid)
  }
  execFileSync(join(bin, 'initdb'), ['-D', folder, '-U', 'parley', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'], {
    stdio: 'ignore',
    ...run,
  })
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'max_connections=300',
    // Tests end Parley, never PostgreSQL or the machine, so nothing hangs on what reached a disk.
    'fsync=off',
    'full_page_writes=off',
  ]
  const server = spawn(join(bin, 'postgres'), ['-D', folder, ...settings.flatMap((each) => ['-c', each])], {
    stdio: 'ignore',
    ...run,
  })
  await until(`PostgreSQL on port ${port}`, () => {
    execFileSync(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  })
  return server
}

/** PostgreSQL refuses to run as root; its package brings a user for it. */
function asOrdinaryUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

async function startRedis(port: number): Promise<ChildProcess> {
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const server = spawn('redis-server', words, { stdio: 'ignore' })
  await until(`Redis on port ${port}`, () => {
    execFileSync('redis-cli', ['-p', String(port), 'ping'], { stdio: 'ignore' })
  })
  return server
}

async function until(what: string, check: () => void): Promise<void> {
  const deadline = Date.now() + readySeconds * 1000
  for (;;) {
    try {
      return check()
    } catch {
      if (Date.now() > deadline) throw new Error(`${what} did not become ready in ${readySeconds} s.`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** A port that nobody listens on at the moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

function stopProcess(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    process.once('exit', () => resolve())
    process.kill('SIGINT')
    setTimeout(() => process.kill('SIGKILL'), 5_000).unref()
  })
}
