import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { badRequest } from '../../kit/errors.ts'
import { sliceOf } from '../../kit/page.ts'
import { idsMatching, matches } from '../../storage/search.ts'
import { facetTotals, seekPage } from '../../storage/tally.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { uidsBlockedWith, uidsOfFriends } from './gates.ts'
import type { UserListQuery } from './schemas.ts'
import { searchedFields, usersList, usersOf } from './store.ts'
import type { UserRow } from './tables.ts'

/** Who asks for a list, and what their role lets them see. */
export interface Viewer {
  uid: string
  friendsOnly: boolean
  /** Roles that may be seen; all when empty. */
  roles: string[]
}

export interface Selected {
  total: number
  rows: UserRow[]
}

interface Slice {
  limit: number
  offset: number
}

const uidsMax = 25

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

/** What the kept counts know about the users a list asks for. */
interface Wanted {
  /** Combinations of role, status and deactivation that are asked for, and how many users have one of them. */
  facets: string[]
  total: number
  /** The other combinations there are. */
  unwanted: string[]
  /** How many users the app has. */
  all: number
}

async function wantedFacets(db: TenantDb, query: UserListQuery, viewer: Viewer | undefined): Promise<Wanted> {
  const asked = query.status === 'online' ? 'available' : query.status
  const roles = wantedRoles(query, viewer)
  const wants = (facets: string) => {
    const [role = '', status, deactivated] = facets.split('|')
    return (
      (roles === undefined || roles.has(role)) &&
      (asked === undefined || asked === status) &&
      (query.onlyDeactivated ? deactivated === '1' : query.withDeactivated || deactivated === '0')
    )
  }
  const combinations = await facetTotals(db, usersList, [undefined, undefined, undefined])
  const wanted = combinations.filter(({ facets }) => wants(facets))
  return {
    facets: wanted.map(({ facets }) => facets),
    total: sum(wanted),
    unwanted: combinations.filter(({ facets }) => !wants(facets)).map(({ facets }) => facets),
    all: sum(combinations),
  }
}

function sum(counts: { n: number }[]): number {
  return counts.reduce((total, { n }) => total + n, 0)
}

function wantedRoles({ role, roles = [] }: UserListQuery, viewer: Viewer | undefined): Set<string> | undefined {
  const asked = [...roles, ...(role === undefined ? [] : [role])].map((each) => each.toLowerCase())
  const allowed = viewer?.roles ?? []
  if (asked.length === 0 && allowed.length === 0) return undefined
  if (asked.length === 0) return new Set(allowed)
  return new Set(allowed.length === 0 ? asked : asked.filter((each) => allowed.includes(each)))
}

/**
 * The sets of users that a list is about, beyond their facets: each a subquery of one column that names a UID once. The
 * first is where the database begins, so those that are small for sure come first.
 */
function setsOf(db: TenantDb, query: UserListQuery, viewer: Viewer | undefined): Expression<unknown>[] {
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

/** The users that a list of everyone must leave out for this viewer: always himself. */
function hiddenFrom(db: TenantDb, { hideBlockedUsers }: UserListQuery, viewer: Viewer): Promise<UserRow[]> {
  const blocked = hideBlockedUsers ? sql`OR users.uid IN ${uidsBlockedWith.ask(db, viewer.uid)}` : sql``
  return db.select('users').selectAll().where(sql<SqlBool>`(users.uid = ${viewer.uid} ${blocked})`).execute()
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

/** A page of the users in all of some sets, with the wanted facets. */
async function selectFound(
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
  const searchOnly = others.length === 0 && query.searchKey !== undefined && !query.uids && !friendsOnly(query, viewer)
  // Nothing but the search decides: the index alone can count, without a look at any user.
  const counting =
    searchOnly && conditions.length === 0
      ? sql`SELECT count(*) AS total FROM ${smallest} AS hit`
      : sql`${hits} SELECT count(*) AS total ${where}`
  const [{ total }] = await run<[{ total: number }]>(db, counting)
  if (offset >= total || limit === 0) return { total, rows: [] }
  const page = sql`ORDER BY users.created_at DESC, users.uid LIMIT ${limit} OFFSET ${offset}`
  if (searchOnly && walkingIsCheaper(wanted, total, { limit, offset })) {
    const matching = matches(db, usersList, sql.ref('users.uid'), query.searchKey ?? '', searchedFields(query.searchIn))
    const all = sql.join([sql`users.app_id = ${db.appId}`, matching, ...conditions], sql` AND `)
    return { total, rows: await run<UserRow[]>(db, sql`SELECT users.* FROM users WHERE ${all} ${page}`) }
  }
  return { total, rows: await run<UserRow[]>(db, sql`${hits} SELECT users.* ${where} ${page}`) }
}

async function run<Rows extends unknown[]>(db: TenantDb, text: RawBuilder<unknown>): Promise<Rows> {
  return (await text.execute(db.connection.query)).rows as Rows
}

/** Where very many match, the page is full after a few steps in order, while gathering would sort them all. */
function walkingIsCheaper({ all }: Wanted, found: number, { limit, offset }: Slice): boolean {
  return ((limit + offset) * all) / found < found
}
