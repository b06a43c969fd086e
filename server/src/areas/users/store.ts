import { randomBytes } from 'node:crypto'
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { metadataText } from '../../common/metadata.ts'
import type { View, Work } from '../../kit/work.ts'
import type { Search } from '../../storage/grams.ts'
import { lookUpEach, numberAsFound } from '../../storage/plans.ts'
import { matches, putSearchEntries, removeSearchEntries } from '../../storage/search.ts'
import { eachOf } from '../../storage/sql.ts'
import { addToTally, facetsOf, type Move, moveTallies, moveTally } from '../../storage/tally.ts'
import { prepared, preparedRows, remembered, type TenantDb } from '../../storage/tenant.ts'
import { roleNotFound } from '../roles/errors.ts'
import { rolesOf } from '../roles/index.ts'
import { defaultRole } from '../roles/schemas.ts'
import { userExists, userNotFound } from './errors.ts'
import { userCreated } from './events.ts'
import { finishForgetting } from './forget.ts'
import type { Blocks } from './gates.ts'
import { onlineIn } from './online.ts'
import type { User, UserCreate, UserUpdate } from './schemas.ts'
import type { NewUserRow, UserRow } from './tables.ts'

/** The name of the list, for tallies and search. */
export const usersList = 'users'

const idBytes = 8

/** Who acts when no user does; known to records, never a row. */
export const systemUid = 'app_system'

/** What records tell of it where it speaks. */
export const systemUser = { uid: systemUid, name: 'System', role: 'default', status: 'offline' as const }

/** The same as a whole record, for what it does: it is as old as the app. */
export async function systemRecord(view: View): Promise<User> {
  return { ...systemUser, createdAt: await view.createdAt() }
}

type Doing = Pick<Work, 'db' | 'now'>

const userByUid = remembered<{ uid: string }, UserRow>((db, { uid }) =>
  db.select('users').selectAll().where('users.uid', '=', uid),
)

/** The user who goes by `uid`, in any letter case, active or not. */
export async function findUser(db: TenantDb, uid: string): Promise<UserRow | undefined> {
  const [row] = await userByUid(db, { uid: uid.toLowerCase() })
  return row
}

/** The user who goes by `uid`, in any letter case, unless unknown or deactivated. */
export async function findActiveUser(db: TenantDb, uid: string): Promise<UserRow | undefined> {
  const row = await findUser(db, uid)
  return row?.deactivated_at === null ? row : undefined
}

export async function requireActiveUser(db: TenantDb, uid: string): Promise<UserRow> {
  const row = await findActiveUser(db, uid)
  if (!row) throw userNotFound({ uid })
  return row
}

const lockUser = prepared<{ uid: string }, UserRow>((db, { uid }) =>
  db.update('users').set({ uid }).where('uid', '=', uid).returningAll(),
)

/** Keeps the user as they are until the transaction ends: of several that want to change them, one goes at a time. */
export async function lockActiveUser(db: TenantDb, uid: string): Promise<UserRow> {
  const [row] = await lockUser(db, { uid })
  if (row?.deactivated_at !== null) throw userNotFound({ uid })
  return row
}

/** Those of `uids` that belong to users, active or not, by UID. */
export async function usersByUid(db: TenantDb, uids: string[]): Promise<Map<string, UserRow>> {
  if (uids.length === 0) return new Map()
  const named = [...new Set(uids.map((uid) => uid.toLowerCase()))].map((uid) => sql`(${uid})`)
  const rows = await db.sql<UserRow>`${usersAmong(db, sql`VALUES ${sql.join(named)}`)}`.execute()
  return new Map(rows.map((row) => [row.uid, row]))
}

/** No more of a user than who they are and what role they have. */
export type UserIdentity = Pick<UserRow, 'uid' | 'id' | 'role' | 'role_id'>

/** Those of `uids` that belong to active users; for very many, some at a time. */
export async function identitiesOf(db: TenantDb, uids: string[]): Promise<UserIdentity[]> {
  if (uids.length === 0) return []
  const columns = sql`users.uid, users.id, users.role, users.role_id`
  return db.sql<UserIdentity>`${usersAmong(db, sql`SELECT * FROM ${eachOf(db, uids)} AS asked`, columns)}
    AND users.deactivated_at IS NULL`.execute()
}

/**
 * Those of `uids` that belong to users, active or not, held until the transaction ends: meanwhile nobody changes or
 * deletes them, nor counts what is theirs. They are held in the order of their UIDs, so that two transactions cannot wait
 * for each other.
 */
