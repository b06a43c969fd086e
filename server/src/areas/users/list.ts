import { sql } from 'kysely'
import { sliceOf } from '../../kit/page.ts'
import { seekPage } from '../../storage/tally.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { selectFound, setsOf } from './found.ts'
import type { UserListQuery } from './schemas.ts'
import { usersList, usersOf } from './store.ts'
import type { UserRow } from './tables.ts'
import { hiddenFrom, type Selected, type Slice, type Viewer, type Wanted, wantedFacets } from './wanted.ts'

/** One page of users and how many there are in all; with a limit of 0, only how many. */
export async function selectUsers(
  db: TenantDb,
  query: UserListQuery,
  viewer: Viewer | undefined,
  slice: Slice = sliceOf(query),
): Promise<Selected> {
  const wanted = await wantedFacets(db, query, viewer)
  const sets = setsOf(db, query, viewer)
  if (wanted.total === 0) return { total: 0, rows: [] }
  if (sets.length > 0) return selectFound(db, query, viewer, wanted, sets, slice)
  return selectListed(db, wanted, viewer ? await hiddenFrom(db, query, viewer) : [], slice)
}

/**
 * A page of everyone with the wanted facets. Totals and the way to a deep page come from kept counts, which know nothing
 * about who is hidden: the page is therefore cut from a stretch that is longer by the hidden ones.
 */
async function selectListed(db: TenantDb, wanted: Wanted, hidden: UserRow[], slice: Slice): Promise<Selected> {
  const left = hidden.filter(({ facets }) => wanted.facets.includes(facets))
  const total = wanted.total - left.length
  if (slice.offset >= total || slice.limit === 0) return { total, rows: [] }
  const stretch = await walk(db, wanted, { offset: slice.offset, limit: slice.limit + left.length })
  const [first] = stretch
  const before = left.filter((row) => first && comesBefore(row, first)).length
  const leftOut = new Set(left.map(({ uid }) => uid))
  const rows = stretch.filter(({ uid }) => !leftOut.has(uid)).slice(before, before + slice.limit)
  return { total, rows }
}

function comesBefore(a: UserRow, b: UserRow): boolean {
  return a.created_at > b.created_at || (a.created_at === b.created_at && a.uid < b.uid)
}

const walkEveryone = prepared<{ until: number; limit: number; skip: number }, UserRow>((db, { until, limit, skip }) =>
  usersOf(db).where('users.created_at', '<', until).limit(sql<number>`${limit}`).offset(sql<number>`${skip}`),
)

const endOfTime = Number.MAX_SAFE_INTEGER

/** The users of a stretch, newest first. Walking by time passes over unwanted ones; few are gathered by their facets. */
async function walk(db: TenantDb, { facets, total, all }: Wanted, { limit, offset }: Slice): Promise<UserRow[]> {
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
function gather(db: TenantDb, facets: string[], { limit, offset }: Slice): Promise<UserRow[]> {
  const newest = facets.map(
    (each) => sql`SELECT * FROM (
      SELECT users.uid FROM users WHERE users.app_id = ${db.appId} AND users.facets = ${each}
      ORDER BY users.created_at DESC, users.uid LIMIT ${offset + limit}) AS newest`,
  )
  return usersOf(db)
    .where('users.uid', 'in', sql<string>`(${sql.join(newest, sql` UNION ALL `)})`)
    .limit(limit)
    .offset(offset)
    .execute()
}
