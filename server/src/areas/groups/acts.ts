import { quotaReached } from '../../common/refusals.ts'
import { ApiError } from '../../kit/errors.ts'
import type { Actor } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { authorise } from '../rbac/index.ts'
import { veilFor } from '../timeline/index.ts'
import { userNotFound } from '../users/errors.ts'
import { holdUsers, type UserRow } from '../users/index.ts'
import { enterConversation, leaveConversation } from './conversation.ts'
import { alreadyBanned, alreadyJoined, bannedFromGroup, noVacancy } from './errors.ts'
import { ownerTransferred } from './events.ts'
import {
  bannedAmong,
  deleteMember,
  groupCounts,
  insertBan,
  insertMembers,
  isMember,
  membersAmong,
  placeIn,
  putOwner,
  standingOf,
  successorOf,
  touch,
} from './membership.ts'
import { type Reach, reachOf, requireReach, scopeOfStanding } from './reach.ts'
import { type Acting, requireMayRemove } from './rules.ts'
import { type Admissions, type GuestLists, groupsPerUserMax, type MemberScope, membersMax, uidsIn } from './schemas.ts'
import { holdGroup } from './store.ts'
import type { GroupMemberRow, GroupRow } from './tables.ts'
import { tellAdded, tellBan, toldGroup } from './tell.ts'

/** A group and some users, held while they are changed, and who acts. */
export interface Scene {
  group: GroupRow
  users: Map<string, UserRow>
  /** Who acts, and their row; nobody, where a server does. */
  actor: Actor | undefined
  by: UserRow | undefined
  acting: Acting
  /** The acting user's membership. */
  member: GroupMemberRow | undefined
}

export async function holdScene(
  db: TenantDb,
  guid: string,
  actor: Actor | undefined,
  uids: Iterable<string>,
): Promise<Scene> {
  const group = await holdGroup(db, guid)
  const named = [...(actor ? [actor.uid] : []), ...uids]
  const users = named.length === 0 ? new Map<string, UserRow>() : await holdUsers(db, named)
  if (!actor) return { group, users, actor, by: undefined, acting: 'server', member: undefined }
  const { standing, member } = await placeIn(db, group, actor.uid)
  return { group, users, actor, by: activeIn(users, actor.uid), acting: standing, member }
}

export function activeIn(users: Map<string, UserRow>, uid: string): UserRow {
  const user = users.get(uid)
  if (user?.deactivated_at !== null) throw userNotFound({ uid })
  return user
}

/** Adding, banning, and several of it at once can each be kept from a role, whichever call does it. */
export async function authoriseGuests(
  db: TenantDb,
  actor: Actor,
  lists: GuestLists,
  inAnyCase: string[] = [],
): Promise<void> {
  const { usersToBan = [], ...toAdd } = lists
  const features = new Set(inAnyCase)
  if (uidsIn(toAdd).size > 0) features.add('addMember')
  if (usersToBan.length > 0) features.add('ban')
  if (uidsIn(lists).size > 1) features.add('massMemberOperate')
  for (const feature of features) await authorise(db, actor, feature)
}

/** How far one reaches with what lists of guests ask for. */
interface GuestReach {
  adding: Reach
  banning: Reach
}

/** The same for the scope of whoever acts in a group; adding is asked for by every such call. */
export async function reachOverGuests(
  db: TenantDb,
  actor: Actor | undefined,
  { group, acting }: Pick<Scene, 'group' | 'acting'>,
  { usersToBan = [] }: GuestLists,
): Promise<GuestReach> {
  const adding = await reachOf(db, actor, group, acting, 'addMembers')
  const banning = usersToBan.length > 0 ? await reachOf(db, actor, group, acting, 'ban') : { acting, scopes: [] }
  return { adding, banning }
}

function asTheyAre({ acting }: Scene): GuestReach {
  const reach = { acting, scopes: [] }
  return { adding: reach, banning: reach }
}

type ListName = keyof GuestLists

const scopeOf = { admins: 'admin', moderators: 'moderator', participants: 'participant' } as const
const precedence: ListName[] = ['admins', 'moderators', 'participants', 'usersToBan']

/** What is to be done with one whom a list names. */
interface Guest {
  list: ListName
  uid: string
  outcome: ApiError | { user: UserRow; member: GroupMemberRow | undefined }
}

