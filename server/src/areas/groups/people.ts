import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { View } from '../../kit/work.ts'
import { foundFirst, joinedInOrder } from '../../storage/plans.ts'
import { countMatching, idsMatching, matches } from '../../storage/search.ts'
import { eachOf } from '../../storage/sql.ts'
import { facetTotals, seekPage } from '../../storage/tally.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { type UserRow, usersByUid, usersList } from '../users/index.ts'
import { bansListOf, membersListOf } from './membership.ts'
import { askedSharedMax, uidsOnlineFor } from './online.ts'
import { type MemberScope, memberScopes } from './schemas.ts'
import type { SliceOfGroups } from './selection.ts'
import type { GroupBanRow, GroupMemberRow, GroupRow } from './tables.ts'

/** Pages of who is in a group, or shut out of it: the latest to come first, then by UID. */
interface PeopleQuery {
  scopes?: readonly MemberScope[]
  connected?: Connected | undefined
  searchKey?: string | undefined
  /** Whom the viewer may see, as a condition on `users`: nobody else is found by what a record tells. */
  visible?: RawBuilder<SqlBool> | undefined
}

/** Those who are connected, maybe with some who are not on the list; and whether it is they who are wanted, or all others. */
interface Connected {
  uids: string[]
  areWanted: boolean
}

interface People<Row> {
  total: number
  rows: { user: UserRow; row: Row }[]
}

/** A list that a group keeps: its table, its name among the tallies, and what it is ordered by. */
interface Roll {
  table: 'group_members' | 'group_bans'
  list: string
  at: 'joined_at' | 'banned_at'
  group: GroupRow
}

export async function selectMembers(
  view: View,
  group: GroupRow,
  { status, ...query }: Omit<PeopleQuery, 'connected'> & { status?: string | undefined },
  slice: SliceOfGroups,
): Promise<People<GroupMemberRow>> {
  const roll: Roll = { table: 'group_members', list: membersListOf(group), at: 'joined_at', group }
  if (status === undefined) return selectPeople(view.db, roll, query, slice)
  // A word that is no status is nobody's.
  if (!['available', 'online', 'offline'].includes(status)) return { total: 0, rows: [] }
  const connected = { uids: await uidsOnlineFor(view, group), areWanted: status !== 'offline' }
  return selectPeople(view.db, roll, { ...query, connected }, slice)
}

export function selectBanned(
  db: TenantDb,
  group: GroupRow,
  query: Pick<PeopleQuery, 'searchKey' | 'visible'>,
  slice: SliceOfGroups,
) {
  const roll: Roll = { table: 'group_bans', list: bansListOf(group), at: 'banned_at', group }
  return selectPeople<GroupBanRow>(db, roll, query, slice)
}

async function selectPeople<Row extends { uid: string; user_id: string }>(
  db: TenantDb,
  roll: Roll,
  { scopes = memberScopes, connected, searchKey, visible }: PeopleQuery,
  slice: SliceOfGroups,
): Promise<People<Row>> {
  const wanted = wantedScopes(scopes)
  if (wanted?.length === 0) return { total: 0, rows: [] }
  const counts = await facetTotals(db, roll.list, [undefined])
  const listed = sum(counts.filter(({ facets }) => !wanted || wanted.includes(facets as MemberScope)))
  if (listed === 0) return { total: 0, rows: [] }
  if (connected === undefined && searchKey === undefined) {
    const rows = slice.offset >= listed ? [] : await walk<Row>(db, roll, wanted, slice)
    return { total: listed, rows: await withUsers(db, rows) }
  }
  if (listed > askedSharedMax) db.leaveSharedReader()
  const sought = await searchOf(db, { roll, wanted, connected, searchKey, visible, listed })
  if (connected?.areWanted === false && searchKey === undefined && !visible) {
    const { total, rows } = await selectOffline<Row>(db, sought, connected, slice)
    return { total, rows: await withUsers(db, rows) }
  }
  const total = await countFound(db, sought)
  const rows = slice.offset >= total ? [] : await found<Row>(db, sought, total, slice)
  return { total, rows: await withUsers(db, rows) }
}

/** Nothing, if all scopes are wanted: then the order of time alone leads. */
function wantedScopes(scopes: readonly MemberScope[]): MemberScope[] | undefined {
  return memberScopes.every((scope) => scopes.includes(scope)) ? undefined : [...scopes]
}

