import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { badRequest } from '../../kit/errors.ts'
import { countMatching, idsMatching, matches } from '../../storage/search.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { uidsBlockedWith, uidsOfFriends } from './gates.ts'
import type { UserListQuery } from './schemas.ts'
import { searchedFields, usersList } from './store.ts'
import type { UserRow } from './tables.ts'
import { hiddenFrom, type Selected, type Slice, type Viewer, type Wanted } from './wanted.ts'

const uidsMax = 25

/**
 * The sets of users that a list is about, beyond their facets: each a subquery of one column that names a UID once. The
 * first is where the database begins, so those that are small for sure come first.
 */
export function setsOf(db: TenantDb, query: UserListQuery, viewer: Viewer | undefined): Expression<unknown>[] {
  const { uids, searchKey, searchIn, tags } = query
  return [
    ...(uids ? [usersNamed(db, uids)] : []),
    ...(viewer && friendsOnly(query, viewer) ? [uidsOfFriends.ask(db, viewer.uid)] : []),
    ...(searchKey === undefined ? [] : [idsMatching(db, usersList, searchKey, searchedFields(searchIn))]),
    ...(tags ? [usersTagged(db, tags)] : []),
  ]
}

function friendsOnly(query: UserListQuery, viewer: Viewer | undefined): boolean {
  return viewer !== undefined && (viewer.friendsOnly || query.friendsOnly === true)
}

function usersNamed(db: TenantDb, uids: string[]) {
  if (uids.length > uidsMax) throw badRequest({ uids: [`must not have more than ${uidsMax} entries`] })
  const named = uids.map((uid) => uid.toLowerCase())
  return db.select('users').select('users.uid').where('users.uid', 'in', named)
}

function usersTagged(db: TenantDb, tags: string[]) {
  return db.select('user_tags').select('user_tags.uid').distinct().where('user_tags.tag', 'in', tags)
}

/** A page of the users in all of some sets, with the wanted facets. */
export async function selectFound(
  db: TenantDb,
  query: UserListQuery,
  viewer: Viewer | undefined,
  wanted: Wanted,
  sets: Expression<unknown>[],
  { limit, offset }: Slice,
): Promise<Selected> {
  const [smallest, ...others] = sets
  const conditions = [
    // Joined to nothing, so that no plan goes by the index on facets: each user is found by UID.
    ...(wanted.total === wanted.all ? [] : [sql`users.facets || '' IN (${sql.join(wanted.facets)})`]),
    ...(viewer ? [sql`users.uid != ${viewer.uid}`] : []),
    ...(viewer && query.hideBlockedUsers ? [sql`users.uid NOT IN ${uidsBlockedWith.ask(db, viewer.uid)}`] : []),
  ]
  const every = [...others.map((set) => sql`users.uid IN ${set}`), ...conditions]
  // Crossed, so that SQLite begins with the smallest set instead of walking all users in order.
  const from = sql`FROM hit CROSS JOIN users WHERE users.app_id = ${db.appId} AND users.uid = hit.uid`
  const where = every.length === 0 ? from : sql`${from} AND ${sql.join(every, sql` AND `)}`
  const hits = sql`WITH hit (uid) AS MATERIALIZED ${smallest}`
  const search = others.length === 0 ? searchOf(query, viewer) : undefined
  const total =
    (search && (await countSearched(db, query, viewer, wanted, search))) ??
    (await countOf(db, sql`${hits} SELECT count(*) AS total ${where}`))
  if (offset >= total || limit === 0) return { total, rows: [] }
  const page = sql`ORDER BY users.created_at DESC, users.uid LIMIT ${limit} OFFSET ${offset}`
  if (search && walkingIsCheaper(wanted, total, { limit, offset })) {
    const all = sql.join([sql`users.app_id = ${db.appId}`, eachMatches(db, search), ...conditions], sql` AND `)
    return { total, rows: await run<UserRow[]>(db, sql`SELECT users.* FROM users WHERE ${all} ${page}`) }
  }
  return { total, rows: await run<UserRow[]>(db, sql`${hits} SELECT users.* ${where} ${page}`) }
}

interface Search {
  key: string
  fields: number[]
}

/** What is searched for, if nothing else but facets decides who is found. */
function searchOf(query: UserListQuery, viewer: Viewer | undefined): Search | undefined {
  const { searchKey, searchIn, uids, tags } = query
  if (searchKey === undefined || uids || tags || friendsOnly(query, viewer)) return undefined
  return { key: searchKey, fields: searchedFields(searchIn) }
}

function eachMatches(db: TenantDb, { key, fields }: Search): Expression<SqlBool> {
  return matches(db, usersList, sql.ref('users.uid'), key, fields)
}

/**
 * How many users a search finds, by the shortest way: all hits, which the index counts without a look at any user, less
 * those that are not wanted; or, where fewer are wanted than not, the wanted ones one by one. Nothing, if neither is short.
 */
async function countSearched(
  db: TenantDb,
  query: UserListQuery,
  viewer: Viewer | undefined,
  wanted: Wanted,
  search: Search,
): Promise<number | undefined> {
  const matchingWith = (facets: string[]) => countUsers(db, search, sql`users.facets IN (${sql.join(facets)})`)
  const hidden = viewer ? await hiddenFrom(db, query, viewer) : []
  const left = hidden.filter(({ facets }) => wanted.facets.includes(facets)).map(({ uid }) => uid)
  const leftOut = left.length === 0 ? 0 : await countUsers(db, search, sql`users.uid IN (${sql.join(left)})`)
  if (wanted.total < fewUsers) return (await matchingWith(wanted.facets)) - leftOut
  const hits = await countMatching(db, usersList, search.key, search.fields)
  const unwanted = wanted.all - wanted.total
  if (unwanted === 0) return hits - leftOut
  if (unwanted <= hits) return hits - (await matchingWith(wanted.unwanted)) - leftOut
  return wanted.total <= hits ? (await matchingWith(wanted.facets)) - leftOut : undefined
}

// Looking at this many users is cheaper than asking the index about all of them.
const fewUsers = 1_000

function countUsers(db: TenantDb, search: Search, condition: RawBuilder<unknown>): Promise<number> {
  return countOf(
    db,
    sql`SELECT count(*) AS total FROM users WHERE users.app_id = ${db.appId} AND ${condition} AND ${eachMatches(db, search)}`,
  )
}

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