export async function holdUsers(db: TenantDb, uids: string[]): Promise<Map<string, UserRow>> {
  const rows = await db
    .select('users')
    .selectAll()
    .where('users.uid', 'in', [...new Set(uids.map((uid) => uid.toLowerCase()))])
    .orderBy('users.uid')
    .modifyEnd(db.holdRows)
    .execute()
  return new Map(rows.map((row) => [row.uid, row]))
}

/** Whether a subquery of UIDs names `uid`. */
export async function isAmong(db: TenantDb, uid: string, uids: Expression<string>): Promise<boolean> {
  const row = await db
    .select('users')
    .select('users.uid')
    .where('users.uid', '=', uid)
    .where(sql<SqlBool>`users.uid IN ${uids}`)
    .executeTakeFirst()
  return row !== undefined
}

/** The app's users, newest first, active or not. */
export function usersOf(db: TenantDb) {
  return db.select('users').selectAll('users').orderBy('users.created_at', 'desc').orderBy('users.uid')
}

/**
 * A statement on the users whom a subquery names, each looked up by UID; conditions may follow. Lists that begin with few
 * users use it, because their order must not tempt a planner to walk all users.
 */
export function usersAmong(
  db: TenantDb,
  uids: RawBuilder<unknown> | Expression<unknown>,
  columns: RawBuilder<unknown> = sql`users.*`,
): RawBuilder<unknown> {
  return lookUpEach(db, {
    few: sql`(SELECT * FROM (${uids}) AS named)`,
    name: 'hit',
    columns: ['uid'],
    select: columns,
    table: 'users',
    match: sql`users.uid = hit.uid`,
  })
}

/** The order of lists, for few users that were found by other means. */
export const sortedNewestFirst = sql`${numberAsFound('users.created_at')} DESC, users.uid`

const searchableFields = ['name', 'uid'] as const

/** The user at hand has `searchKey` in the name or UID; for lists that are short without the search, such as friends. */
export function eachUserMatches(
  db: TenantDb,
  searchKey: string,
  searchIn: readonly string[] = searchableFields,
): Expression<SqlBool> {
  return matches(db, userSearch(searchKey, searchIn), sql.ref('users.uid'))
}

/** A search among users; a place to look that does not exist holds nothing. */
export function userSearch(key: string, searchIn: readonly string[] = searchableFields): Search {
  const fields = searchableFields.flatMap((field, index) => (searchIn.includes(field) ? [index] : []))
  return { list: usersList, words: [key], fields }
}

/** In the order that `wantedFacets` asks for them. */
export function facetsOfUser({ role, deactivated_at }: Pick<UserRow, 'role' | 'deactivated_at'>) {
  return facetsOf([role, deactivated_at === null ? 0 : 1])
}

export interface UserView {
  /** The acting user: the record then tells what the two have to do with each other. */
  actorUid?: string | undefined
  blocks?: Blocks | undefined
  withTags?: boolean
  /** Show what stands under `@private`; for API keys acting for nobody. */
  withPrivate?: boolean
  /** Show no more than the UID, and what the two have to do with each other; for whoever may not see the user. */
  veiled?: boolean
}

/** What is shown of a user whom the viewer may not see. The name is there because clients show one. */
export function veiledUser(uid: string): User {
  return { uid, name: uid, role: defaultRole, status: 'offline', createdAt: 0 }
}

export const privateMetadata = '@private'

/** The record that is answered. Unless it is said how: what any user may see, with tags. */
export function toUser(view: View, row: UserRow, how: UserView = {}): User {
  const { actorUid, blocks, withTags = true, withPrivate = false, veiled = false } = how
  const relation = {
    ...(actorUid !== undefined && actorUid !== row.uid && { conversationId: conversationId(actorUid, row.uid) }),
    ...blocks,
  }
  if (veiled) return { ...veiledUser(row.uid), ...relation }
  const metadata = row.metadata === null ? undefined : shownMetadata(row.metadata, withPrivate)
  return {
    uid: row.uid,
    name: row.name,
    ...(row.avatar !== null && { avatar: row.avatar }),
    ...(row.link !== null && { link: row.link }),
    role: row.role,
    status: onlineIn(view).has(row.uid) ? 'available' : 'offline',
    ...(row.status_message !== null && { statusMessage: row.status_message }),
    ...(metadata && { metadata }),
    ...(withTags && row.tags !== null && { tags: JSON.parse(row.tags) }),
    ...(row.last_active_at !== null && { lastActiveAt: row.last_active_at }),
    createdAt: row.created_at,
    ...(row.updated_at !== null && { updatedAt: row.updated_at }),
    ...(row.deactivated_at !== null && { deactivatedAt: row.deactivated_at }),
    ...relation,
  }
}

