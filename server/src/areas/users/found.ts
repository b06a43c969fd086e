import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { badRequest } from '../../kit/errors.ts'
import { countMatching, idsMatching, idsOnPage, matches, type Search } from '../../storage/search.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { uidsBlockedWith, uidsOfFriends } from './gates.ts'
import type { UserListQuery } from './schemas.ts'
import { userSearch, usersOf } from './store.ts'
import type { UserRow } from './tables.ts'
import { hiddenFrom, type Selected, type Slice, type Viewer, type Wanted } from './wanted.ts'

const uidsMax = 25

/** Users that a list is about, beyond their facets. */
interface UserSet {
  /** A subquery of one column that names each UID once. */
  uids: Expression<unknown>
  /** For sets that may be very large: ways to count it and to ask each user, which may be shorter than to gather it. */
  large?: LargeSet
}

interface LargeSet {
  count(): Promise<number>
  /** Whether the user at hand belongs to it. */
  holdsUser: Expression<SqlBool>
  /** A page of it in the order of the list, but for some users; for sets that know the order by themselves. */
  page?(slice: Slice, without: string[]): Promise<string[]>
}

/** The sets whose common users are listed. The database begins with the first, so those that are small for sure lead. */
export function setsOf(db: TenantDb, query: UserListQuery, viewer: Viewer | undefined): UserSet[] {
  const { uids, searchKey, searchIn, tags } = query
  const friendsOnly = viewer && (viewer.friendsOnly || query.friendsOnly)
  return [
    ...(uids ? [usersNamed(db, uids)] : []),
    ...(friendsOnly ? [{ uids: uidsOfFriends.ask(db, viewer.uid) }] : []),
    ...(searchKey === undefined ? [] : [usersMatching(db, userSearch(searchKey, searchIn))]),
    ...(tags ? [usersTagged(db, tags)] : []),
  ]
}

function usersNamed(db: TenantDb, uids: string[]): UserSet {
  if (uids.length > uidsMax) throw badRequest({ uids: [`must not have more than ${uidsMax} entries`] })
  const named = uids.map((uid) => uid.toLowerCase())
  return { uids: db.select('users').select('users.uid').where('users.uid', 'in', named) }
}

function usersMatching(db: TenantDb, search: Search): UserSet {
  return {
    uids: idsMatching(db, search),
    large: {
      count: () => countMatching(db, search),
      holdsUser: matches(db, search, sql.ref('users.uid')),
      page: (slice, without) => idsOnPage(db, search, { ...slice, without }),
    },
  }
}

function usersTagged(db: TenantDb, tags: string[]): UserSet {
  const tagged = db.select('user_tags').where('user_tags.tag', 'in', tags)
  const one = tagged.whereRef('user_tags.uid', '=', sql.ref('users.uid')).select(sql.lit(1).as('one')).limit(1)
  const uids = tagged.select('user_tags.uid').$if(tags.length > 1, (some) => some.distinct())
  return {
    uids,
    large: {
      count: () => countOf(db, sql`SELECT count(*) AS total FROM ${uids} AS tagged`),
      holdsUser: sql<SqlBool>`1 = ${one}`,
    },
  }
}

