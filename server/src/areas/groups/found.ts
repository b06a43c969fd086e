import { type Expression, type SqlBool, sql } from 'kysely'
import type { Search } from '../../storage/grams.ts'
import { countMatching, idsMatching, idsOnPage, matches } from '../../storage/search.ts'
import { facetTotals } from '../../storage/tally.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { groupIdsOf } from './membership.ts'
import { type GroupListQuery, type GroupType, groupTypes } from './schemas.ts'
import { groupsInOrder, type SelectedGroups, type SliceOfGroups, type ViewerOfGroups } from './selection.ts'
import { groupsList } from './tables.ts'

type Condition = Expression<SqlBool>

const is = (condition: ReturnType<typeof sql>) => condition as unknown as Condition

/** What a group must fulfil for each filter that was sent. */
function filtersOf(db: TenantDb, query: GroupListQuery, viewer: ViewerOfGroups | undefined): Condition[] {
  const { guid, guids, tags, hasJoined, updatedAt, affix } = query
  const named = [guids, guid === undefined ? undefined : [guid]].filter((each) => each !== undefined)
  const changed = sql`groups.updated_at IS NOT NULL AND groups.updated_at != groups.created_at`
  const compared: [keyof GroupListQuery, (value: unknown) => ReturnType<typeof sql>][] = [
    ['createdAt[from]', (at) => sql`groups.created_at >= ${at}`],
    ['createdAt[to]', (at) => sql`groups.created_at <= ${at}`],
    ['updatedAt[from]', (at) => sql`groups.updated_at >= ${at} AND groups.changed_at >= ${at} AND ${changed}`],
    ['updatedAt[to]', (at) => sql`groups.updated_at <= ${at} AND groups.changed_at <= ${at} AND ${changed}`],
    ['membersCount[gt]', (n) => sql`groups.members_count > ${n}`],
    ['membersCount[gte]', (n) => sql`groups.members_count >= ${n}`],
    ['membersCount[lt]', (n) => sql`groups.members_count < ${n}`],
    ['membersCount[lte]', (n) => sql`groups.members_count <= ${n}`],
    ['membersCount[eq]', (n) => sql`groups.members_count = ${n}`],
  ]
  return [
    ...named.map((each) => is(sql`groups.guid IN (${sql.join(each.map((one) => one.toLowerCase()))})`)),
    ...(hasJoined && viewer ? [is(sql`groups.id IN ${groupIdsOf(db, viewer.uid)}`)] : []),
    ...(tags ? [is(sql`groups.guid IN ${guidsTagged(db, tags)}`)] : []),
    ...(updatedAt === undefined
      ? []
      : [is(affix === 'prepend' ? sql`groups.changed_at < ${updatedAt}` : sql`groups.changed_at > ${updatedAt}`)]),
    ...compared.flatMap(([name, condition]) => (query[name] === undefined ? [] : [is(condition(query[name]))])),
  ]
}

function guidsTagged(db: TenantDb, tags: string[]) {
  return db.select('group_tags').select('group_tags.guid').where('group_tags.tag', 'in', tags)
}

/** The order that is asked for, as columns; nothing for the usual one, newest first. */
function orderOf({ sortBy, sortOrder, updatedAt, affix }: GroupListQuery) {
  if (updatedAt !== undefined) return affix === 'prepend' ? sql`groups.changed_at DESC` : sql`groups.changed_at`
  const descending = sortOrder === undefined ? sortBy === undefined : sortOrder === 'desc'
  if (descending && (sortBy === undefined || sortBy === 'createdAt')) return undefined
  const column = { createdAt: sql`groups.created_at`, name: sql`groups.sort_name`, guid: sql`groups.guid` }
  return descending ? sql`${column[sortBy ?? 'createdAt']} DESC` : column[sortBy ?? 'createdAt']
}

const newestFirst = sql`groups.created_at DESC`

/** Whether a list asks for more than types and pages, so that kept counts alone cannot answer it. */
export function isNarrowed(db: TenantDb, query: GroupListQuery, viewer: ViewerOfGroups | undefined): boolean {
  return query.searchKey !== undefined || orderOf(query) !== undefined || filtersOf(db, query, viewer).length > 0
}

/** The group is of these types and may be shown to the viewer. */
function visible(db: TenantDb, types: GroupType[], viewer: ViewerOfGroups | undefined): Condition[] {
  return [
    ...(types.length < groupTypes.length ? [is(sql`groups.type IN (${sql.join(types)})`)] : []),
    ...(viewer && types.includes('private')
      ? [is(sql`(groups.type != 'private' OR groups.id IN ${groupIdsOf(db, viewer.uid)})`)]
      : []),
  ]
}

