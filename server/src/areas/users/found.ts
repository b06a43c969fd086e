import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { badRequest } from '../../kit/errors.ts'
import type { View } from '../../kit/work.ts'
import type { Search } from '../../storage/grams.ts'
import { textAsFound } from '../../storage/plans.ts'
import { countMatching, idsMatching, idsOnPage, matches } from '../../storage/search.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { uidsOfFriends } from './gates.ts'
import { countHidden, type Hidden, someHidden } from './hidden.ts'
import type { SelectedUsers } from './list.ts'
import { uidsOnline } from './online.ts'
import type { UserListQuery } from './schemas.ts'
import { sortedNewestFirst, userSearch, usersAmong, usersByUid } from './store.ts'
import type { UserRow } from './tables.ts'
import type { SliceOfUsers, ViewerOfUsers, WantedUsers } from './wanted.ts'

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
  page?(slice: SliceOfUsers, without: string[]): Promise<string[]>
}

/** The sets whose common users are listed. The database begins with the first, so those that are small for sure lead. */
export function setsOf(view: View, query: UserListQuery, viewer: ViewerOfUsers | undefined): UserSet[] {
  const { db } = view
  const { uids, searchKey, searchIn, tags } = query
  const isOnline = query.status === 'available' || query.status === 'online'
  const friendsOnly = viewer && (viewer.friendsOnly || query.friendsOnly)
  return [
    ...(uids ? [usersNamed(uids)] : []),
    ...(isOnline ? [{ uids: uidsOnline(view) }] : []),
    ...(friendsOnly ? [{ uids: uidsOfFriends.ask(db, viewer.uid) }] : []),
    ...(searchKey === undefined ? [] : [usersMatching(db, userSearch(searchKey, searchIn))]),
    ...(tags ? [usersTagged(db, tags)] : []),
  ]
}