/** Decides about everyone on the lists; nothing is written yet. */
export async function decideGuests(
  db: TenantDb,
  scene: Scene,
  lists: GuestLists,
  { adding, banning }: GuestReach = asTheyAre(scene),
): Promise<Guest[]> {
  const { group, users } = scene
  const known = [...users.values()]
  const members = await membersAmong(db, group, known)
  const banned = await bannedAmong(db, group, known)
  const counts = await groupCounts(db, known)
  let room = membersMax - group.members_count
  const decided = new Set<string>()
  const decide = (list: ListName, uid: string): Guest['outcome'] => {
    const user = activeIn(users, uid)
    const member = members.get(user.id)
    const facts = { uid, guid: group.guid }
    if (list === 'usersToBan') {
      if (banned.has(user.id)) throw alreadyBanned(facts)
      const standing = member ? standingOf(group, member) : 'outsider'
      requireReach(banning, scopeOfStanding(standing))
      requireMayRemove(banning.acting, { standing, self: uid === scene.by?.uid }, group.guid)
      return { user, member }
    }
    requireReach(adding, scopeOf[list])
    if (banned.has(user.id)) throw bannedFromGroup(facts)
    if (member) throw alreadyJoined(facts)
    if (room <= 0) throw noVacancy(facts)
    requireFewGroups(counts.get(user.id))
    room -= 1
    return { user, member }
  }
  return precedence.flatMap((list) =>
    (lists[list] ?? [])
      .map((uid) => uid.toLowerCase())
      .filter((uid) => !decided.has(uid) && decided.add(uid))
      .map((uid) => ({ list, uid, outcome: orRefusal(() => decide(list, uid)) })),
  )
}

export function requireFewGroups(count = 0): void {
  if (count >= groupsPerUserMax) throw quotaReached({ limit: `${groupsPerUserMax} groups of a user` })
}

function orRefusal<Outcome>(decide: () => Outcome): Outcome | ApiError {
  try {
    return decide()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** The users among guests who are let in. */
export function admitted(guests: Guest[]): { user: UserRow; scope: MemberScope }[] {
  return guests.flatMap(({ list, outcome }) =>
    list === 'usersToBan' || outcome instanceof ApiError ? [] : [{ user: outcome.user, scope: scopeOf[list] }],
  )
}

/** Does what was decided, and tells for each guest what became of it. */
export async function receiveGuests(
  work: Work,
  scene: Scene,
  lists: GuestLists,
  guests: Guest[],
): Promise<{ group: GroupRow; admissions: Admissions }> {
  const before = scene.group.members_count
  let group = await insertMembers(work, scene.group, admitted(guests))
  // Without a prototype: a UID may be called `__proto__`.
  const admissions: Record<string, Record<string, unknown>> = {}
  for (const list of precedence) if (lists[list]?.length) admissions[list] = Object.create(null)
  let size = before
  for (const { list, uid, outcome } of guests) {
    let entry: unknown
    if (outcome instanceof ApiError) entry = failure(outcome)
    else if (list === 'usersToBan') {
      group = await ban(work, { ...scene, group }, outcome.user, outcome.member)
      entry = { success: true }
    } else {
      size += 1
      const grown = { ...group, members_count: size }
      await enterConversation(work, grown, [outcome.user])
      const told = await tellAdded(work, { group: grown, by: scene.by, on: outcome.user }, scopeOf[list])
      const [data] = await veilFor(work.db, scene.actor, [told])
      entry = { success: true, data }
    }
    if (admissions[list]) admissions[list][uid] = entry
  }
  return { group, admissions: admissions as Admissions }
}

function failure({ code, message, devMessage = message }: ApiError) {
  return { success: false as const, error: { code, message, devMessage, source: 'chat-api' as const } }
}

/** Ends a membership, whatever the reason; an owner who goes is followed by another. */
export async function endMembership(work: Work, group: GroupRow, member: GroupMemberRow): Promise<GroupRow> {
  const smaller = await deleteMember(work, group, member)
  // A later user of the UID may be in already, before this one is cleared away.
  if (!(await isMember(work.db, group, member.uid))) await leaveConversation(work, group, member.uid)
  return member.user_id === group.owner_id ? succeed(work, smaller, member) : smaller
}

async function succeed(work: Work, group: GroupRow, leaving: GroupMemberRow): Promise<GroupRow> {
  return handOver(work, group, await successorOf(work.db, group, leaving.user_id))
}

/** Gives the group another owner and tells so. */
export async function handOver(work: Work, group: GroupRow, owner: GroupMemberRow | undefined): Promise<GroupRow> {
  const handedOver = await putOwner(work, group, owner)
  await work.emit(ownerTransferred, { group: await toldGroup(work, handedOver), oldOwner: group.owner })
  return handedOver
}

/** Shuts a user out of a group, member or not, and tells so. */
export async function ban(
  work: Work,
  { group, by }: Pick<Scene, 'group' | 'by'>,
  user: UserRow,
  member: GroupMemberRow | undefined,
): Promise<GroupRow> {
  await insertBan(work, group, user, member)
  const without = member ? await endMembership(work, group, member) : await touch(work, group)
  await tellBan(work, { group: without, by, on: user }, member !== undefined)
  return without
}