const searchableFields = ['name', 'guid'] as const

/** A place to look that does not exist holds nothing. */
function searchedFields(searchIn: readonly string[] = searchableFields): number[] {
  return searchableFields.flatMap((field, index) => (searchIn.includes(field) ? [index] : []))
}

function searchFor(key: string, searchIn?: readonly string[]): Search {
  return { list: groupsList, words: [key], fields: searchedFields(searchIn) }
}

/** How many groups fulfil what is asked for, and which of them are on the page. */
interface Found {
  total: number
  guids: string[]
}

/** A page of the groups that fulfil everything asked for. */
export async function selectNarrowed(
  db: TenantDb,
  query: GroupListQuery,
  viewer: ViewerOfGroups | undefined,
  types: GroupType[],
  slice: SliceOfGroups,
): Promise<SelectedGroups> {
  const { total, guids } = await findNarrowed(db, query, viewer, types, slice)
  return { total, rows: await groupsInOrder(db, guids, viewer) }
}

async function findNarrowed(
  db: TenantDb,
  query: GroupListQuery,
  viewer: ViewerOfGroups | undefined,
  types: GroupType[],
  slice: SliceOfGroups,
): Promise<Found> {
  const { searchKey, searchIn } = query
  const filters = filtersOf(db, query, viewer)
  const order = orderOf(query)
  const shown = visible(db, types, viewer)
  const search = searchKey === undefined ? undefined : searchFor(searchKey, searchIn)
  if (search && filters.length === 0 && order === undefined) return selectSearched(db, search, shown, slice)
  const found = search ? [await foundOrAsked(db, search)] : []
  const conditions = [...filters, ...found, ...shown]
  return page(db, conditions, order ?? newestFirst, await count(db, conditions), slice)
}

// So many are gathered by their GUIDs; where more match, each group is asked.
const gatheredMax = 5_000

async function foundOrAsked(db: TenantDb, search: Search): Promise<Condition> {
  const few = (await countMatching(db, search, gatheredMax + 1)) <= gatheredMax
  return few ? foundBy(db, search) : matches(db, search, sql.ref('groups.guid'))
}

function foundBy(db: TenantDb, search: Search): Condition {
  return is(sql`groups.guid IN ${idsMatching(db, search)}`)
}

/**
 * A page of the groups that a search finds, newest first. The index counts what it finds without a look at any group; of
 * those that may not be shown, as many are counted off as match.
 */
async function selectSearched(db: TenantDb, search: Search, shown: Condition[], slice: SliceOfGroups): Promise<Found> {
  const hits = await countMatching(db, search)
  if (shown.length === 0) {
    const guids = slice.offset >= hits ? [] : await idsOnPage(db, search, slice)
    return { total: hits, guids }
  }
  const each = matches(db, search, sql.ref('groups.guid'))
  const all = (await facetTotals(db, groupsList, [undefined])).reduce((sum, { n }) => sum + n, 0)
  // Where very many match, asking each group in turn fills the page after a few steps; gathering would sort them all.
  const many = hits * hits > (slice.limit + slice.offset) * all
  const total = many
    ? hits - (await count(db, [is(sql`NOT (${sql.join(shown, sql` AND `)})`), each]))
    : await count(db, [foundBy(db, search), ...shown])
  return page(db, [many ? each : foundBy(db, search), ...shown], newestFirst, total, slice)
}

function fulfilling(db: TenantDb, conditions: Condition[]) {
  return sql`FROM groups WHERE ${sql.join([sql`groups.app_id = ${db.appId}`, ...conditions], sql` AND `)}`
}

async function count(db: TenantDb, conditions: Condition[]): Promise<number> {
  const [row] = await db.sql<{ n: number }>`SELECT count(*) AS n ${fulfilling(db, conditions)}`.execute()
  return row?.n ?? 0
}

async function page(
  db: TenantDb,
  conditions: Condition[],
  order: ReturnType<typeof sql>,
  total: number,
  { limit, offset }: SliceOfGroups,
): Promise<Found> {
  if (offset >= total || limit === 0) return { total, guids: [] }
  const rows = await db.sql<{ guid: string }>`SELECT groups.guid ${fulfilling(db, conditions)}
    ORDER BY ${order}, groups.guid LIMIT ${limit} OFFSET ${offset}`.execute()
  return { total, guids: rows.map(({ guid }) => guid) }
}
