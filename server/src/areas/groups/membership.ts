import { sql } from 'kysely'
import type { Channel } from '../../kit/channel.ts'
import type { Work } from '../../kit/work.ts'
import { addToTally, facetsOf, moveTally } from '../../storage/tally.ts'
import { prepared, remembered, type TenantDb } from '../../storage/tenant.ts'
import { groupChannel } from '../timeline/events.ts'
import { systemUid, type UserRow } from '../users/index.ts'
import type { Standing } from './rules.ts'
import { type MemberScope, memberScopes } from './schemas.ts'
import type { GroupBanRow, GroupMemberRow, GroupRow } from './tables.ts'

/** Who is in a group and who is shut out. All that writes here holds the group: counts are then nobody else's to change. */

/** The names of a group's lists, for tallies. */
export const membersListOf = ({ id }: Pick<GroupRow, 'id'>) => `members of ${id}`
export const bansListOf = ({ id }: Pick<GroupRow, 'id'>) => `bans of ${id}`

type Doing = Pick<Work, 'db' | 'now'>

type Named = { groupId: string; uid: string }

const memberByUid = remembered<Named, GroupMemberRow>((db, { groupId, uid }) =>
  db
    .select('users')
    .innerJoin('group_members', (join) =>
      join.onRef('group_members.app_id', '=', 'users.app_id').onRef('group_members.user_id', '=', 'users.id'),
    )
    .selectAll('group_members')
    .where('users.uid', '=', uid)
    .where('group_members.group_id', '=', groupId),
)

const banByUid = remembered<Named, GroupBanRow>((db, { groupId, uid }) =>
  db
    .select('users')
    .innerJoin('group_bans', (join) =>
      join.onRef('group_bans.app_id', '=', 'users.app_id').onRef('group_bans.user_id', '=', 'users.id'),
    )
    .selectAll('group_bans')
    .where('users.uid', '=', uid)
    .where('group_bans.group_id', '=', groupId),
)

/** The membership of the user who goes by `uid` now. */
export async function findMember(db: TenantDb, { id }: GroupRow, uid: string): Promise<GroupMemberRow | undefined> {
  const [row] = await memberByUid(db, { groupId: id, uid })
  return row
}

export async function isMember(db: TenantDb, group: GroupRow, uid: string): Promise<boolean> {
  return (await findMember(db, group, uid)) !== undefined
}

export async function findBan(db: TenantDb, { id }: GroupRow, uid: string): Promise<GroupBanRow | undefined> {
  const [row] = await banByUid(db, { groupId: id, uid })
  return row
}

export async function isBanned(db: TenantDb, group: GroupRow, uid: string): Promise<boolean> {
  return (await findBan(db, group, uid)) !== undefined
}

/** A member's scope, by which permissions go; an owner is an admin. */
export async function scopeInGroup(db: TenantDb, group: GroupRow, uid: string): Promise<MemberScope | undefined> {
  return (await findMember(db, group, uid))?.scope
}

/** What a user is in a group, and the membership if there is one. */
export interface PlaceInGroup {
  standing: Standing
  member: GroupMemberRow | undefined
}

export async function placeIn(db: TenantDb, group: GroupRow, uid: string): Promise<PlaceInGroup> {
  const member = await findMember(db, group, uid)
  if (member) return { standing: standingOf(group, member), member }
  return { standing: (await findBan(db, group, uid)) ? 'banned' : 'outsider', member }
}

export function standingOf({ owner_id }: GroupRow, { user_id, scope }: GroupMemberRow): Standing {
  return user_id === owner_id ? 'owner' : scope
}

/** The memberships of some users in one group, by user id. */
export async function membersAmong(
  db: TenantDb,
  { id }: GroupRow,
  users: UserRow[],
): Promise<Map<string, GroupMemberRow>> {
  if (users.length === 0) return new Map()
  const rows = await db
    .select('group_members')
    .selectAll()
    .where('group_members.group_id', '=', id)
    .where('group_members.user_id', 'in', users.map(idOf))
    .execute()
  return new Map(rows.map((row) => [row.user_id, row]))
}

