import {
  bannedFromGroup,
  groupNotJoined,
  noAdminScope,
  noClearance,
  noModeratorScope,
  noScopeClearance,
  noSelfAction,
} from './errors.ts'
import type { GroupType, MemberScope } from './schemas.ts'

/**
 * Who may do what in a group. An API key that acts for nobody is the app itself and may do everything; a user goes by
 * what they are in the group. Each function refuses with the code that the act has for it.
 */
export type Standing = 'owner' | MemberScope | 'outsider' | 'banned'
export type Acting = Standing | 'server'

/** What an act is done to: a user in some standing, and whether that is the acting one. */
export interface ActTarget {
  standing: Standing
  self: boolean
}

/** Refuses whoever is not in the group. */
export function requireMember(acting: Acting, guid: string): void {
  if (acting === 'banned') throw bannedFromGroup({ guid })
  if (acting === 'outsider') throw groupNotJoined({ guid })
}

/** Everyone sees groups that they could join; private ones only their members, and none who is banned. */
export function requireMayRead(acting: Acting, type: GroupType, guid: string): void {
  if (type === 'private' || acting === 'banned') requireMember(acting, guid)
}

const admins: Acting[] = ['server', 'owner', 'admin']
const moderators: Acting[] = [...admins, 'moderator']

/** Acts that need a scope, and that a group can allow or deny to a scope by itself. */
export type GroupAct = 'editGroup' | 'deleteGroup' | 'addMembers' | 'kickMembers' | 'ban' | 'unban' | 'listBannedUsers'

interface Clearance {
  /** Who may, where the group has set nothing. */
  cleared: Acting[]
  /** What others count as whom the group allows it. */
  granted: 'admin' | 'moderator'
  /** Somebody must always be able to. */
  isOwners?: true
}

const moderated: Clearance = { cleared: moderators, granted: 'moderator' }
const clearances: Record<GroupAct, Clearance> = {
  editGroup: { cleared: moderators, granted: 'admin', isOwners: true },
  deleteGroup: { cleared: admins, granted: 'admin', isOwners: true },
  addMembers: { cleared: admins, granted: 'admin' },
  kickMembers: moderated,
  ban: moderated,
  unban: moderated,
  listBannedUsers: moderated,
}

/**
 * As what a member does an act, with what the group has set for their scope: where that is nothing, as what they are, and
 * the rules below decide.
 */
export function actingWith(acting: Acting, act: GroupAct, word: 'allow' | 'deny' | undefined): Acting | 'denied' {
  const { cleared, granted, isOwners } = clearances[act]
  if (word === 'deny') return isOwners && acting === 'owner' ? acting : 'denied'
  return word === 'allow' && !cleared.includes(acting) ? granted : acting
}

/** For deleting the group and adding members. */
export function requireAdmin(acting: Acting, guid: string): void {
  requireMember(acting, guid)
  if (!admins.includes(acting)) throw noAdminScope({ guid })
}

/** For changing the group and seeing who is banned. */
export function requireModerator(acting: Acting, guid: string): void {
  requireMember(acting, guid)
  if (!moderators.includes(acting)) throw noModeratorScope({ guid })
}

export function requireMayUnban(acting: Acting, guid: string): void {
  requireMember(acting, guid)
  if (!moderators.includes(acting)) throw noClearance({ guid })
}

/** Kicking and banning. Who was never in the group is banned as a participant would be. */
export function requireMayRemove(acting: Acting, target: ActTarget, guid: string): void {
  requireMayAct(acting, target, guid)
  if (!mayRemove(acting, target.standing)) throw noClearance({ guid })
}

function mayRemove(acting: Acting, target: Standing): boolean {
  if (acting === 'server') return true
  if (target === 'owner') return false
  if (admins.includes(acting)) return true
  return acting === 'moderator' && target !== 'admin' && target !== 'moderator'
}

export function requireMayRescope(acting: Acting, target: ActTarget, to: MemberScope, guid: string): void {
  requireMayAct(acting, target, guid)
  if (!mayRescope(acting, target.standing, to)) throw noScopeClearance({ guid })
}

/** An owner is always an admin: not even the app makes one anything else before the group has another owner. */
function mayRescope(acting: Acting, target: Standing, to: MemberScope): boolean {
  if (target === 'owner') return acting === 'server' && to === 'admin'
  if (acting === 'server' || acting === 'owner') return true
  if (acting === 'admin') return target !== 'admin'
  return acting === 'moderator' && target === 'participant' && to !== 'admin'
}

function requireMayAct(acting: Acting, { self }: ActTarget, guid: string): void {
  requireMember(acting, guid)
  if (self) throw noSelfAction({ guid })
}

export function requireMayTransfer(acting: Acting, self: boolean, guid: string): void {
  requireMember(acting, guid)
  if (acting !== 'owner') throw noClearance({ guid })
  if (self) throw noSelfAction({ guid })
}

/** An owner hands the group over first. */
export function requireMayLeave(acting: Acting, guid: string): void {
  requireMember(acting, guid)
  if (acting === 'owner') throw noSelfAction({ guid })
}
