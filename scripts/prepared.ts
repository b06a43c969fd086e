import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { areas } from '../server/src/areas/index.ts'
import { openDatabase } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { localCertificates } from '../server/src/install/certificates.ts'
import { migrate } from '../server/src/storage/migrate.ts'
import { memoryFolder } from './memory-folder.ts'
import { databaseAt, runAt } from './postgres.ts'

/**
 * What nearly every test would otherwise make for itself, made once in a run and copied: certificates, and databases that
 * have taken all migration steps and hold nothing yet.
 */
export interface Prepared {
  /** Tells the tests where it is. */
  environment: Record<string, string>
  remove(): void
}

const databaseName = 'prepared'
// Since this version a copy is written down page by page, unless it is asked for as files, which takes half of that.
const writesCopiesDown = 150_000

export async function prepare(postgresUrl: string | undefined): Promise<Prepared> {
  const folder = mkdtempSync(join(memoryFolder(), 'parley-prepared-'))
  const { domain } = readConfig({})
  await localCertificates(folder, domain)
  await migrateOne({ PARLEY_DATA: folder })
  if (postgresUrl) {
    await runAt(postgresUrl, `CREATE DATABASE ${databaseName}`)
    await migrateOne({ PARLEY_DATA: folder, PARLEY_DATABASE_URL: databaseAt(postgresUrl, databaseName) })
  }
  return {
    environment: {
      PARLEY_TEST_PREPARED: folder,
      ...(postgresUrl && { PARLEY_TEST_PREPARED_DATABASE: await copyClause(postgresUrl) }),
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** What a new database is made with to be a copy. */
async function copyClause(postgresUrl: string): Promise<string> {
  const [told] = await runAt<{ version: number }>(
    postgresUrl,
    `SELECT current_setting('server_version_num')::integer AS version`,
  )
  const asFiles = (told?.version ?? 0) >= writesCopiesDown ? ' STRATEGY file_copy' : ''
  return `TEMPLATE ${databaseName}${asFiles}`
}

async function migrateOne(environment: Record<string, string>): Promise<void> {
  const database = await openDatabase(readConfig(environment), pino({ level: 'silent' }))
  try {
    await migrate(
      database,
      areas.map(({ migrations }) => migrations),
    )
  } finally {
    await database.close()
  }
}
