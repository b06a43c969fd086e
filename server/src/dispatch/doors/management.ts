import { findManagementKey } from '../../areas/apps/index.ts'
import type { Caller } from '../../kit/operation.ts'
import type { Secrets } from '../../kit/ports.ts'
import { isSameSecret } from '../../plain/same-secret.ts'
import type { Database } from '../../storage/database.ts'
import { apiKeyUnknown, noManagementCredentials } from '../errors.ts'

export interface ManagementPair {
  key: string
  secret: string
}

/** The door of those who run apps: a key and its secret. */
export async function enterAsManagement(
  database: Database,
  secrets: Secrets,
  pair: ManagementPair | undefined,
): Promise<Extract<Caller, { kind: 'management' }>> {
  if (!pair) throw noManagementCredentials()
  const known = await findManagementKey(database.reader.query, pair.key)
  if (!known || !isSameSecret(known.secret_hash, secrets.fingerprint(pair.secret))) throw apiKeyUnknown()
  return { kind: 'management', accountId: known.account_id }
}
