import type { Actor } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import {
  alreadyJoined,
  bannedFromGroup,
  groupNotJoined,
  joiningNotAllowed,
  notAMember,
  noVacancy,
  passwordMissing,
  passwordWrong,
} from '../groups/errors.ts'
import {
  activeIn,
  endMembership,
  enterConversation,
  findMember,
  type GroupMemberRow,
  type GroupRow,
  groupCounts,
  groupRules,
  holdScene,
  insertMembers,
  isPassword,
  placeIn,
  requireFewGroups,
  type Scene,
  standingOf,
  tellMove,
} from '../groups/index.ts'
import { membersMax } from '../groups/schemas.ts'
import type { UserRow } from '../users/index.ts'

/** A member on whom somebody acts, with what the two are in the group. */
export interface Encounter extends Scene {
  user: UserRow
  target: GroupMemberRow
  on: groupRules.Target
}

/** The scene of an act on a member; refuses strangers to the group, on either side. */
export async function holdMember(work: Work, guid: string, actor: Actor | undefined, uid: string): Promise<Encounter> {
  const scene = await holdScene(work.db, guid, actor, [uid])
  groupRules.requireMember(scene.acting, guid)
  const user = activeIn(scene.users, uid)
  const target = await findMember(work.db, scene.group, uid)
  if (!target) throw notAMember({ uid, guid })
  return { ...scene, user, target, on: { standing: standingOf(scene.group, target), self: uid === actor?.uid } }
}

/** The acting user enters a group by themselves. */
export async function join(
  work: Work,
  found: GroupRow,
  actor: Actor,
  password: string | undefined,
): Promise<{ group: GroupRow; member: GroupMemberRow | undefined }> {
  const { uid } = actor
  // Hashing is slow, so it is done before the group is held; afterwards the answer must still be about its password.
  const early = await placeIn(work.db, found, uid)
  const fits = early.standing === 'outsider' && (await opensWith(found, password))
  const { group, by, acting } = await holdScene(work.db, found.guid, actor, [])
  const { guid } = group
  if (acting === 'banned') throw bannedFromGroup({ guid })
  if (acting !== 'outsider' || !by) throw alreadyJoined({ uid, guid })
  if (group.type === 'private') throw joiningNotAllowed({ guid })
  if (group.type === 'password') await requirePassword(group, password, fits && group.password === found.password)
  if (group.members_count >= membersMax) throw noVacancy({ guid })
  requireFewGroups((await groupCounts(work.db, [by])).get(by.id))
  const larger = await insertMembers(work, group, [{ user: by, scope: 'participant' }])
  await enterConversation(work, larger, [by])
  await tellMove(work, 'joined', larger, by)
  return { group: larger, member: await findMember(work.db, larger, uid) }
}

async function opensWith({ password: hash }: GroupRow, password: string | undefined): Promise<boolean> {
  return hash !== null && password !== undefined && isPassword(password, hash)
}

async function requirePassword(group: GroupRow, password: string | undefined, known: boolean): Promise<void> {
  if (!password?.trim()) throw passwordMissing()
  if (!known && !(await opensWith(group, password))) throw passwordWrong({ guid: group.guid })
}

/** The acting user leaves by themselves. */
export async function leave(work: Work, guid: string, actor: Actor): Promise<void> {
  const { group, by, acting, member } = await holdScene(work.db, guid, actor, [])
  groupRules.requireMayLeave(acting, guid)
  if (!by || !member) throw groupNotJoined({ guid })
  const smaller = await endMembership(work, group, member)
  await tellMove(work, 'left', smaller, by)
}