function sum(counts: { n: number }[]): number {
  return counts.reduce((total, { n }) => total + n, 0)
}

/** Whoever is deleted and not yet taken off the list has no record to show. */
async function withUsers<Row extends { uid: string; user_id: string }>(db: TenantDb, rows: Row[]) {
  const users = await usersByUid(
    db,
    rows.map(({ uid }) => uid),
  )
  return rows.flatMap((row) => {
    const user = users.get(row.uid)
    return user?.id === row.user_id ? [{ user, row }] : []
  })
}

/** A stretch of the list, found by the kept counts however deep it lies. */
async function walk<Row>(
  db: TenantDb,
  { table, list, at, group }: Roll,
  wanted: MemberScope[] | undefined,
  { limit, offset }: SliceOfGroups,
): Promise<Row[]> {
  const { until, skip } = await seekPage(db, list, wanted ? { anyOf: wanted } : [], offset)
  const column = (name: string) => sql.ref(`${table}.${name}`)
  const rowsOf = (scope: MemberScope | undefined, taken: ReturnType<typeof sql>) => sql`SELECT * FROM (
    SELECT ${sql.table(table)}.* FROM ${sql.table(table)}
    WHERE ${column('app_id')} = ${db.appId} AND ${column('group_id')} = ${group.id}
    ${scope === undefined ? sql`` : sql`AND ${column('scope')} = ${scope}`}
    ${until === undefined ? sql`` : sql`AND ${column(at)} < ${until}`}
    ORDER BY ${column(at)} DESC, ${column('uid')} ${taken}) AS part`
  if (!wanted) return db.sql<Row>`${rowsOf(undefined, sql`LIMIT ${limit} OFFSET ${skip}`)}`.execute()
  // Each scope by its own index: a few admins are found without a step over everyone else.
  const parts = wanted.map((scope) => rowsOf(scope, sql`LIMIT ${skip + limit}`))
  return db.sql<Row>`SELECT * FROM (${sql.join(parts, sql` UNION ALL `)}) AS parts
    ORDER BY ${sql.ref(at)} DESC, uid LIMIT ${limit} OFFSET ${skip}`.execute()
}

/** Whom a list is asked for, beyond scopes, and what is known about how many there are. */
interface Sought {
  roll: Roll
  wanted: MemberScope[] | undefined
  connected: Connected | undefined
  searchKey: string | undefined
  visible: RawBuilder<SqlBool> | undefined
  /** How many are on the list. */
  listed: number
  /** How many users the filters find, on the list or not. */
  candidates: number
  /** What it costs to ask about one on the list, where looking up a candidate costs one. */
  asking: number
}

const usersSearch = (key: string) => ({ list: usersList, words: [key], fields: [0, 1] })

async function searchOf(db: TenantDb, known: Omit<Sought, 'candidates' | 'asking'>): Promise<Sought> {
  const { connected, searchKey } = known
  const matching = searchKey === undefined ? Number.POSITIVE_INFINITY : await countMatching(db, usersSearch(searchKey))
  const online = connected?.areWanted ? connected.uids.length : Number.POSITIVE_INFINITY
  return { ...known, candidates: Math.min(matching, online), asking: searchKey === undefined ? 1 : 10 }
}

/** From where on: those on the list who are sought, by asking about each in the order of the list. */
function asked(db: TenantDb, { roll: { table, group }, wanted, connected, searchKey, visible }: Sought) {
  const column = (name: string) => sql.ref(`${table}.${name}`)
  const conditions = [
    sql`${column('app_id')} = ${db.appId} AND ${column('group_id')} = ${group.id}`,
    ...(wanted ? [sql`${column('scope')} IN (${sql.join(wanted)})`] : []),
    // Questions, not joins: a join may be planned to begin with all users.
    ...hasStatus(db, connected, column('uid')),
    ...(searchKey === undefined ? [] : [matches(db, usersSearch(searchKey), sql`${column('uid')}`)]),
    ...(visible
      ? [
          sql`EXISTS (SELECT 1 FROM users WHERE users.app_id = ${db.appId}
            AND users.uid = ${column('uid')} AND ${visible})`,
        ]
      : []),
  ]
  return sql`FROM ${sql.table(table)} WHERE ${sql.join(conditions, sql` AND `)}`
}

