import { sql } from 'kysely'
import { sliceOf } from '../../common/page.ts'
import { facetTotals, seekPage } from '../../storage/tally.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { isNarrowed, selectNarrowed } from './found.ts'
import { groupIdsOf } from './membership.ts'
import { type GroupListQuery, type GroupType, groupTypes } from './schemas.ts'
import { groupsInOrder, type SelectedGroups, type SliceOfGroups, type ViewerOfGroups } from './selection.ts'
import { groupsList } from './tables.ts'

/** One page of groups, and how many there are in all. */
export async function selectGroups(
  db: TenantDb,
  query: GroupListQuery,
  viewer: ViewerOfGroups | undefined,
  slice: SliceOfGroups = sliceOf(query),
): Promise<SelectedGroups> {
  const types = typesWanted(query, viewer)
  if (types.length === 0 || !knowsWords(query)) return { total: 0, rows: [] }
  if (isNarrowed(db, query, viewer)) {
    if (!asksForFew(query)) db.leaveSharedReader()
    return selectNarrowed(db, query, viewer, types, slice)
  }
  return selectListed(db, types, viewer, slice)
}

/** Groups that are named are few, and so are those of one user; unless a tag or another order leads through all of them. */
function asksForFew({ guid, guids, hasJoined, tags, sortBy, updatedAt }: GroupListQuery): boolean {
  const leadsThroughAll = tags !== undefined || sortBy !== undefined || updatedAt !== undefined
  return (guid !== undefined || guids !== undefined || hasJoined === true) && !leadsThroughAll
}

function typesWanted({ type, types = [] }: GroupListQuery, viewer: ViewerOfGroups | undefined): GroupType[] {
  const filters = [types.map(meant), type === undefined ? [] : [meant(type)], viewer?.types ?? []]
  return groupTypes.filter((each) => filters.every((words) => isWanted(words, each)))
}

const meant = (type: string) => (type === 'protected' ? 'password' : type)

const isWanted = (words: string[], word: string) => words.length === 0 || words.includes(word)

/** An order or a direction that does not exist holds nothing, like any other word that a list does not know. */
function knowsWords({ sortBy, sortOrder, affix }: GroupListQuery): boolean {
  return (
    ['createdAt', 'name', 'guid', undefined].includes(sortBy) &&
    ['asc', 'desc', undefined].includes(sortOrder) &&
    ['append', 'prepend', undefined].includes(affix)
  )
}

/** A group's place in the list. */
interface Key {
  guid: string
  created_at: number
}

/**
 * A page of everything of some types, newest first. Totals and the way to a deep page come from kept counts. A viewer's
 * private groups are not in them: they are few, and are put between the others.
 */
async function selectListed(
  db: TenantDb,
  types: GroupType[],
  viewer: ViewerOfGroups | undefined,
  { limit, offset }: SliceOfGroups,
): Promise<SelectedGroups> {
  const open = viewer ? types.filter((type) => type !== 'private') : types
  const own = viewer && types.includes('private') ? await privateGroupsOf(db, viewer.uid) : []
  const counts = await facetTotals(db, groupsList, [undefined])
  const openTotal = counts.filter(({ facets }) => open.includes(facets as GroupType)).reduce((sum, { n }) => sum + n, 0)
  const total = openTotal + own.length
  if (offset >= total || limit === 0) return { total, rows: [] }
  const from = Math.max(0, offset - own.length)
  const stretch = await walk(db, open, { offset: from, limit: limit + own.length })
  const [first] = stretch
  const passed = from === 0 || !first ? [] : own.filter((each) => comesBefore(each, first))
  const rest = own.slice(passed.length)
  const merged = [...stretch, ...rest].toSorted((a, b) => (comesBefore(a, b) ? -1 : 1))
  const start = offset - from - passed.length
  const guids = merged.slice(start, start + limit).map(({ guid }) => guid)
  return { total, rows: await groupsInOrder(db, guids, viewer) }
}

function comesBefore(a: Key, b: Key): boolean {
  return a.created_at > b.created_at || (a.created_at === b.created_at && a.guid < b.guid)
}

/** The private groups that a user is in, newest first. */
function privateGroupsOf(db: TenantDb, uid: string): Promise<Key[]> {
  return keys(db).where('groups.id', 'in', groupIdsOf(db, uid)).where('groups.type', '=', 'private').execute()
}

function keys(db: TenantDb) {
  return db
    .select('groups')
    .select(['groups.guid', 'groups.created_at'])
    .orderBy('groups.created_at', 'desc')
    .orderBy('groups.guid')
}

/** A stretch of the groups of some types, newest first. */
async function walk(db: TenantDb, types: GroupType[], { offset, limit }: SliceOfGroups): Promise<Key[]> {
  if (types.length === 0) return []
  const everything = types.length === groupTypes.length
  const { until, skip } = await seekPage(db, groupsList, everything ? [] : { anyOf: types }, offset)
  const since = until === undefined ? sql`` : sql`AND groups.created_at < ${until}`
  if (everything) {
    const bounded = until === undefined ? keys(db) : keys(db).where('groups.created_at', '<', until)
    return bounded.limit(limit).offset(skip).execute()
  }
  // Each type by its own index: no step is spent on groups that are not wanted, however many there are.
  const newest = types.map(
    (type) => sql`SELECT * FROM (SELECT groups.guid, groups.created_at FROM groups
      WHERE groups.app_id = ${db.appId} AND groups.type = ${type} ${since}
      ORDER BY groups.created_at DESC, groups.guid LIMIT ${skip + limit}) AS newest`,
  )
  const rows = await db.sql<Key>`SELECT guid, created_at FROM (${sql.join(newest, sql` UNION ALL `)}) AS newest_of_all
    ORDER BY created_at DESC, guid LIMIT ${limit} OFFSET ${skip}`.execute()
  return rows
}
