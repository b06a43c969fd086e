import { type Expression, sql } from 'kysely'
import { countMatching } from '../../storage/search.ts'
import { facetTotals, seekPage } from '../../storage/tally.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { eachUserMatches, type UserRow, userMatches, usersByUid, usersList } from '../users/index.ts'
import { bansListOf, membersListOf } from './membership.ts'
import { connectedUsers } from './online.ts'
import { type MemberScope, memberScopes } from './schemas.ts'
import type { Slice } from './selection.ts'
import type { GroupBanRow, GroupMemberRow, GroupRow } from './tables.ts'

/** Pages of who is in a group, or shut out of it: the latest to come first, then by UID. */
export interface PeopleQuery {
  scopes?: readonly MemberScope[]
  status?: string | undefined
  searchKey?: string | undefined
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

export function selectMembers(db: TenantDb, group: GroupRow, query: PeopleQuery, slice: Slice) {
  const roll: Roll = { table: 'group_members', list: membersListOf(group), at: 'joined_at', group }
  return selectPeople<GroupMemberRow>(db, roll, query, slice)
}

export function selectBanned(db: TenantDb, group: GroupRow, query: Pick<PeopleQuery, 'searchKey'>, slice: Slice) {
  const roll: Roll = { table: 'group_bans', list: bansListOf(group), at: 'banned_at', group }
  return selectPeople<GroupBanRow>(db, roll, query, slice)
}

async function selectPeople<Row extends { uid: string; user_id: string }>(
  db: TenantDb,
  roll: Roll,
  { scopes = memberScopes, status, searchKey }: PeopleQuery,
  slice: Slice,
): Promise<People<Row>> {
  const wanted = wantedScopes(scopes)
  if (wanted?.length === 0) return { total: 0, rows: [] }
  const counts = await facetTotals(db, roll.list, [undefined])
  const listed = sum(counts.filter(({ facets }) => !wanted || wanted.includes(facets as MemberScope)))
  if (listed === 0) return { total: 0, rows: [] }
  if (status === undefined && searchKey === undefined) {
    const rows = slice.offset >= listed ? [] : await walk<Row>(db, roll, wanted, slice)
    return { total: listed, rows: await withUsers(db, rows) }
  }
  const sought = { wanted, status: status === 'online' ? 'available' : status, searchKey }
  const total = await countFound(db, roll, sought, listed)
  const rows = slice.offset >= total ? [] : await found<Row>(db, roll, sought, listed, slice)
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
  { limit, offset }: Slice,
): Promise<Row[]> {
  const { until, skip } = await seekPage(db, list, wanted ? { anyOf: wanted } : [], offset)
  const column = (name: string) => sql.ref(`${table}.${name}`)
  const rowsOf = (scope: MemberScope | undefined, taken: ReturnType<typeof sql>) => sql`SELECT * FROM (
    SELECT ${sql.table(table)}.* FROM ${sql.table(table)}
    WHERE ${column('app_id')} = ${db.appId} AND ${column('group_id')} = ${group.id}
    ${scope === undefined ? sql`` : sql`AND ${column('scope')} = ${scope}`}
    ${until === undefined ? sql`` : sql`AND ${column(at)} < ${until}`}
    ORDER BY ${column(at)} DESC, ${column('uid')} ${taken}) AS part`
  if (!wanted) return run<Row>(db, rowsOf(undefined, sql`LIMIT ${limit} OFFSET ${skip}`))
  // Each scope by its own index: a few admins are found without a step over everyone else.
  const parts = wanted.map((scope) => rowsOf(scope, sql`LIMIT ${skip + limit}`))
  return run<Row>(
    db,
    sql`SELECT * FROM (${sql.join(parts, sql` UNION ALL `)}) AS parts
      ORDER BY ${sql.ref(at)} DESC, uid LIMIT ${limit} OFFSET ${skip}`,
  )
}

interface Sought {
  wanted: MemberScope[] | undefined
  status: string | undefined
  searchKey: string | undefined
}

/**
 * From where on: the people on the list who are sought. Either the list is asked about each, or those whom the filters
 * find are looked up in the list, whoever are fewer.
 */
async function peopleSought(db: TenantDb, { table, group }: Roll, sought: Sought, listed: number) {
  const { wanted, status, searchKey } = sought
  const connected = status === 'available' ? await connectedUsers(db) : undefined
  const matching = searchKey === undefined ? Number.POSITIVE_INFINITY : await countMatching(db, usersSearch(searchKey))
  const fewUsers = Math.min(matching, connected?.total ?? Number.POSITIVE_INFINITY) < listed
  const [roll, column] = [sql.table(table), (name: string) => sql.ref(`${table}.${name}`)]
  const search: Expression<unknown>[] =
    searchKey === undefined ? [] : [fewUsers ? userMatches(db, searchKey) : eachUserMatches(db, searchKey)]
  const conditions = [
    sql`${column('app_id')} = ${db.appId} AND ${column('group_id')} = ${group.id} AND users.app_id = ${db.appId}`,
    sql`users.id = ${column('user_id')} AND users.uid = ${column('uid')}`,
    ...(wanted ? [sql`${column('scope')} IN (${sql.join(wanted)})`] : []),
    ...(status === undefined ? [] : [sql`users.status = ${status}`]),
    ...(connected && fewUsers ? [sql`users.facets IN (${sql.join([...connected.facets, ''])})`] : []),
    ...search,
  ]
  // Crossed, so that SQLite begins with the first table named.
  const tables = fewUsers ? sql`users CROSS JOIN ${roll}` : sql`${roll} CROSS JOIN users`
  return sql`FROM ${tables} WHERE ${sql.join(conditions, sql` AND `)}`
}

const usersSearch = (key: string) => ({ list: usersList, words: [key], fields: [0, 1] })

async function countFound(db: TenantDb, roll: Roll, sought: Sought, listed: number): Promise<number> {
  if (sought.status === 'offline' && sought.searchKey === undefined) {
    // Nearly everyone in a large group is: those who are not are counted off.
    return listed - (await countFound(db, roll, { ...sought, status: 'available' }, listed))
  }
  const [row] = await run<{ n: number }>(db, sql`SELECT count(*) AS n ${await peopleSought(db, roll, sought, listed)}`)
  return row?.n ?? 0
}

async function found<Row>(
  db: TenantDb,
  roll: Roll,
  sought: Sought,
  listed: number,
  { limit, offset }: Slice,
): Promise<Row[]> {
  const { table, at } = roll
  return run<Row>(
    db,
    sql`SELECT ${sql.table(table)}.* ${await peopleSought(db, roll, sought, listed)}
      ORDER BY ${sql.ref(`${table}.${at}`)} DESC, ${sql.ref(`${table}.uid`)} LIMIT ${limit} OFFSET ${offset}`,
  )
}

async function run<Row>(db: TenantDb, text: ReturnType<typeof sql>): Promise<Row[]> {
  return (await text.execute(db.connection.query)).rows as Row[]
}
