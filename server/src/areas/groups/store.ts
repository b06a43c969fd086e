import { randomBytes } from 'node:crypto'
import { type Expression, type SqlBool, sql } from 'kysely'
import { metadataText } from '../../common/metadata.ts'
import type { Work } from '../../kit/work.ts'
import { matches, putSearchEntries, removeSearchEntries } from '../../storage/search.ts'
import { folded } from '../../storage/search-text.ts'
import { addToTally, moveTally } from '../../storage/tally.ts'
import { prepared, preparedRows, remembered, type TenantDb } from '../../storage/tenant.ts'
import { conversationIdOf, placeOfGroup } from '../timeline/index.ts'
import { requireActiveUser, systemUid, type UserRow } from '../users/index.ts'
import { groupExists, groupNotFound } from './errors.ts'
import { groupCreated } from './events.ts'
import type { Group, GroupCreate, GroupUpdate } from './schemas.ts'
import { type GroupMemberRow, type GroupRow, groupsList, type NewGroupRow } from './tables.ts'

const idBytes = 8

type Doing = Pick<Work, 'db' | 'now'>

const groupByGuid = remembered<{ guid: string }, GroupRow>((db, { guid }) =>
  db.select('groups').selectAll().where('groups.guid', '=', guid),
)

/** The group of this GUID, in any letter case. */
export async function findGroup(db: TenantDb, guid: string): Promise<GroupRow | undefined> {
  const [row] = await groupByGuid(db, { guid: guid.toLowerCase() })
  return row
}

/** The group at hand has `searchKey` in its name; for lists that are short without the search. */
export function eachGroupMatches(db: TenantDb, searchKey: string): Expression<SqlBool> {
  return matches(db, { list: groupsList, words: [searchKey], fields: [0] }, sql.ref('groups.guid'))
}

export async function requireGroup(db: TenantDb, guid: string): Promise<GroupRow> {
  const row = await findGroup(db, guid)
  if (!row) throw groupNotFound({ guid })
  return row
}

const groupThatStays = remembered<{ guid: string }, GroupRow>((db, { guid }) =>
  db.select('groups').selectAll().where('groups.guid', '=', guid).modifyEnd(db.keepRows),
)

/**
 * The same for whoever writes into the group: it is not deleted before the transaction ends, so what is written is there
 * when it is cleared away. Those who write do not wait for each other.
 */
export async function keepGroup(db: TenantDb, guid: string): Promise<GroupRow> {
  const row = await keepGroupIfThere(db, guid)
  if (!row) throw groupNotFound({ guid })
  return row
}

export async function keepGroupIfThere(db: TenantDb, guid: string): Promise<GroupRow | undefined> {
  const [row] = await groupThatStays(db, { guid: guid.toLowerCase() })
  return row
}

/** What a path names: the group first, then the user. */
export async function requireGroupAndUser(
  db: TenantDb,
  params: { guid: string; uid: string },
): Promise<{ guid: string; uid: string }> {
  const { guid } = await requireGroup(db, params.guid)
  const { uid } = await requireActiveUser(db, params.uid)
  return { guid, uid }
}

const lockGroup = prepared<{ guid: string }, GroupRow>((db, { guid }) =>
  db.update('groups').set({ guid }).where('guid', '=', guid).returningAll(),
)

/**
 * Keeps the group as it is until the transaction ends: of several that change who is in it, one goes at a time. Groups
 * are held before users, so that two transactions cannot wait for each other.
 */
export async function holdGroup(db: TenantDb, guid: string): Promise<GroupRow> {
  const [row] = await lockGroup(db, { guid })
  if (!row) throw groupNotFound({ guid })
  return row
}

/** How a record is shown. */
export interface GroupView {
  /** The acting user's membership; given, even as `undefined`, only where somebody acts. */
  member?: Pick<GroupMemberRow, 'scope' | 'joined_at'> | undefined
  withTags?: boolean
}

/** The record that is answered. Without a view: what anyone may see, with tags. */
export function toGroup(row: GroupRow, view: GroupView = {}): Group {
  const { member, withTags = true } = view
  return {
    ...toGroupCard(row),
    ...(row.description !== null && { description: row.description }),
    ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) }),
    ...(withTags && row.tags !== null && { tags: JSON.parse(row.tags) }),
    ...('member' in view && { hasJoined: member !== undefined }),
    ...(member && { scope: member.scope, joinedAt: member.joined_at }),
  }
}

/** The record in short, as it stands inside messages about it. */
export function toGroupCard(row: GroupRow): Group {
  return {
    guid: row.guid,
    name: row.name,
    type: row.type,
    ...(row.icon !== null && { icon: row.icon }),
    owner: row.owner,
    membersCount: row.members_count,
    conversationId: conversationIdOf(placeOfGroup(row.guid).conversationKey),
    createdAt: row.created_at,
    ...(row.updated_at !== null && { updatedAt: row.updated_at }),
    ...(row.updated_by !== null && { updatedBy: row.updated_by }),
  }
}

export type NewGroup = Pick<GroupCreate, 'guid' | 'name'> & Partial<Omit<GroupCreate, 'password' | 'members' | 'owner'>>

/** Adds one group; the GUID must be free. */
export async function addGroup(
  work: Doing,
  group: NewGroup,
  { passwordHash, owner }: { passwordHash: string | null; owner: UserRow | undefined },
): Promise<GroupRow> {
  const [row] = await addRows(work, [
    {
      ...newColumns(group, work.now),
      password: passwordHash,
      ...(owner && { owner: owner.uid, owner_id: owner.id, members_count: 1 }),
    },
  ])
  if (!row) throw groupExists({ guid: group.guid })
  return row
}

