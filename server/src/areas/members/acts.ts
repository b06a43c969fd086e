import type { Actor } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import { groupNotJoined, notAMember } from '../groups/errors.ts'
import {
  activeIn,
  endMembership,
  findMember,
  type GroupMemberRow,
  groupRules,
  holdScene,
  type Scene,
  standingOf,
  tellMove,
} from '../groups/index.ts'
import type { UserRow } from '../users/index.ts'
import { authoriseLeaving } from './permissions.ts'

/** A member on whom somebody acts, with what the two are in the group. */
export interface Encounter extends Scene {
  user: UserRow
  target: GroupMemberRow
  on: groupRules.ActTarget
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

/** The acting user leaves by themselves. */
export async function leave(work: Work, guid: string, actor: Actor): Promise<void> {
  const { group, by, acting, member } = await holdScene(work.db, guid, actor, [])
  groupRules.requireMember(acting, guid)
  if (member) await authoriseLeaving(work.db, actor, group, member.scope)
  groupRules.requireMayLeave(acting, guid)
  if (!by || !member) throw groupNotJoined({ guid })
  const smaller = await endMembership(work, group, member)
  await tellMove(work, 'left', smaller, by)
}
