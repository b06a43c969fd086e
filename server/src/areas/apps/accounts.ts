import { randomBytes } from 'node:crypto'
import type { Secrets } from '../../kit/ports.ts'
import type { Platform } from '../../storage/platform.ts'
import type { AccountRow, ManagementKeyRow } from './tables.ts'

/** The account that every install begins with. */
export const ownerAccountId = 1
const pairBytes = 20

/** The install's owner, to whom its apps belong. */
export async function ensureOwner(platform: Platform, domain: string): Promise<void> {
  await platform
    .insertInto('accounts')
    .values({ id: ownerAccountId, name: 'Install owner', email: `owner@${domain}` })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The account that calls at the management door. */
export function accountOf(caller: { kind: string; accountId?: number }): number {
  return caller.accountId ?? 0
}

export function requireAccount(platform: Platform, id: number): Promise<AccountRow> {
  return platform.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

/** The accounts with these addresses, which are in lower case. */
export async function accountsAt(platform: Platform, emails: string[]): Promise<AccountRow[]> {
  if (emails.length === 0) return []
  return platform.selectFrom('accounts').selectAll().where('email', 'in', emails).execute()
}

/** Makes a management pair for the install's owner. The secret is answered here and never again. */
export async function addManagementKey(
  platform: Platform,
  secrets: Secrets,
  domain: string,
  now: number,
): Promise<{ key: string; secret: string }> {
  await ensureOwner(platform, domain)
  const key = randomBytes(pairBytes).toString('hex')
  const secret = randomBytes(pairBytes).toString('hex')
  await platform
    .insertInto('management_keys')
    .values({ key, account_id: ownerAccountId, secret_hash: secrets.fingerprint(secret), created_at: now })
    .execute()
  return { key, secret }
}

export async function findManagementKey(platform: Platform, key: string): Promise<ManagementKeyRow | undefined> {
  return platform.selectFrom('management_keys').selectAll().where('key', '=', key).executeTakeFirst()
}