/** Which of some users are banned, by user id. */
export async function bannedAmong(db: TenantDb, { id }: GroupRow, users: UserRow[]): Promise<Set<string>> {
  if (users.length === 0) return new Set()
  const rows = await db
    .select('group_bans')
    .select('group_bans.user_id')
    .where('group_bans.group_id', '=', id)
    .where('group_bans.user_id', 'in', users.map(idOf))
    .execute()
  return new Set(rows.map(({ user_id }) => user_id))
}

const idOf = ({ id }: UserRow) => id

/** How many groups each user is in, by user id. Groups that are being removed still count for a moment. */
export async function groupCounts(db: TenantDb, users: UserRow[]): Promise<Map<string, number>> {
  if (users.length === 0) return new Map()
  const rows = await db
    .select('group_members')
    .select(['group_members.user_id', sql<number>`count(*)`.as('n')])
    .where('group_members.user_id', 'in', users.map(idOf))
    .groupBy('group_members.user_id')
    .execute()
  return new Map(rows.map(({ user_id, n }) => [user_id, n]))
}

/** The ids of the groups of the user who goes by `uid`, as a subquery of one column. */
export function groupIdsOf(db: TenantDb, uid: string) {
  return db
    .select('group_members')
    .select('group_members.group_id')
    .where('group_members.user_id', '=', db.select('users').select('users.id').where('users.uid', '=', uid))
}

/** A group with what a user is in it. */
export interface SeenGroup {
  group: GroupRow
  member: Pick<GroupMemberRow, 'scope' | 'joined_at'> | undefined
}

/** Those of `guids` that belong to groups, by GUID, each with the membership of a user, if one is named. */
export async function groupsSeenBy(
  db: TenantDb,
  guids: string[],
  uid: string | undefined,
): Promise<Map<string, SeenGroup>> {
  if (guids.length === 0) return new Map()
  const userId = db
    .select('users')
    .select('users.id')
    .where('users.uid', '=', uid ?? '')
  const rows = await db
    .select('groups')
    .leftJoin('group_members', (join) =>
      join
        .onRef('group_members.app_id', '=', 'groups.app_id')
        .onRef('group_members.group_id', '=', 'groups.id')
        .on('group_members.user_id', '=', userId),
    )
    .selectAll('groups')
    .select(['group_members.scope as own_scope', 'group_members.joined_at as own_joined_at'])
    .where('groups.guid', 'in', [...new Set(guids)])
    .execute()
  return new Map(
    rows.map(({ own_scope: scope, own_joined_at: joined_at, ...group }) => [
      group.guid,
      { group, member: scope === null || joined_at === null ? undefined : { scope, joined_at } },
    ]),
  )
}

const guidsOfUser = prepared<{ uid: string }, { guid: string }>((db, { uid }) =>
  db.select('groups').select('groups.guid').where('groups.id', 'in', groupIdsOf(db, uid)),
)

/** The channels of a user's groups. */
export async function channelsOfGroups(db: TenantDb, uid: string): Promise<Channel[]> {
  return (await guidsOfUser(db, { uid })).map(({ guid }) => groupChannel(guid))
}

// More would make the event of a deletion large.
const fewMembers = 500

/** The UIDs of all members, unless they are many. */
export async function uidsOfFew(db: TenantDb, { id, members_count }: GroupRow): Promise<string[] | undefined> {
  if (members_count > fewMembers) return undefined
  const rows = db.select('group_members').select('group_members.uid').where('group_members.group_id', '=', id)
  return (await rows.execute()).map(({ uid }) => uid)
}

export interface Newcomer {
  user: UserRow
  scope: MemberScope
}

/** Writes memberships and their counts; answers the group with its new size. */
export async function insertMembers(work: Doing, group: GroupRow, newcomers: Newcomer[]): Promise<GroupRow> {
  if (newcomers.length === 0) return group
  await writeMembers(work, group, newcomers)
  return resize(work.db, group, newcomers.length, work.now)
}

