import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { View } from '../../kit/work.ts'
import { textAsFound } from '../../storage/plans.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { uidsBlockedWith } from './gates.ts'
import { onlineIn, uidsOnline } from './online.ts'
import type { UserListQuery } from './schemas.ts'
import { usersAmong } from './store.ts'
import type { UserRow } from './tables.ts'
import type { ViewerOfUsers, WantedUsers } from './wanted.ts'

/**
 * Whom a list must leave out: the viewer themself, those with a block between them if it is asked for, and who is connected
 * if those are listed who are not.
 */
export interface Hidden {
  uids: RawBuilder<unknown>
  /** Leaves them out of a query on `users`. */
  condition: RawBuilder<SqlBool>
}

export function hiddenFrom(
  view: View,
  { hideBlockedUsers, status }: UserListQuery,
  viewer: ViewerOfUsers | undefined,
): Hidden | undefined {
  const isOffline = status === 'offline' && onlineIn(view).size > 0
  const subqueries = [
    ...(viewer && hideBlockedUsers ? [uidsBlockedWith.ask(view.db, viewer.uid)] : []),
    ...(isOffline ? [uidsOnline(view)] : []),
  ]
  const self = viewer ? [sql`SELECT ${viewer.uid} AS uid`] : []
  const named = [...self, ...subqueries.map((each) => sql`SELECT * FROM ${each} AS hidden`)]
  if (named.length === 0) return undefined
  const conditions = [
    ...(viewer ? [sql`users.uid != ${viewer.uid}`] : []),
    ...subqueries.map((each) => sql`users.uid NOT IN ${each}`),
  ]
  return { uids: sql.join(named, sql` UNION `), condition: sql<SqlBool>`${sql.join(conditions, sql` AND `)}` }
}

/** How many of the hidden would have been wanted; with a condition, how many of those that meet it. */
export async function countHidden(
  db: TenantDb,
  hidden: Hidden | undefined,
  { facets }: WantedUsers,
  condition?: Expression<SqlBool>,
): Promise<number> {
  if (!hidden) return 0
  const [row] = await db.sql<{ n: number }>`${usersAmong(db, hidden.uids, sql`count(*) AS n`)}
    AND ${textAsFound('users.facets')} IN (${sql.join(facets)}) ${condition ? sql`AND ${condition}` : sql``}`.execute()
  return row?.n ?? 0
}

/** The first few of the hidden; whoever wants all of them must go another way. */
export async function someHidden(db: TenantDb, hidden: Hidden | undefined, limit: number): Promise<UserRow[]> {
  if (!hidden) return []
  const rows = await db.sql<UserRow>`${usersAmong(db, hidden.uids)} LIMIT ${limit}`.execute()
  return rows
}