function usersNamed(uids: string[]): UserSet {
  if (uids.length > uidsMax) throw badRequest({ uids: [`must not have more than ${uidsMax} entries`] })
  const named = [...new Set(uids.map((uid) => uid.toLowerCase()))].map((uid) => sql`(${uid})`)
  return { uids: sql`(VALUES ${sql.join(named)})` }
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

/** What is asked of the sets. */
interface Asked {
  db: TenantDb
  wanted: WantedUsers
  hidden: Hidden | undefined
  slice: SliceOfUsers
}

/** A page of the users in all of some sets, with the wanted facets. */
export async function selectFound(asked: Asked, sets: UserSet[]): Promise<SelectedUsers> {
  const ordered = await smallestFirst(sets)
  const [only] = ordered
  const { limit, offset } = asked.slice
  const large = ordered.length === 1 ? only?.large : undefined
  const total = Math.max(0, (large && (await countLarge(asked, large))) ?? (await countGathered(asked, ordered)))
  if (offset >= total || limit === 0) return { total, rows: [] }
  const rows = (large && (await shortPage(asked, large, total))) ?? (await gatheredPage(asked, ordered))
  return { total, rows }
}

/** Small sets lead by themselves; of several large ones the smallest is looked for. */
async function smallestFirst(sets: UserSet[]): Promise<UserSet[]> {
  const small = sets.filter(({ large }) => !large)
  const large = sets.filter((set) => set.large)
  if (small.length > 0 || large.length < 2) return [...small, ...large]
  const sized: { set: UserSet; size: number }[] = []
  // Tags, which come last, are counted faster than a search; once one set is small, the others need not be counted.
  for (const set of large.toReversed()) {
    const isSettled = sized.some(({ size }) => size < fewUsers)
    sized.push({ set, size: isSettled ? Number.POSITIVE_INFINITY : ((await set.large?.count()) ?? 0) })
  }
  return sized.toSorted((a, b) => a.size - b.size).map(({ set }) => set)
}

/** From the users of the first set, those who are in the others too and are wanted. */
function gathering({ db, wanted, hidden }: Asked, [first, ...others]: UserSet[], columns?: RawBuilder<unknown>) {
  const conditions = [
    ...others.map(({ uids, large }) => large?.holdsUser ?? sql`users.uid IN ${uids}`),
    ...wantedConditions(wanted, hidden),
  ]
  const users = usersAmong(db, sql`SELECT * FROM ${first?.uids} AS first_set`, columns)
  return conditions.length === 0 ? users : sql`${users} AND ${sql.join(conditions, sql` AND `)}`
}

function wantedConditions(wanted: WantedUsers, hidden: Hidden | undefined) {
  return [
    ...(wanted.total === wanted.all ? [] : [sql`${textAsFound('users.facets')} IN (${sql.join(wanted.facets)})`]),
    ...(hidden ? [hidden.condition] : []),
  ]
}

function countGathered(asked: Asked, sets: UserSet[]): Promise<number> {
  return countOf(asked.db, gathering(asked, sets, sql`count(*) AS total`))
}

function gatheredPage(asked: Asked, sets: UserSet[]): Promise<UserRow[]> {
  const { limit, offset } = asked.slice
  return asked.db.sql<UserRow>`${gathering(asked, sets)}
    ORDER BY ${sortedNewestFirst} LIMIT ${limit} OFFSET ${offset}`.execute()
}

/** A page of a large set by a way that is shorter than gathering it; nothing, if there is none. */
async function shortPage(asked: Asked, large: LargeSet, total: number): Promise<UserRow[] | undefined> {
  const { db, wanted, hidden, slice } = asked
  const expected = Math.min(slice.limit, total - slice.offset)
  if (walkingIsCheaper(wanted, total, slice)) {
    const rows = await walkPage(asked, large, total)
    // The set may lie at the far end of the list; then walking did not get there.
    if (rows.length === expected) return rows
  }
  if (!large.page || wanted.all - wanted.total > leftOutMax) return undefined
  const some = await someHidden(db, hidden, leftOutMax + 1)
  if (some.length > leftOutMax) return undefined
  const without = [...(await uidsWith(db, wanted.unwanted)), ...some.map(({ uid }) => uid)]
  return usersInOrder(db, await large.page(slice, without))
}

// Naming this many users in a query is cheaper than looking up everyone who was found.
const leftOutMax = 500

/** Where very many match, the page is full after a few steps in order, while gathering would sort them all. */
function walkingIsCheaper({ all }: WantedUsers, found: number, { limit, offset }: SliceOfUsers): boolean {
  return ((limit + offset) * all) / found < found
}

// How much further than expected to walk before giving up.
const patience = 4

function walkPage({ db, wanted, hidden, slice }: Asked, { holdsUser }: LargeSet, found: number): Promise<UserRow[]> {
  const { limit, offset } = slice
  const steps = Math.ceil((patience * (limit + offset) * wanted.all) / found) + limit
  const stretch = sql`(SELECT * FROM users WHERE users.app_id = ${db.appId}
    ORDER BY users.created_at DESC, users.uid LIMIT ${steps}) AS users`
  const conditions = [sql`users.app_id = ${db.appId}`, holdsUser, ...wantedConditions(wanted, hidden)]
  return db.sql<UserRow>`SELECT users.* FROM ${stretch} WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY users.created_at DESC, users.uid LIMIT ${limit} OFFSET ${offset}`.execute()
}

/** One combination at a time, so that the index on facets is what offers itself. */
async function uidsWith(db: TenantDb, facets: string[]): Promise<string[]> {
  if (facets.length === 0) return []
  const parts = facets.map(
    (each) => sql`SELECT users.uid FROM users WHERE users.app_id = ${db.appId} AND users.facets = ${each}`,
  )
  const rows = await db.sql<{ uid: string }>`${sql.join(parts, sql` UNION ALL `)}`.execute()
  return rows.map(({ uid }) => uid)
}

/** Without an order of its own: with one, SQLite would rather walk all users in it. */
async function usersInOrder(db: TenantDb, uids: string[]): Promise<UserRow[]> {
  const users = await usersByUid(db, uids)
  return uids.flatMap((uid) => users.get(uid) ?? [])
}

/**
 * How many users of a large set are wanted, by the shortest way: all of the set, which an index counts without a look at
 * any user, less those that are not wanted; or, where fewer are wanted than not, the wanted ones one by one. Nothing, if
 * neither is short.
 */
async function countLarge({ db, wanted, hidden }: Asked, { count, holdsUser }: LargeSet): Promise<number | undefined> {
  const countWith = (facets: string[]) =>
    countOf(
      db,
      sql`SELECT count(*) AS total FROM users
        WHERE users.app_id = ${db.appId} AND users.facets IN (${sql.join(facets)}) AND ${holdsUser}`,
    )
  const leftOut = await countHidden(db, hidden, wanted, holdsUser)
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
  const [row] = await db.sql<{ total: number }>`${text}`.execute()
  return row?.total ?? 0
}
