import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { masterKeyBytes } from '../adapters/secrets/master-key.ts'
import { type Config, ConfigError } from '../config.ts'
import { wrongMasterKey } from './identity.ts'

export const masterKeyFile = 'master.key'

/** The key that secrets are encrypted under: configured, or kept in the data folder, or made now. */
export function masterKey(config: Config, isNew: boolean): Buffer {
  if (config.masterKey) return Buffer.from(config.masterKey.reveal(), 'hex')
  const file = join(config.data, masterKeyFile)
  if (existsSync(file)) return readKey(file)
  if (config.databaseUrl) {
    throw new ConfigError(
      'PARLEY_MASTER_KEY is needed with PARLEY_DATABASE_URL: every node must use the same. ' +
        'Make one with "openssl rand -hex 32" and keep it safe.',
    )
  }
  // Data without its key is a key that was lost: a new one could open nothing.
  if (!isNew) throw wrongMasterKey()
  const key = randomBytes(masterKeyBytes)
  writeFileSync(file, `${key.toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true })
  return key
}

function readKey(file: string): Buffer {
  const text = readFileSync(file, 'utf8').trim()
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new ConfigError(`The master key in ${file} is damaged; restore it from a backup.`)
  return Buffer.from(text, 'hex')
}
