import { sql } from 'kysely'
import { foundFirst, lookUpEach } from '../../storage/plans.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { onlineIn, uidsOnline } from '../users/index.ts'
import type { GroupRow } from './tables.ts'

// So many are asked while everybody waits.
export const askedSharedMax = 10_000

/** How many members are connected: the members are asked, or all who are connected, whoever are fewer. */
export async function onlineMembersCount(db: TenantDb, { id, members_count }: GroupRow): Promise<number> {
  const { size } = onlineIn(db)
  if (size === 0 || members_count === 0) return 0
  if (Math.min(size, members_count) > askedSharedMax) db.leaveSharedReader()
  const ofGroup = sql`group_members.group_id = ${id}`
  const few = { few: uidsOnline(db), name: 'hit', columns: ['uid'] } as const
  const select = sql`count(*) AS n`
  const counting =
    size < members_count
      ? lookUpEach(db, {
          ...few,
          select,
          table: 'group_members',
          match: sql`${ofGroup} AND group_members.uid = hit.uid`,
        })
      : sql`${foundFirst(few.name, few.columns, few.few)} SELECT ${select} FROM group_members
          WHERE group_members.app_id = ${db.appId} AND ${ofGroup} AND group_members.uid IN (SELECT uid FROM hit)`
  const [row] = await db.sql<{ n: number }>`${counting}`.execute()
  return row?.n ?? 0
}
