import { quotaReached } from '../../common/refusals.ts'
import { requestsOfApp, requestsOfUser } from '../../common/request-rates.ts'

import { type Actor, type Caller, Unprepared } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import {
  alreadyJoined,
  bannedFromGroup,
  groupNotFound,
  joiningNotAllowed,
  noVacancy,
  passwordMissing,
  passwordWrong,
} from '../groups/errors.ts'
import {
  enterConversation,
  findMember,
  type GroupMemberRow,
  type GroupRow,
  groupCounts,
  type groupRules,
  holdScene,
  insertMembers,
  type Match,
  placeIn,
  renewPassword,
  requireFewGroups,
  tellMove,
} from '../groups/index.ts'
import { type MembersAdd, membersMax, uidsIn } from '../groups/schemas.ts'
import { permissionDenied } from '../rbac/errors.ts'
import type { Message } from '../timeline/schemas.ts'
import { userNotFound } from '../users/errors.ts'
import { type Guessing, guess } from './guesses.ts'
import { authoriseJoining } from './permissions.ts'

/** Coming into a group by oneself. Two paths lead here, and neither knows a way around what the other has to pass. */

export const joiningErrors = [
  groupNotFound,
  permissionDenied,
  bannedFromGroup,
  alreadyJoined,
  joiningNotAllowed,
  passwordMissing,
  passwordWrong,
  noVacancy,
  quotaReached,
  userNotFound,
]

/** What can be said of a wish to join before the transaction; a password is compared now, since that takes long. */
export async function prepareToJoin(
  call: Guessing,
  group: GroupRow,
  actor: Actor,
  password: string | undefined,
): Promise<Match | undefined> {
  await authoriseJoining(call.db, actor, group)
  const { standing } = await placeIn(call.db, group, actor.uid)
  const asked = requireMayEnter(group, standing, actor.uid, password)
  return asked === undefined ? undefined : guess(call, group, actor.uid, asked)
}

interface Joined {
  group: GroupRow
  member: GroupMemberRow | undefined
  /** What the group is told. */
  message: Message
}

/** Refuses whoever cannot come in by themselves, whatever the password; answers the one to be compared, if any. */
function requireMayEnter(
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
  { guid }: GroupRow,
  actor: Actor,
  password: string | undefined,
  match: Match | undefined,
): Promise<Joined> {
  const { uid } = actor
  const { group, by, acting } = await holdScene(work.db, guid, actor, [])
  await authoriseJoining(work.db, actor, group)
  const asked = requireMayEnter(group, acting, uid, password)
  // The password may have been changed, or have been asked for only now.
  if (!by || (asked !== undefined && match?.hash !== group.password)) throw new Unprepared()
  if (group.members_count >= membersMax) throw noVacancy({ guid })
  requireFewGroups((await groupCounts(work.db, [by])).get(by.id))
  if (asked !== undefined && match?.renewed) await renewPassword(work.db, group, match.renewed)
  const larger = await insertMembers(work, group, [{ user: by, scope: 'participant' }])
  await enterConversation(work, larger, [by])
  const message = await tellMove(work, 'joined', larger, by)
  return { group: larger, member: await findMember(work.db, larger, uid), message }
}

/** Whether a client names nobody but its own user, as a participant: then it does not add, it joins. */
export function isJoining(caller: Caller, { participants = [], ...others }: MembersAdd): boolean {
  if (caller.kind !== 'client' || uidsIn(others).size > 0) return false
  const named = uidsIn({ participants })
  return named.size === 1 && named.has(caller.uid)
}

/** Joining is of the core class. Where only the body tells that it is that, it is counted once the body is read. */
export async function countAsJoining({ db, limits }: Guessing, { uid }: Actor): Promise<void> {
  await limits.count(requestsOfUser.core, [db.appId, uid])
  await limits.count(requestsOfApp.core, [db.appId])
}
