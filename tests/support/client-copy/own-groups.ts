import { comings, goings, noteMember } from './groups.ts'
import { messagesIn } from './messages.ts'
import type { Json, OwnState } from './state.ts'

/** What an action message tells of a group's members; answers whether the user is in the group after it. */
export function noteOwnMember(copy: OwnState, message: Json): boolean {
  const { action, entities, extras } = message.data
  const [group, { uid }] = [entities.for.entity, entities.on.entity]
  if (uid === copy.uid && comings.includes(action)) copy.toFetch.add(group.guid)
  if (uid === copy.uid && goings.includes(action)) {
    leaveGroup(copy, group.guid)
    return false
  }
  noteMember(copy, { action, group, uid, at: message.sentAt, scope: extras?.scope.new })
  if (uid === copy.uid && action === 'scopeChanged') putOwnScope(copy, group.guid, extras.scope.new)
  return true
}

/** With the scope changes whether one may see who is banned; whoever may now has it to fetch. */
export function putOwnScope(copy: OwnState, guid: string, scope: string): void {
  const group = copy.groups[guid]
  if (group) group.scope = scope
  if (scope === 'participant') delete copy.bans[guid]
  else if (!copy.bans[guid]) copy.toFetch.add(guid)
}

export function leaveGroup(copy: OwnState, guid: string): void {
  for (const part of [copy.groups, copy.members, copy.bans]) delete part[guid]
  forgetConversation(copy, `group_${guid}`)
  delete copy.conversations[`group_${guid}`]
  copy.toFetch.delete(guid)
}

/** Nothing that was said is there any more. */
export function forgetConversation(copy: OwnState, conversationId: string): void {
  for (const { id } of messagesIn(copy, conversationId)) delete copy.messages[id]
}
