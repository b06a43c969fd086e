import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Filters } from '../../common/page.ts'
import { alreadyTaken, quotaReached } from '../../common/refusals.ts'

import type { KeyScope } from '../../kit/operation.ts'
import type { Secrets } from '../../kit/ports.ts'
import type { Work } from '../../kit/work.ts'
import { contains, oneAtATime } from '../../storage/sql.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { apiKeyNotFound } from './errors.ts'
import { apiKeyCreated, apiKeyDeleted, apiKeyUpdated } from './events.ts'
import type { ApiKey, ApiKeyListQuery } from './schemas.ts'
import type { ApiKeyRow } from './tables.ts'

const keysMax = 25
const keyBytes = 20

/** How many keys of an app there may be, and that their names differ, holds only if one transaction looks at a time. */
const lockName = 'api-keys'

const rowByFingerprint = prepared<{ fingerprint: string }, ApiKeyRow>((db, { fingerprint }) =>
  db.select('api_keys').selectAll().where('api_keys.fingerprint', '=', fingerprint),
)

export async function findKey(db: TenantDb, fingerprint: string): Promise<ApiKeyRow | undefined> {
  const [row] = await rowByFingerprint(db, { fingerprint })
  return row
}

export async function requireKey(db: TenantDb, secrets: Secrets, apiKey: string): Promise<ApiKeyRow> {
  const row = await findKey(db, secrets.fingerprint(apiKey))
  if (!row) throw apiKeyNotFound()
  return row
}

/** The app's keys, newest first. */
export function keysOf(db: TenantDb) {
  return db.select('api_keys').selectAll().orderBy('api_keys.created_at', 'desc').orderBy('api_keys.fingerprint')
}

export const keyFilters: Filters<ApiKeyListQuery, ReturnType<typeof keysOf>> = {
  scope: (rows, scope) => rows.where('api_keys.scope', '=', scope),
  searchKey: (rows, part) => rows.where(contains('api_keys.name', part)),
}

export async function addKey(
  { db, now, tools, emit }: Work,
  { name, scope, createdBy }: { name: string; scope: KeyScope; createdBy: string },
): Promise<ApiKeyRow> {
  await oneAtATime(db, lockName)
  const existing = await db.select('api_keys').select(['api_keys.name']).execute()
  refuseTakenName(existing, name)
  if (existing.length >= keysMax) throw quotaReached({ limit: `${keysMax} API keys per app` })
  const apiKey = randomBytes(keyBytes).toString('hex')
  const row = await db
    .insert('api_keys', {
      fingerprint: tools.secrets.fingerprint(apiKey),
      sealed: tools.secrets.seal(apiKey),
      name,
      scope,
      created_by: createdBy,
      created_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await emit(apiKeyCreated, { name, scope })
  return row
}

const namesOfOthers = prepared<{ fingerprint: string }, { name: string }>((db, { fingerprint }) =>
  db.select('api_keys').select('api_keys.name').where('api_keys.fingerprint', '!=', fingerprint),
)

interface KeyChanges {
  fingerprint: string
  name: string | null
  scope: KeyScope | null
  now: number
}

const changedKey = prepared<KeyChanges, ApiKeyRow>((db, { fingerprint, name, scope, now }) =>
  db
    .update('api_keys')
    .set({ name: sql`coalesce(${name}, name)`, scope: sql`coalesce(${scope}, scope)`, updated_at: now })
    .where('fingerprint', '=', fingerprint)
    .returningAll(),
)

export async function changeKey(
  { db, now, emit }: Work,
  key: ApiKeyRow,
  { name, scope }: { name?: string; scope?: KeyScope },
): Promise<ApiKeyRow> {
  const { fingerprint } = key
  await oneAtATime(db, lockName)
  refuseTakenName(await namesOfOthers(db, { fingerprint }), name)
  const [row] = await changedKey(db, { fingerprint, name: name ?? null, scope: scope ?? null, now })
  if (!row) throw apiKeyNotFound()
  await emit(apiKeyUpdated, { name: row.name, scope: row.scope })
  return row
}

export async function removeKey({ db, emit }: Work, key: ApiKeyRow): Promise<void> {
  const row = await db
    .delete('api_keys')
    .where('fingerprint', '=', key.fingerprint)
    .returning('fingerprint')
    .executeTakeFirst()
  if (!row) throw apiKeyNotFound()
  await emit(apiKeyDeleted, { name: key.name, scope: key.scope })
}

function refuseTakenName(others: { name: string }[], name: string | undefined): void {
  if (others.some((other) => other.name === name)) throw alreadyTaken('name', `A key with the name ${name}`)
}

export function toApiKey(row: ApiKeyRow, secrets: Secrets): ApiKey {
  return withValue(row, secrets.open(row.sealed))
}

/** For whoever knows the value already, as everybody does who asked for the key by it. */
export function withValue(row: ApiKeyRow, apiKey: string): ApiKey {
  return {
    apiKey,
    name: row.name,
    scope: row.scope,
    createdAt: row.created_at,
    ...(row.updated_at !== null && { updatedAt: row.updated_at }),
  }
}
