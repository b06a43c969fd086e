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
  const own = copy.groups[group.guid]
  if (own && uid === copy.uid && action === 'scopeChanged') {
    own.scope = extras.scope.new
    // Who may see the bans has them to fetch.
    copy.toFetch.add(group.guid)
  }
  return true
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
