import { type Actor, Unprepared } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import {
  alreadyJoined,
  bannedFromGroup,
  groupNotJoined,
  joiningNotAllowed,
  notAMember,
  noVacancy,
  passwordMissing,
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
  type Match,
  renewPassword,
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

/** Refuses whoever cannot come in by themselves, whatever the password; answers the one to be compared, if any. */
export function requireMayEnter(
  group: GroupRow,
  acting: groupRules.Acting,
  uid: string,
  password: string | undefined,
): string | undefined {
  const { guid, type } = group
  if (acting === 'banned') throw bannedFromGroup({ guid })
  if (acting !== 'outsider') throw alreadyJoined({ uid, guid })
  if (type === 'private') throw joiningNotAllowed({ guid })
  if (type === 'password' && !password) throw passwordMissing()
  return type === 'password' ? password : undefined
}

/** The acting user enters a group by themselves; with a password that was found to be its own, where it has one. */
export async function join(
  work: Work,
  guid: string,
  actor: Actor,
  password: string | undefined,
  match: Match | undefined,
): Promise<{ group: GroupRow; member: GroupMemberRow | undefined }> {
  const { uid } = actor
  const { group, by, acting } = await holdScene(work.db, guid, actor, [])
  const asked = requireMayEnter(group, acting, uid, password)
  // The password may have been changed, or have been asked for only now.
  if (!by || (asked !== undefined && match?.hash !== group.password)) throw new Unprepared()
  if (group.members_count >= membersMax) throw noVacancy({ guid })
  requireFewGroups((await groupCounts(work.db, [by])).get(by.id))
  if (asked !== undefined && match?.renewed) await renewPassword(work.db, group, match.renewed)
  const larger = await insertMembers(work, group, [{ user: by, scope: 'participant' }])
  await enterConversation(work, larger, [by])
  await tellMove(work, 'joined', larger, by)
  return { group: larger, member: await findMember(work.db, larger, uid) }
}

/** The acting user leaves by themselves. */
export async function leave(work: Work, guid: string, actor: Actor): Promise<void> {
  const { group, by, acting, member } = await holdScene(work.db, guid, actor, [])
  groupRules.requireMayLeave(acting, guid)
  if (!by || !member) throw groupNotJoined({ guid })
  const smaller = await endMembership(work, group, member)
  await tellMove(work, 'left', smaller, by)
}