/** A page of the users in all of some sets, with the wanted facets. */
export async function selectFound(
  db: TenantDb,
  query: UserListQuery,
  viewer: Viewer | undefined,
  wanted: Wanted,
  sets: UserSet[],
  { limit, offset }: Slice,
): Promise<Selected> {
  const [first, ...others] = sets
  const conditions = [
    // Joined to nothing, so that no plan goes by the index on facets: each user is found by UID.
    ...(wanted.total === wanted.all ? [] : [sql`users.facets || '' IN (${sql.join(wanted.facets)})`]),
    ...(viewer ? [sql`users.uid != ${viewer.uid}`] : []),
    ...(viewer && query.hideBlockedUsers ? [sql`users.uid NOT IN ${uidsBlockedWith.ask(db, viewer.uid)}`] : []),
  ]
  const every = [...others.map(({ uids }) => sql`users.uid IN ${uids}`), ...conditions]
  // Crossed, so that SQLite begins with the first set instead of walking all users in order.
  const from = sql`FROM hit CROSS JOIN users WHERE users.app_id = ${db.appId} AND users.uid = hit.uid`
  const where = every.length === 0 ? from : sql`${from} AND ${sql.join(every, sql` AND `)}`
  const hits = sql`WITH hit (uid) AS MATERIALIZED ${first?.uids}`
  const large = others.length === 0 ? first?.large : undefined
  const hidden = large && viewer ? await hiddenFrom(db, query, viewer) : []
  const total =
    (large && (await countLarge(db, large, wanted, hidden))) ??
    (await countOf(db, sql`${hits} SELECT count(*) AS total ${where}`))
  if (offset >= total || limit === 0) return { total, rows: [] }
  const page = sql`ORDER BY users.created_at DESC, users.uid LIMIT ${limit} OFFSET ${offset}`
  if (large && walkingIsCheaper(wanted, total, { limit, offset })) {
    const all = sql.join([sql`users.app_id = ${db.appId}`, large.holdsUser, ...conditions], sql` AND `)
    return { total, rows: await run<UserRow[]>(db, sql`SELECT users.* FROM users WHERE ${all} ${page}`) }
  }
  if (large?.page && wanted.all - wanted.total + hidden.length <= leftOutMax) {
    const without = [...(await uidsWith(db, wanted.unwanted)), ...hidden.map(({ uid }) => uid)]
    return { total, rows: await usersInOrder(db, await large.page({ limit, offset }, without)) }
  }
  return { total, rows: await run<UserRow[]>(db, sql`${hits} SELECT users.* ${where} ${page}`) }
}

// Naming this many users in a query is cheaper than looking up everyone who was found.
const leftOutMax = 500

async function uidsWith(db: TenantDb, facets: string[]): Promise<string[]> {
  if (facets.length === 0) return []
  const rows = await db.select('users').select('users.uid').where('users.facets', 'in', facets).execute()
  return rows.map(({ uid }) => uid)
}

function usersInOrder(db: TenantDb, uids: string[]): Promise<UserRow[]> {
  return uids.length === 0 ? Promise.resolve([]) : usersOf(db).where('users.uid', 'in', uids).execute()
}

/**
 * How many users of a large set are wanted, by the shortest way: all of the set, which an index counts without a look at
 * any user, less those that are not wanted; or, where fewer are wanted than not, the wanted ones one by one. Nothing, if
 * neither is short.
 */
async function countLarge(
  db: TenantDb,
  { count, holdsUser }: LargeSet,
  wanted: Wanted,
  hidden: UserRow[],
): Promise<number | undefined> {
  const countWhere = (condition: RawBuilder<unknown>) =>
    countOf(
      db,
      sql`SELECT count(*) AS total FROM users WHERE users.app_id = ${db.appId} AND ${condition} AND ${holdsUser}`,
    )
  const countWith = (facets: string[]) => countWhere(sql`users.facets IN (${sql.join(facets)})`)
  const left = hidden.filter(({ facets }) => wanted.facets.includes(facets)).map(({ uid }) => uid)
  const leftOut = left.length === 0 ? 0 : await countWhere(sql`users.uid IN (${sql.join(left)})`)
  if (wanted.total < fewUsers) return (await countWith(wanted.facets)) - leftOut
  const all = await count()
  const unwanted = wanted.all - wanted.total
  if (unwanted === 0) return all - leftOut
  if (unwanted <= all) return all - (await countWith(wanted.unwanted)) - leftOut
  return wanted.total <= all ? (await countWith(wanted.facets)) - leftOut : undefined
}

// Looking at this many users is cheaper than asking the index about all of them.
const fewUsers = 1_000

async function countOf(db: TenantDb, text: RawBuilder<unknown>): Promise<number> {
  const [row] = await run<{ total: number }[]>(db, text)
  return row?.total ?? 0
}

async function run<Rows extends unknown[]>(db: TenantDb, text: RawBuilder<unknown>): Promise<Rows> {
  return (await text.execute(db.connection.query)).rows as Rows
}

/** Where very many match, the page is full after a few steps in order, while gathering would sort them all. */
function walkingIsCheaper({ all }: Wanted, found: number, { limit, offset }: Slice): boolean {
  return ((limit + offset) * all) / found < found
}
