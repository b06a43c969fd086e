import { chromiumBinary } from './chromium.ts'
import { makePostgres, postgresBinaries } from './postgres.ts'
import { folderOf } from './processes.ts'
import { hasRedis, makeRedis } from './redis.ts'
import { canInstall, installPackages } from './system-packages.ts'

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
  /** Whether any test makes calls for real. */
  withMedia?: boolean
}

export async function startServices({ withBrowser = false, withMedia = false }: Needs = {}): Promise<Services> {
  const stops: (() => Promise<void>)[] = []
  const environment: Record<string, string> = {}
  const missing: string[] = []
  let postgresUrl: string | undefined

  installMissing({ withBrowser, withMedia })
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
  if (withMedia && !folderOf('janus')) missing.push('Janus (Debian package: janus)')
  if (withMedia && !folderOf('turnserver')) missing.push('coturn (Debian package: coturn)')

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
function installMissing({ withBrowser, withMedia }: Required<Needs>): void {
  const packages = [
    ...(postgresBinaries() ? [] : ['postgresql']),
    ...(hasRedis() ? [] : ['redis-server']),
    ...(folderOf('python3') ? [] : ['python3']),
    ...(!withBrowser || chromiumBinary() ? [] : ['chromium']),
    ...(!withMedia || folderOf('janus') ? [] : ['janus']),
    ...(!withMedia || folderOf('turnserver') ? [] : ['coturn']),
  ]
  if (packages.length === 0 || !canInstall()) return
  console.log(`Installing ${packages.join(', ')} from the system's packages (needed once) ...`)
  installPackages(packages)
}
