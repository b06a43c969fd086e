import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoryFolder } from '../../scripts/memory-folder.ts'
import { databaseAt, runAt } from '../../scripts/postgres.ts'
import { masterKeyFile } from '../../server/src/install/master-key.ts'

/** The databases every suite runs on. Without a PostgreSQL at hand only the embedded one is there. */
export type DatabaseName = 'sqlite' | 'postgres'

const postgresUrl = process.env.PARLEY_TEST_POSTGRES

export const databases: DatabaseName[] = postgresUrl ? ['sqlite', 'postgres'] : ['sqlite']

export interface FreshDatabase {
  /** Settings that make a server use it. */
  environment: Record<string, string>
  drop(): Promise<void>
}

// What the runner has made for all tests; see scripts/prepared.ts.
const { PARLEY_TEST_PREPARED: preparedFolder, PARLEY_TEST_PREPARED_DATABASE: copyClause } = process.env

/** A new, empty database and data folder, gone after the test; on a PostgreSQL of its own, if the test brings one. */
export async function freshDatabase(name: DatabaseName, serverUrl = postgresUrl ?? ''): Promise<FreshDatabase> {
  return makeDatabase(name, serverUrl)
}

/**
 * The same with certificates, and with tables that hold nothing yet: what a server finds that has been started once. A
 * test that was not started by the runner has nothing to copy, and its server makes them.
 */
export async function preparedDatabase(name: DatabaseName): Promise<FreshDatabase> {
  if (!preparedFolder) return freshDatabase(name)
  const made = await makeDatabase(name, postgresUrl ?? '', copyClause)
  const folder = made.environment.PARLEY_DATA ?? ''
  for (const file of readdirSync(preparedFolder)) {
    if (name === 'sqlite' || file.endsWith('.pem')) copyFileSync(join(preparedFolder, file), join(folder, file))
  }
  // No two installs have the same.
  if (name === 'sqlite') writeFileSync(join(folder, masterKeyFile), newMasterKey(), { mode: 0o600 })
  return made
}

const newMasterKey = () => randomBytes(32).toString('hex')

async function makeDatabase(name: DatabaseName, serverUrl: string, copyClause = ''): Promise<FreshDatabase> {
  const folder = mkdtempSync(join(memoryFolder(), 'parley-test-'))
  const environment: Record<string, string> = { PARLEY_DATA: folder }
  if (name === 'sqlite') {
    return { environment, drop: async () => rmSync(folder, { recursive: true, force: true }) }
  }
  const database = `test_${randomBytes(6).toString('hex')}`
  await runAt(serverUrl, `CREATE DATABASE ${database} ${copyClause}`)
  environment.PARLEY_DATABASE_URL = databaseAt(serverUrl, database)
  environment.PARLEY_DATABASE_CONNECTIONS = '5'
  environment.PARLEY_MASTER_KEY = newMasterKey()
  return {
    environment,
    async drop() {
      await runAt(serverUrl, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
