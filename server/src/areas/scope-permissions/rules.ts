import { contentRules, permissionKit } from '../rbac/index.ts'
import type { MemberScope, ScopeSwitch, ScopeValues } from './catalogue.ts'

/**
 * What the scope of an acting member allows in their group. The member's role is asked first, and both must allow; an owner
 * counts as an admin. What meets the clearance of groups (adding, kicking, banning and the like) is decided there.
 */

export function scopeMay(values: ScopeValues, act: ScopeSwitch): boolean {
  return values[act] === 'allow'
}

export function maySendHere(values: ScopeValues, content: contentRules.ContentToJudge, isReply: boolean): boolean {
  return contentRules.maySay(values, content, isReply)
}

export function mayEditHere(values: ScopeValues, isReply: boolean): boolean {
  return scopeMay(values, 'editMessage') && (!isReply || scopeMay(values, 'editThreadedMessage'))
}

export function mayDeleteHere(values: ScopeValues, isReply: boolean): boolean {
  return scopeMay(values, 'deleteMessage') && (!isReply || scopeMay(values, 'deleteThreadedMessage'))
}

/** Whether a member sees what was said at a moment; they may be shown only what came after them. */
export function seesOf(values: ScopeValues, sentAt: number, joinedAt: number): boolean {
  return values['listMessages.historyBeforeJoin'] === 'allow' || sentAt >= joinedAt
}

/** Whether a list may hold a message of the group for a member who joined at a moment; see `notHiddenByScope`. */
export function isMessageListedHere(
  values: ScopeValues,
  { category, type, sentAt }: { category: string; type: string; sentAt: number },
  joinedAt: number,
): boolean {
  return (
    permissionKit.isIn(values['listMessages.allowedMessageCategories'], category) &&
    (category !== 'message' || permissionKit.isIn(values['listMessages.allowedMessageTypes'], type)) &&
    seesOf(values, sentAt, joinedAt)
  )
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