/** Metadata with nothing in it but what is private is as good as none. */
function shownMetadata(text: string, withPrivate: boolean): Record<string, unknown> | undefined {
  const all: Record<string, unknown> = JSON.parse(text)
  if (withPrivate || !Object.hasOwn(all, privateMetadata)) return all
  const { [privateMetadata]: _, ...open } = all
  return Object.keys(open).length > 0 ? open : undefined
}

/** Stands between the UIDs in the id of a conversation. */
export const usersJoint = '_user_'

/** The id on the wire of the conversation of two users, whoever asks. Others may have the same: it is a name, no key. */
export function conversationId(uid: string, other: string): string {
  return [uid, other].toSorted().join(usersJoint)
}

export type Profile = Omit<UserCreate, 'withAuthToken'>

/** Adds one user; the UID must be free, also of deactivated users. */
export async function addUser(work: Work, profile: Profile): Promise<UserRow> {
  const uid = profile.uid.toLowerCase()
  if (uid === systemUid) throw userExists({ uid: profile.uid })
  const [row] = await addRows(work, [{ ...profile, uid }])
  if (!row) throw userExists({ uid: profile.uid })
  return row
}

/** Adds the users that do not exist yet, and tells nobody: for very many, that are made up. */
export async function addMissingUsers(work: Work, users: Profile[]): Promise<void> {
  await addRows(work, users)
}

/** The same, and tells of them. */
export async function bringUsers(work: Work, users: Profile[]): Promise<void> {
  const rows = await addRows(work, users)
  await work.emitEach(
    userCreated,
    rows.map((row) => ({ user: toUser(work, row) })),
  )
}

async function addRows(work: Work, profiles: Profile[]): Promise<UserRow[]> {
  const { db, now } = work
  if (profiles.length === 0) return []
  const values = []
  for (const profile of profiles) {
    await finishForgetting(work, profile.uid)
    const role = await roleColumns(db, profile.role ?? defaultRole)
    values.push({
      uid: profile.uid,
      id: randomBytes(idBytes).toString('hex'),
      name: profile.name,
      ...noColumns,
      ...profileColumns(profile),
      ...role,
      created_at: now,
      facets: facetsOfUser({ role: role.role, deactivated_at: null }),
    })
  }
  const rows = await insertUsers(db, values)
  await putTags(db, rows)
  await putSearchEntries(db, usersList, rows.map(searchEntry))
  await addToTally(db, usersList, rows.map(placeOf))
  return rows
}

const insertUsers = preparedRows<NewUserRow, UserRow>((db, rows) =>
  db
    .insert('users', rows)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll(),
)

async function roleColumns(db: TenantDb, role: string): Promise<{ role: string; role_id: string | null }> {
  if (role.toLowerCase() === defaultRole) return { role: defaultRole, role_id: null }
  // Held, so that the role cannot be deleted before this user is there to be found with it.
  const known = await rolesOf(db).where('roles.role', '=', role.toLowerCase()).modifyEnd(db.holdRows).executeTakeFirst()
  if (!known) throw roleNotFound({ role })
  return { role: known.role, role_id: known.id }
}

/** Every optional field left out. */
const noColumns = { avatar: null, link: null, status_message: null, metadata: null, tags: null }

/** Columns of the optional fields that were sent. */
function profileColumns({ avatar, link, statusMessage, metadata, tags }: Omit<UserUpdate, 'unset'>) {
  return {
    ...(avatar !== undefined && { avatar: avatar || null }),
    ...(link !== undefined && { link: link || null }),
    ...(statusMessage !== undefined && { status_message: statusMessage || null }),
    ...(metadata !== undefined && { metadata: metadataText(metadata) }),
    ...(tags !== undefined && { tags: tags.length === 0 ? null : JSON.stringify([...new Set(tags)]) }),
  }
}

async function putTags(db: TenantDb, rows: UserRow[]): Promise<void> {
  const values = rows.flatMap(({ uid, tags }) => tagsOf(tags).map((tag) => ({ uid, tag })))
  if (values.length > 0) await db.insert('user_tags', values).execute()
}

function tagsOf(text: string | null): string[] {
  return text === null ? [] : JSON.parse(text)
}

function searchEntry({ uid, name, created_at }: UserRow) {
  return { id: uid, at: created_at, texts: [name, uid] }
}

