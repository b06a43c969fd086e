import { sql } from 'kysely'
import type { View } from '../../kit/work.ts'
import { askedOfEach, lookUpEach } from '../../storage/plans.ts'
import { eachOf } from '../../storage/sql.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { onlineIn } from '../users/index.ts'
import type { GroupRow } from './tables.ts'

// So many are asked while everybody waits, and so many by one statement.
export const askedSharedMax = 10_000
const askedAtOnce = 1_000

/** How many members are connected. */
export async function onlineMembersCount(view: View, group: GroupRow): Promise<number> {
  let count = 0
  for await (const uids of candidates(view, group)) count += await countMembers(view.db, group, uids)
  return count
}

/** The UIDs of all members who are connected, and maybe of others who are: for one statement, which looks each up. */
export async function uidsOnlineFor(view: View, group: GroupRow): Promise<string[]> {
  const found: string[] = []
  for await (const uids of candidates(view, group)) found.push(...uids)
  if (found.length > askedAtOnce) view.db.leaveSharedReader()
  return found
}

/** Who may be a connected member: the members are asked, or all who are connected, whoever are fewer. */
function candidates(view: View, group: GroupRow): Iterable<string[]> | AsyncIterable<string[]> {
  const { db } = view
  const online = onlineIn(view)
  if (Math.min(online.size, group.members_count) > askedSharedMax) db.leaveSharedReader()
  return online.size < group.members_count ? inPortions([...online]) : membersAmong(db, group, online)
}

function* inPortions(uids: string[]): Generator<string[]> {
  for (let n = 0; n < uids.length; n += askedAtOnce) yield uids.slice(n, n + askedAtOnce)
}

/** The UIDs of members who are in the set. */
async function* membersAmong(
  db: TenantDb,
  { id }: GroupRow,
  set: ReadonlySet<string>,
): AsyncGenerator<string[], undefined> {
  for (let last: string | undefined = ''; last !== undefined; ) {
    const rows: { user_id: string; uid: string }[] = await db
      .select('group_members')
      .select(['group_members.user_id', 'group_members.uid'])
      .where('group_members.group_id', '=', id)
      .where('group_members.user_id', '>', last)
      .orderBy('group_members.user_id')
      .limit(askedAtOnce)
      .execute()
    const uids = rows.map(({ uid }) => uid).filter((uid) => set.has(uid))
    if (uids.length > 0) yield uids
    last = rows.length < askedAtOnce ? undefined : rows.at(-1)?.user_id
  }
}

/** Memberships are found by the user's own id, which no later user of the UID has. */
async function countMembers(db: TenantDb, { id }: GroupRow, uids: string[]): Promise<number> {
  const named = lookUpEach(db, {
    few: eachOf(db, uids),
    name: 'hit',
    columns: ['uid'],
    select: sql`count(*) AS n`,
    table: 'users',
    match: sql`users.uid = hit.uid`,
  })
  const isMember = askedOfEach(sql`FROM group_members WHERE group_members.app_id = ${db.appId}
    AND group_members.group_id = ${id} AND group_members.user_id = users.id`)
  const [row] = await db.sql<{ n: number }>`${named} AND ${isMember}`.execute()
  return row?.n ?? 0
}