/** Adds the groups that do not exist yet, without members, and tells nobody: for very many, that are made up. */
export async function addMissingGroups(db: TenantDb, groups: NewGroup[], now: number): Promise<void> {
  await addEmpty({ db, now }, groups)
}

/** The same, and tells of them. */
export async function bringGroups(work: Work, groups: NewGroup[]): Promise<void> {
  const rows = await addEmpty(work, groups)
  await work.emitEach(
    groupCreated,
    rows.map((row) => ({ group: toGroup(row), members: {} })),
  )
}

async function addEmpty(work: Doing, groups: NewGroup[]): Promise<GroupRow[]> {
  if (groups.length === 0) return []
  return addRows(
    work,
    groups.map((group) => newColumns(group, work.now)),
  )
}

function newColumns(group: NewGroup, now: number): NewGroupRow {
  return {
    guid: group.guid.toLowerCase(),
    id: randomBytes(idBytes).toString('hex'),
    ...noColumns,
    ...profileColumns(group),
    name: group.name,
    sort_name: folded(group.name),
    type: group.type ?? 'public',
    password: null,
    owner: systemUid,
    owner_id: null,
    members_count: 0,
    created_at: now,
    changed_at: now,
  }
}

async function addRows({ db }: Doing, values: NewGroupRow[]): Promise<GroupRow[]> {
  const rows = await insertGroups(db, values)
  await putTags(db, rows)
  await putSearchEntries(db, groupsList, rows.map(searchEntry))
  await addToTally(db, groupsList, rows.map(placeOf))
  return rows
}

const insertGroups = preparedRows<NewGroupRow, GroupRow>((db, rows) =>
  db
    .insert('groups', rows)
    .onConflict((conflict) => conflict.columns(['app_id', 'guid']).doNothing())
    .returningAll(),
)

/** Every optional field left out. */
const noColumns = { icon: null, description: null, metadata: null, tags: null }

/** Columns of the optional fields that were sent. */
function profileColumns({ icon, description, metadata, tags }: Partial<GroupUpdate>) {
  return {
    ...(icon !== undefined && { icon: icon || null }),
    ...(description !== undefined && { description: description || null }),
    ...(metadata !== undefined && { metadata: metadataText(metadata) }),
    ...(tags !== undefined && { tags: tags.length === 0 ? null : JSON.stringify([...new Set(tags)]) }),
  }
}

async function putTags(db: TenantDb, rows: GroupRow[]): Promise<void> {
  const values = rows.flatMap(({ guid, tags }) => tagsOf(tags).map((tag) => ({ guid, tag })))
  if (values.length > 0) await db.insert('group_tags', values).execute()
}

function tagsOf(text: string | null): string[] {
  return text === null ? [] : JSON.parse(text)
}

function searchEntry({ guid, name, created_at }: GroupRow) {
  return { id: guid, at: created_at, texts: [name, guid] }
}

function placeOf({ created_at, type }: GroupRow) {
  return { at: created_at, facets: type }
}

/** What an update says, as columns; nothing, if it says nothing. `passwordHash` stands for what it says of a password. */
export function changedColumns(
  { name, type, unset = [], ...profile }: GroupUpdate,
  passwordHash: string | null | undefined,
): Partial<GroupRow> {
  return {
    ...(name !== undefined && { name, sort_name: folded(name) }),
    ...(type !== undefined && { type }),
    ...(passwordHash !== undefined && { password: passwordHash }),
    ...profileColumns(profile),
    ...Object.fromEntries(unset.map((column) => [column, null])),
  }
}

/** Writes columns of a group that is held, and what lists know of it. */
export async function changeGroup(
  { db, now }: Doing,
  group: GroupRow,
  columns: Partial<GroupRow>,
  updatedBy: string,
): Promise<GroupRow> {
  const all = { ...columns, updated_at: now, updated_by: updatedBy, changed_at: now }
  await db.update('groups').set(all).where('guid', '=', group.guid).execute()
  const changed = { ...group, ...all }
  if ('tags' in columns) {
    await db.delete('group_tags').where('guid', '=', group.guid).execute()
    await putTags(db, [changed])
  }
  if ('name' in columns) await putSearchEntries(db, groupsList, [searchEntry(changed)])
  await moveTally(db, groupsList, placeOf(group), placeOf(changed))
  return changed
}

/** Keeps the password of a group that is held under another hash; for those who look, nothing has changed. */
export async function renewPassword(db: TenantDb, { guid }: GroupRow, hash: string): Promise<void> {
  await db.update('groups').set({ password: hash }).where('guid', '=', guid).execute()
}

/** Removes a group that is held, once all who are writing into it have finished; the GUID is free at the commit. */
export async function removeGroup(db: TenantDb, group: GroupRow): Promise<void> {
  await db.delete('groups').where('guid', '=', group.guid).execute()
}

/** Takes a group that was removed off every list. What was in it goes by a job. */
export async function unlistGroup(db: TenantDb, group: GroupRow): Promise<void> {
  await db.delete('group_tags').where('guid', '=', group.guid).execute()
  await removeSearchEntries(db, groupsList, [group.guid])
  await moveTally(db, groupsList, placeOf(group), undefined)
}
