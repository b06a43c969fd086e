import { execFileSync } from 'node:child_process'
import { chromiumBinary } from './chromium.ts'
import { makePostgres, postgresBinaries } from './postgres.ts'
import { folderOf } from './processes.ts'
import { hasRedis, makeRedis } from './redis.ts'

/**
 * Finds what the tests need, installs it from the system's packages where that is possible, and starts private copies.
 * Nothing that runs on the machine already is touched.
 */

export interface Services {
  /** Variables for the tests; a service that is missing has none. */
  environment: Record<string, string>
  /** PostgreSQL over TCP, as most installs reach it; tests have the shorter way. */
  postgresUrl: string | undefined
  missing: string[]
  stop(): Promise<void>
}

interface Needs {
  /** Whether any test opens a page: a browser is larger than all the rest. */
  withBrowser?: boolean
}

export async function startServices({ withBrowser = false }: Needs = {}): Promise<Services> {
  const stops: (() => Promise<void>)[] = []
  const environment: Record<string, string> = {}
  const missing: string[] = []
  let postgresUrl: string | undefined

  installMissing(withBrowser)
  if (postgresBinaries()) {
    const postgres = await makePostgres({ isDurable: false })
    stops.push(postgres.remove)
    await postgres.start()
    environment.PARLEY_TEST_POSTGRES = postgres.socketUrl
    postgresUrl = postgres.url
  } else missing.push('PostgreSQL (Debian package: postgresql)')
  if (hasRedis()) {
    const redis = await makeRedis()
    stops.push(redis.stop)
    await redis.start()
    environment.PARLEY_TEST_REDIS = redis.url
  } else missing.push('Redis (Debian package: redis-server)')
  if (!folderOf('python3')) missing.push('Python (Debian package: python3)')
  const chromium = chromiumBinary()
  if (chromium) environment.PARLEY_TEST_CHROMIUM = chromium
  else if (withBrowser) missing.push('Chromium (Debian package: chromium)')

  return {
    environment,
    postgresUrl,
    missing,
    async stop() {
      await Promise.all(stops.map((stop) => stop()))
    },
  }
}

/** As root on Debian, packages can be installed; anywhere else the developer is told what is missing. */
function installMissing(withBrowser: boolean): void {
  const packages = [
    ...(postgresBinaries() ? [] : ['postgresql']),
    ...(hasRedis() ? [] : ['redis-server']),
    ...(folderOf('python3') ? [] : ['python3']),
    ...(!withBrowser || chromiumBinary() ? [] : ['chromium']),
  ]
  if (packages.length === 0 || process.getuid?.() !== 0 || !folderOf('apt-get')) return
  console.log(`Installing ${packages.join(', ')} from the system's packages (needed once) ...`)
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
