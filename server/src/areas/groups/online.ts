import { sql } from 'kysely'
import { joinedInOrder } from '../../storage/plans.ts'
import { facetTotals } from '../../storage/tally.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { usersList } from '../users/index.ts'
import type { GroupRow } from './tables.ts'

/** The combinations of facets that connected users have, and how many such users there are. */
export async function connectedUsers(db: TenantDb): Promise<{ facets: string[]; total: number }> {
  const combinations = await facetTotals(db, usersList, [undefined, 'available', undefined])
  return {
    facets: combinations.map(({ facets }) => facets),
    total: combinations.reduce((sum, { n }) => sum + n, 0),
  }
}

// So many are asked while everybody waits.
export const askedSharedMax = 10_000

/** How many members are connected: the members are asked, or all who are connected, whoever are fewer. */
export async function onlineMembersCount(db: TenantDb, { id, members_count }: GroupRow): Promise<number> {
  const { facets, total } = await connectedUsers(db)
  if (total === 0 || members_count === 0) return 0
  if (Math.min(total, members_count) > askedSharedMax) db.leaveSharedReader()
  const connected = sql`group_members.group_id = ${id} AND users.facets IN (${sql.join(facets)})`
  const pair =
    total < members_count
      ? sql`${joinedInOrder('users', 'group_members')} WHERE group_members.user_id = users.id`
      : sql`${joinedInOrder('group_members', 'users')}
          WHERE users.uid = group_members.uid AND users.id = group_members.user_id`
  const [row] = await db.sql<{ n: number }>`SELECT count(*) AS n FROM ${pair}
    AND users.app_id = ${db.appId} AND group_members.app_id = ${db.appId} AND ${connected}`.execute()
  return row?.n ?? 0
}
