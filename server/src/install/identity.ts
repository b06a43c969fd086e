import { ConfigError } from '../config.ts'
import type { Secrets } from '../kit/ports.ts'
import type { Connection } from '../storage/connection.ts'

/** An install is one database under one master key. */

const keySetting = 'master key'

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