/** The memberships alone; for a group that was made with its size. */
export async function writeMembers({ db, now }: Doing, group: GroupRow, newcomers: Newcomer[]): Promise<void> {
  const rows = newcomers.map(({ user, scope }) => ({
    group_id: group.id,
    user_id: user.id,
    uid: user.uid,
    scope,
    joined_at: now,
  }))
  await db.insert('group_members', rows).execute()
  await addToTally(db, membersListOf(group), rows.map(placeOfMember))
}

function placeOfMember({ joined_at, scope }: Pick<GroupMemberRow, 'joined_at' | 'scope'>) {
  return { at: joined_at, facets: facetsOf([scope]) }
}

async function resize(db: TenantDb, group: GroupRow, by: number, now: number): Promise<GroupRow> {
  const columns = { members_count: group.members_count + by, updated_at: now, changed_at: now }
  await db.update('groups').set(columns).where('guid', '=', group.guid).execute()
  return { ...group, ...columns }
}

export async function deleteMember({ db, now }: Doing, group: GroupRow, member: GroupMemberRow): Promise<GroupRow> {
  await db.delete('group_members').where('group_id', '=', group.id).where('user_id', '=', member.user_id).execute()
  await moveTally(db, membersListOf(group), placeOfMember(member), undefined)
  return resize(db, group, -1, now)
}

export async function putScope(
  { db, now }: Doing,
  group: GroupRow,
  member: GroupMemberRow,
  scope: MemberScope,
): Promise<GroupRow> {
  await db
    .update('group_members')
    .set({ scope })
    .where('group_id', '=', group.id)
    .where('user_id', '=', member.user_id)
    .execute()
  await moveTally(db, membersListOf(group), placeOfMember(member), placeOfMember({ ...member, scope }))
  return resize(db, group, 0, now)
}

/** Who owns the group when its owner goes: the oldest admin, else moderator, else participant; else the system. */
export async function successorOf(
  db: TenantDb,
  { id }: GroupRow,
  leaving: string,
): Promise<GroupMemberRow | undefined> {
  for (const scope of memberScopes) {
    const oldest = await db
      .select('group_members')
      .selectAll()
      .where('group_members.group_id', '=', id)
      .where('group_members.scope', '=', scope)
      .where('group_members.user_id', '!=', leaving)
      .orderBy('group_members.joined_at')
      .orderBy('group_members.uid', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (oldest) return oldest
  }
  return undefined
}

/** Gives the group to a member, who becomes an admin, or back to the system. */
export async function putOwner(work: Doing, group: GroupRow, owner: GroupMemberRow | undefined): Promise<GroupRow> {
  const promoted = owner && owner.scope !== 'admin' ? await putScope(work, group, owner, 'admin') : group
  const columns = {
    owner: owner?.uid ?? systemUid,
    owner_id: owner?.user_id ?? null,
    updated_at: work.now,
    changed_at: work.now,
  }
  await work.db.update('groups').set(columns).where('guid', '=', group.guid).execute()
  return { ...promoted, ...columns }
}

export async function insertBan(
  { db, now }: Doing,
  group: GroupRow,
  user: UserRow,
  member: GroupMemberRow | undefined,
): Promise<void> {
  const former = { scope: member?.scope ?? null, joined_at: member?.joined_at ?? null }
  await db
    .insert('group_bans', { group_id: group.id, user_id: user.id, uid: user.uid, ...former, banned_at: now })
    .execute()
  await moveTally(db, bansListOf(group), undefined, { at: now, facets: '' })
}

export async function deleteBan(db: TenantDb, group: Pick<GroupRow, 'id'>, ban: GroupBanRow): Promise<void> {
  await db.delete('group_bans').where('group_id', '=', group.id).where('user_id', '=', ban.user_id).execute()
  await moveTally(db, bansListOf(group), { at: ban.banned_at, facets: '' }, undefined)
}

/** Notes that who may come in has changed, with as many members as before. */
export function touch({ db, now }: Doing, group: GroupRow): Promise<GroupRow> {
  return resize(db, group, 0, now)
}
