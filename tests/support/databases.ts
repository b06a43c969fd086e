import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseAt, runAt } from '../../scripts/postgres.ts'

/** The databases every suite runs on. Without a PostgreSQL at hand only the embedded one is there. */
export type DatabaseName = 'sqlite' | 'postgres'

const postgresUrl = process.env.PARLEY_TEST_POSTGRES

export const databases: DatabaseName[] = postgresUrl ? ['sqlite', 'postgres'] : ['sqlite']

export interface FreshDatabase {
  /** Settings that make a server use it. */
  environment: Record<string, string>
  drop(): Promise<void>
}

const memoryFolder = '/dev/shm'
const roomBytes = 2 ** 31

/**
 * Where data folders are: in memory where the system has room for that, as waiting for a disk is most of what a small
 * write costs. Tests end Parley, never the machine, so nothing hangs on what reached a disk.
 */
const base = hasRoom(memoryFolder) ? memoryFolder : tmpdir()

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= roomBytes
  } catch {
    return false
  }
}

/** A new, empty database and data folder, gone after the test; on a PostgreSQL of its own, if the test brings one. */
export async function freshDatabase(name: DatabaseName, serverUrl = postgresUrl ?? ''): Promise<FreshDatabase> {
  const folder = mkdtempSync(join(base, 'parley-test-'))
  const environment: Record<string, string> = { PARLEY_DATA: folder }
  if (name === 'sqlite') {
    return { environment, drop: async () => rmSync(folder, { recursive: true, force: true }) }
  }
  const database = `test_${randomBytes(6).toString('hex')}`
  await runAt(serverUrl, `CREATE DATABASE ${database}`)
  environment.PARLEY_DATABASE_URL = databaseAt(serverUrl, database)
  environment.PARLEY_DATABASE_CONNECTIONS = '5'
  environment.PARLEY_MASTER_KEY = randomBytes(32).toString('hex')
  return {
    environment,
    async drop() {
      await runAt(serverUrl, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
