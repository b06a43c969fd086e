import { randomBytes } from 'node:crypto'
import { metadataText } from '../../common/metadata.ts'
import type { Secrets } from '../../kit/ports.ts'
import type { Work } from '../../kit/work.ts'
import { prepared, preparedRows, type TenantDb } from '../../storage/tenant.ts'
import { lockActiveUser, type UserRow } from '../users/index.ts'
import { authTokenNotAccessible, authTokenNotFound } from './errors.ts'
import { authTokenCreated, authTokenDeleted } from './events.ts'
import type { AuthToken, AuthTokenUpdate } from './schemas.ts'
import type { AuthTokenRow, NewAuthTokenRow } from './tables.ts'

const tokensMax = 100
const randomTokenBytes = 15

const rowByFingerprint = prepared<{ fingerprint: string }, AuthTokenRow>((db, { fingerprint }) =>
  db.select('auth_tokens').selectAll().where('auth_tokens.fingerprint', '=', fingerprint),
)

/** Who a token lets in. */
export interface TokenHolder {
  fingerprint: string
  uid: string
}

const holderByFingerprint = prepared<{ fingerprint: string }, TokenHolder>((db, { fingerprint }) =>
  db
    .select('auth_tokens')
    .innerJoin('users', (join) =>
      join.onRef('users.app_id', '=', 'auth_tokens.app_id').onRef('users.uid', '=', 'auth_tokens.uid'),
    )
    .select(['auth_tokens.fingerprint', 'auth_tokens.uid'])
    .where('auth_tokens.fingerprint', '=', fingerprint)
    .whereRef('users.id', '=', 'auth_tokens.user_id')
    .where('users.deactivated_at', 'is', null),
)

/** The active user whom a token lets in, if it does. */
export async function findTokenHolder(db: TenantDb, fingerprint: string): Promise<TokenHolder | undefined> {
  const [row] = await holderByFingerprint(db, { fingerprint })
  return row
}

/** The user's token; one of another user is refused as such. */
export async function requireToken(
  db: TenantDb,
  secrets: Secrets,
  { id }: UserRow,
  authToken: string,
): Promise<AuthTokenRow> {
  const [row] = await rowByFingerprint(db, { fingerprint: secrets.fingerprint(authToken) })
  if (!row) throw authTokenNotFound()
  if (row.user_id !== id) throw authTokenNotAccessible()
  return row
}

/** A user's tokens, newest first. */
export function tokensOf(db: TenantDb, { id }: Pick<UserRow, 'id'>) {
  return db
    .select('auth_tokens')
    .selectAll()
    .where('auth_tokens.user_id', '=', id)
    .orderBy('auth_tokens.number', 'desc')
}

const newestToken = prepared<{ id: string }, AuthTokenRow>((db, { id }) => tokensOf(db, { id }).limit(1))

/** The user's newest token; a new one if there is none. */
export async function anyToken(work: Work, user: UserRow): Promise<AuthTokenRow> {
  const [known] = await newestToken(work.db, user)
  if (known) return known
  // Of several at once, the first to hold the user's row issues it and the others find it.
  const held = await lockActiveUser(work.db, user.uid)
  const [issued] = await newestToken(work.db, held)
  return issued ?? (await addToken(work, held))
}

/** Issues a token; beyond the most a user may have, the oldest stop working. */
export async function issueToken(work: Work, user: UserRow): Promise<AuthTokenRow> {
  return addToken(work, await lockActiveUser(work.db, user.uid))
}

async function addToken(work: Work, user: UserRow): Promise<AuthTokenRow> {
  const { db, now, tools } = work
  const [newest] = await newestToken(db, user)
  const authToken = `${user.uid}_${String(now).padStart(10, '0')}${randomBytes(randomTokenBytes).toString('hex')}`
  const fingerprint = tools.secrets.fingerprint(authToken)
  const sealed = tools.secrets.seal(authToken)
  const number = (newest?.number ?? 0) + 1
  const [row] = await insertTokens(db, [
    { fingerprint, sealed, uid: user.uid, user_id: user.id, number, created_at: now },
  ])
  if (!row) throw new Error('A token was not written.')
  await work.emit(authTokenCreated, { uid: user.uid, fingerprint: row.fingerprint })
  await dropOldest(work, user)
  return row
}

const insertTokens = preparedRows<NewAuthTokenRow, AuthTokenRow>((db, rows) =>
  db.insert('auth_tokens', rows).returningAll(),
)

const excessTokens = prepared<{ id: string }, { fingerprint: string }>((db, { id }) =>
  tokensOf(db, { id }).clearSelect().select('auth_tokens.fingerprint').offset(tokensMax).limit(tokensMax),
)

async function dropOldest({ db, emit }: Work, user: UserRow): Promise<void> {
  const excess = await excessTokens(db, user)
  for (const { fingerprint } of excess) {
    await db.delete('auth_tokens').where('fingerprint', '=', fingerprint).execute()
    await emit(authTokenDeleted, { uid: user.uid, fingerprint })
  }
}

export async function changeToken(
  db: TenantDb,
  { fingerprint }: AuthTokenRow,
  { platform, userAgent, appInfo }: AuthTokenUpdate,
): Promise<AuthTokenRow> {
  const row = await db
    .update('auth_tokens')
    .set({
      fingerprint,
      ...(platform !== undefined && { platform: platform || null }),
      ...(userAgent !== undefined && { user_agent: userAgent || null }),
      ...(appInfo !== undefined && { app_info: metadataText(appInfo) }),
    })
    .where('fingerprint', '=', fingerprint)
    .returningAll()
    .executeTakeFirst()
  if (!row) throw authTokenNotFound()
  return row
}

export async function removeToken(db: TenantDb, { fingerprint }: AuthTokenRow): Promise<void> {
  const row = await db
    .delete('auth_tokens')
    .where('fingerprint', '=', fingerprint)
    .returning('fingerprint')
    .executeTakeFirst()
  if (!row) throw authTokenNotFound()
}

/** Removes all tokens of one user, named by the row and not by the UID. */
export async function removeTokensOf(db: TenantDb, userId: string): Promise<void> {
  await db.delete('auth_tokens').where('user_id', '=', userId).execute()
}

export function toAuthToken(row: AuthTokenRow, secrets: Secrets): AuthToken {
  return {
    uid: row.uid,
    authToken: secrets.open(row.sealed),
    createdAt: row.created_at,
    ...(row.platform !== null && { platform: row.platform }),
    ...(row.user_agent !== null && { userAgent: row.user_agent }),
    ...(row.app_info !== null && { appInfo: JSON.parse(row.app_info) }),
  }
}

/** What a new user is answered with who is given a token at once. */
export async function firstToken(work: Work, user: UserRow): Promise<string> {
  return toAuthToken(await issueToken(work, user), work.tools.secrets).authToken
}
