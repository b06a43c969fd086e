import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Config, ConfigError } from '../config.ts'
import type { Secrets } from '../kit/ports.ts'
import type { Connection } from '../storage/connection.ts'

/** An install is one database, one master key and, on the embedded database, one server process. */

const keySetting = 'master key'
export const databaseFile = 'parley.sqlite'

/** What a master key is recognised by, without giving it away. */
export function keyMark(secrets: Secrets): string {
  return secrets.fingerprint('the master key of this install')
}

/** Notes the master key with its first use, and from then on refuses any other: it could open nothing. */
export async function holdToMasterKey({ query }: Connection, secrets: Secrets): Promise<void> {
  const mark = keyMark(secrets)
  const known = await query
    .selectFrom('install_settings')
    .select('value')
    .where('name', '=', keySetting)
    .executeTakeFirst()
  if (!known) await query.insertInto('install_settings').values({ name: keySetting, value: mark }).execute()
  else if (known.value !== mark) throw wrongMasterKey()
}

export function wrongMasterKey(): ConfigError {
  return new ConfigError(
    'PARLEY_MASTER_KEY, or the file master.key, is not the master key that this data was made under. Put the right one back.',
  )
}

/** Whether there is anything to open: a database server, or the file of the embedded database. */
export function installExists(config: Config): boolean {
  return config.databaseUrl !== undefined || existsSync(join(config.data, databaseFile))
}

/**
 * Takes the folder for one server. The lock is the operating system's, on a file of its own, so it ends with the process
 * however that ends.
 */
export function takeFolder(config: Config): () => void {
  const lock = new DatabaseSync(join(config.data, 'server.lock'))
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch {
    lock.close()
    throw new ConfigError(
      `PARLEY_DATA names a folder that another server is using: ${config.data}. The embedded database is for one server.`,
    )
  }
  return () => lock.close()
}