function hasStatus(db: TenantDb, connected: Connected | undefined, uid: RawBuilder<unknown>): RawBuilder<unknown>[] {
  if (!connected) return []
  const uids = eachOf(db, connected.uids)
  return [connected.areWanted ? sql`${uid} IN ${uids}` : sql`${uid} NOT IN ${uids}`]
}

/** The same, by looking up in the list those whom the filters find; `hits` names these first. */
function gathered(db: TenantDb, { roll: { table, group }, wanted, connected, visible }: Sought) {
  const column = (name: string) => sql.ref(`${table}.${name}`)
  const conditions = [
    sql`users.app_id = ${db.appId} AND users.uid = hit.uid`,
    sql`${column('app_id')} = ${db.appId} AND ${column('group_id')} = ${group.id} AND ${column('user_id')} = users.id`,
    ...(wanted ? [sql`${column('scope')} IN (${sql.join(wanted)})`] : []),
    ...hasStatus(db, connected, column('uid')),
    ...(visible ? [visible] : []),
  ]
  return sql`FROM ${joinedInOrder('hit', 'users', table)} WHERE ${sql.join(conditions, sql` AND `)}`
}

/** Whom the filters find: by the search, or else by being connected. */
function hits(db: TenantDb, { searchKey, connected }: Sought) {
  const uids = searchKey === undefined ? eachOf(db, connected?.uids ?? []) : idsMatching(db, usersSearch(searchKey))
  return foundFirst('hit', ['uid'], uids)
}

async function countFound(db: TenantDb, sought: Sought): Promise<number> {
  const count = sql`SELECT count(*) AS n`
  const question =
    sought.listed * sought.asking < sought.candidates
      ? sql`${count} ${asked(db, sought)}`
      : sql`${hits(db, sought)} ${count} ${gathered(db, sought)}`
  const [row] = await db.sql<{ n: number }>`${question}`.execute()
  return row?.n ?? 0
}

/** A page of those sought. Where many of the list are, asking in its order fills the page after a few steps. */
async function found<Row>(
  db: TenantDb,
  sought: Sought,
  total: number,
  { limit, offset }: SliceOfGroups,
): Promise<Row[]> {
  const { table, at } = sought.roll
  const steps = ((offset + limit) * sought.listed) / total
  const rows = sql`SELECT ${sql.table(table)}.*`
  const question =
    steps * sought.asking < sought.candidates
      ? sql`${rows} ${asked(db, sought)}`
      : sql`${hits(db, sought)} ${rows} ${gathered(db, sought)}`
  return db.sql<Row>`${question} ORDER BY ${sql.ref(`${table}.${at}`)} DESC, ${sql.ref(`${table}.uid`)}
    LIMIT ${limit} OFFSET ${offset}`.execute()
}

// So many connected members are cheaper to leave out of a page than to be asked about one by one.
const leftOutMax = 2_000

/** Nearly everyone in a large group is offline: those who are not are counted off, and left out of a longer stretch. */
async function selectOffline<Row extends { uid: string }>(
  db: TenantDb,
  sought: Sought,
  { uids }: Connected,
  { limit, offset }: SliceOfGroups,
): Promise<{ total: number; rows: Row[] }> {
  const online = await searchOf(db, { ...sought, connected: { uids, areWanted: true } })
  const connected = await countFound(db, online)
  const total = sought.listed - connected
  if (offset >= total) return { total, rows: [] }
  if (connected > leftOutMax) return { total, rows: await found<Row>(db, sought, total, { limit, offset }) }
  const left = connected === 0 ? [] : await found<Row>(db, online, connected, { limit: connected, offset: 0 })
  const stretch = await walk<Row>(db, sought.roll, sought.wanted, { offset, limit: limit + connected })
  const [first] = stretch
  const before = left.filter((row) => first && comesBefore(sought.roll, row, first)).length
  const leftOut = new Set(left.map(({ uid }) => uid))
  return { total, rows: stretch.filter(({ uid }) => !leftOut.has(uid)).slice(before, before + limit) }
}

function comesBefore<Row extends { uid: string }>({ at }: Roll, a: Row, b: Row): boolean {
  const [first, second] = [a, b].map((row) => (row as Record<string, unknown>)[at] as number) as [number, number]
  return first > second || (first === second && a.uid < b.uid)
}
