import { sql } from 'kysely'
import { sliceOf } from '../../common/page.ts'
import type { View } from '../../kit/work.ts'
import { seekPage } from '../../storage/tally.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { selectFound, setsOf } from './found.ts'
import { countHidden, type Hidden, hiddenFrom, someHidden } from './hidden.ts'
import { onlineIn } from './online.ts'
import type { UserListQuery } from './schemas.ts'
import { sortedNewestFirst, usersAmong, usersList, usersOf } from './store.ts'
import type { UserRow } from './tables.ts'
import { type SliceOfUsers, type ViewerOfUsers, type WantedUsers, wantedFacets } from './wanted.ts'

export interface SelectedUsers {
  total: number
  rows: UserRow[]
}

/** One page of users and how many there are in all; with a limit of 0, only how many. */
export async function selectUsers(
  view: View,
  query: UserListQuery,
  viewer: ViewerOfUsers | undefined,
  slice: SliceOfUsers = sliceOf(query),
): Promise<SelectedUsers> {
  const { db } = view
  // Users of a tag are counted one by one, and so are those who are blocked.
  if (query.tags || query.hideBlockedUsers) db.leaveSharedReader()
  if (nobodyHas(view, query.status)) return { total: 0, rows: [] }
  const wanted = await wantedFacets(db, query, viewer)
  const sets = setsOf(view, query, viewer)
  if (wanted.total === 0) return { total: 0, rows: [] }
  const hidden = hiddenFrom(view, query, viewer)
  return sets.length > 0 ? selectFound({ db, wanted, hidden, slice }, sets) : selectListed(db, wanted, hidden, slice)
}

/** A status that no user has now; one that is no status is nobody's at any time. */
function nobodyHas(view: View, status: string | undefined): boolean {
  if (status === 'available' || status === 'online') return onlineIn(view).size === 0
  return status !== undefined && status !== 'offline'
}

// So many hidden users are taken out of a page one by one; more are left to the database.
const takenOutMax = 500

/** A page of everyone with the wanted facets. Totals and the way to a deep page come from kept counts. */
async function selectListed(
  db: TenantDb,
  wanted: WantedUsers,
  hidden: Hidden | undefined,
  slice: SliceOfUsers,
): Promise<SelectedUsers> {
  const some = await someHidden(db, hidden, takenOutMax + 1)
  const isFew = some.length <= takenOutMax
  const left = isFew ? some.filter(({ facets }) => wanted.facets.includes(facets)).length : undefined
  const total = Math.max(0, wanted.total - (left ?? (await countHidden(db, hidden, wanted))))
  if (slice.offset >= total || slice.limit === 0) return { total, rows: [] }
  const rows =
    hidden && !isFew ? await walkAround(db, wanted, hidden, slice) : await walkAndTakeOut(db, wanted, some, slice)
  return { total, rows }
}

/** The counts know nothing about who is hidden: the page is cut from a stretch that is longer by the hidden ones. */
async function walkAndTakeOut(
  db: TenantDb,
  wanted: WantedUsers,
  hidden: UserRow[],
  slice: SliceOfUsers,
): Promise<UserRow[]> {
  const left = hidden.filter(({ facets }) => wanted.facets.includes(facets))
  const stretch = await walk(db, wanted, { offset: slice.offset, limit: slice.limit + left.length })
  const [first] = stretch
  const before = left.filter((row) => first && comesBefore(row, first)).length
  const leftOut = new Set(left.map(({ uid }) => uid))
  return stretch.filter(({ uid }) => !leftOut.has(uid)).slice(before, before + slice.limit)
}

function walkAround(
  db: TenantDb,
  { facets }: WantedUsers,
  { condition }: Hidden,
  slice: SliceOfUsers,
): Promise<UserRow[]> {
  return usersOf(db)
    .where('users.facets', 'in', facets)
    .where(condition)
    .limit(slice.limit)
    .offset(slice.offset)
    .execute()
}

function comesBefore(a: UserRow, b: UserRow): boolean {
  return a.created_at > b.created_at || (a.created_at === b.created_at && a.uid < b.uid)
}

const walkEveryone = prepared<{ until: number; limit: number; skip: number }, UserRow>((db, { until, limit, skip }) =>
  usersOf(db).where('users.created_at', '<', until).limit(sql<number>`${limit}`).offset(sql<number>`${skip}`),
)

const endOfTime = Number.MAX_SAFE_INTEGER

/** The users of a stretch, newest first. Walking by time passes over unwanted ones; few are gathered by their facets. */
async function walk(
  db: TenantDb,
  { facets, total, all }: WantedUsers,
  { limit, offset }: SliceOfUsers,
): Promise<UserRow[]> {
  if (total === all) {
    const { until = endOfTime, skip } = await seekPage(db, usersList, [], offset)
    return walkEveryone(db, { until, limit, skip })
  }
  if ((offset + limit) * facets.length * 2 < (limit * all) / total) return gather(db, facets, { limit, offset })
  const { until = endOfTime, skip } = await seekPage(db, usersList, { anyOf: facets }, offset)
  return usersOf(db)
    .where('users.created_at', '<', until)
    .where('users.facets', 'in', facets)
    .limit(limit)
    .offset(skip)
    .execute()
}

/** A stretch from the newest users of each wanted combination of facets. */
async function gather(db: TenantDb, facets: string[], { limit, offset }: SliceOfUsers): Promise<UserRow[]> {
  const newest = facets.map(
    (each) => sql`SELECT * FROM (
      SELECT users.uid FROM users WHERE users.app_id = ${db.appId} AND users.facets = ${each}
      ORDER BY users.created_at DESC, users.uid LIMIT ${offset + limit}) AS newest`,
  )
  const rows = await db.sql<UserRow>`${usersAmong(db, sql.join(newest, sql` UNION ALL `))}
    ORDER BY ${sortedNewestFirst} LIMIT ${limit} OFFSET ${offset}`.execute()
  return rows
}
