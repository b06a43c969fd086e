import { permissionKit } from '../rbac/index.ts'
import type { MemberScope, ScopeSwitch, ScopeValues } from './catalogue.ts'

/**
 * What the scope of an acting member allows in their group. The member's role is asked first, and both must allow; an owner
 * counts as an admin.
 */

export function scopeMay(values: ScopeValues, act: ScopeSwitch): boolean {
  return values[act] === 'allow'
}

/** Whether a list of reactions may hold one by a member of this scope. */
export function isReactionListed(values: ScopeValues, by: MemberScope): boolean {
  return permissionKit.isIn(values['listReactions.allowedScopes'], by)
}

/** Whether the list of members may hold one of this scope. */
export function isMemberListed(values: ScopeValues, scope: MemberScope): boolean {
  return permissionKit.isIn(values['listMembers.allowedScopes'], scope)
}

export function mayCallGroup(values: ScopeValues, type: string): boolean {
  return values.initiateCall === 'allow' && permissionKit.isIn(values['initiateCall.allowedType'], type)
}

/** Whether a call to the group rings for a member of this scope. */
export function isRung(values: ScopeValues, scope: MemberScope): boolean {
  return permissionKit.isIn(values['initiateCall.allowedScopes'], scope)
}