function placeOf(row: UserRow) {
  return { at: row.created_at, facets: row.facets }
}

/** Changes what was sent and nothing else; a body without anything leaves the row as it is. */
export async function changeUser(work: Doing, row: UserRow, { unset = [], ...body }: UserUpdate): Promise<UserRow> {
  const { db, now } = work
  const columns = {
    ...(body.name !== undefined && { name: body.name }),
    ...profileColumns(body),
    ...(body.role !== undefined && (await roleColumns(db, body.role))),
    ...Object.fromEntries(unset.map((column) => [column, null])),
  }
  if (Object.keys(columns).length === 0) return row
  const changed = await putRow(db, row, { ...columns, updated_at: now })
  if (body.tags !== undefined) {
    await db.delete('user_tags').where('uid', '=', row.uid).execute()
    await putTags(db, [changed])
  }
  if (body.name !== undefined) await putSearchEntries(db, usersList, [searchEntry(changed)])
  return changed
}

/** An end user neither sees nor changes what a server keeps under `@private`; it survives whatever is sent. */
export function keepingPrivate({ metadata }: UserRow, { unset = [], ...body }: UserUpdate): UserUpdate {
  const { [privateMetadata]: secret } = metadata === null ? {} : JSON.parse(metadata)
  const { [privateMetadata]: _, ...sent } = JSON.parse(metadataText(body.metadata ?? {}))
  const removed = unset.includes('metadata')
  if (body.metadata === undefined && !removed) return { unset, ...body }
  if (secret === undefined) return { unset, ...body, ...(body.metadata !== undefined && { metadata: sent }) }
  return {
    ...body,
    unset: unset.filter((name) => name !== 'metadata'),
    metadata: { ...(removed ? {} : sent), [privateMetadata]: secret },
  }
}

/** Writes columns of users and keeps the counts right. Rows are locked first: what they were counted as must hold. */
async function putRows(db: TenantDb, rows: UserRow[], columns: Partial<UserRow>): Promise<UserRow[]> {
  const moves: Move[] = []
  const changed: UserRow[] = []
  for (const { uid } of rows) {
    const [before] = await lockUser(db, { uid })
    if (!before) throw userNotFound({ uid })
    const facets = facetsOfUser({ ...before, ...columns })
    const after = { ...before, ...columns, facets }
    await db
      .update('users')
      .set({ ...columns, facets })
      .where('uid', '=', uid)
      .execute()
    moves.push({ before: placeOf(before), after: placeOf(after) })
    changed.push(after)
  }
  await moveTallies(db, usersList, moves)
  return changed
}

async function putRow(db: TenantDb, row: UserRow, columns: Partial<UserRow>): Promise<UserRow> {
  const [changed] = await putRows(db, [row], columns)
  return changed as UserRow
}

/** Suspends users; everything stays. */
export function deactivate({ db, now }: Doing, rows: UserRow[]): Promise<UserRow[]> {
  return putRows(db, rows, { deactivated_at: now })
}

export function reactivate({ db, now }: Doing, rows: UserRow[]): Promise<UserRow[]> {
  return putRows(db, rows, { deactivated_at: null, updated_at: now })
}

/** Some of the users who have this very role, and not a later one of its name. */
export async function usersWithRole(db: TenantDb, role: string, roleId: string, limit: number): Promise<UserRow[]> {
  const found: UserRow[] = []
  for (const deactivated_at of [null, 1]) {
    // One combination at a time and without an order, so that the index on facets is what offers itself.
    const some = await db
      .select('users')
      .selectAll()
      .where('users.facets', '=', facetsOfUser({ role, deactivated_at }))
      .where('users.role_id', '=', roleId)
      .limit(limit - found.length)
      .execute()
    found.push(...some)
    if (found.length >= limit) return found
  }
  return found
}

/** Gives users whose role is gone the default one. */
export function resetRoles({ db, now }: Doing, rows: UserRow[]): Promise<UserRow[]> {
  return putRows(db, rows, { role: defaultRole, role_id: null, updated_at: now })
}

/** Removes the user's own rows and answers who it was; what other areas hold goes when they read the event. */
export async function removeUser(db: TenantDb, { uid }: UserRow): Promise<UserRow> {
  const row = await db.delete('users').where('uid', '=', uid).returningAll().executeTakeFirst()
  if (!row) throw userNotFound({ uid })
  await db.delete('user_tags').where('uid', '=', uid).execute()
  await removeSearchEntries(db, usersList, [uid])
  await moveTally(db, usersList, placeOf(row), undefined)
  return row
}
