import type { EventPayloads } from '../generated/events.ts'
import type { Group, Message, User } from '../generated/records.ts'
import type { Frame, FrameBody } from '../socket/frame.ts'
import type { LiveUser } from '../sync/session.ts'

/** What frames tell, as events: one name for each thing that can happen, and one payload for each name. */

type Told<Name extends keyof EventPayloads> = Omit<EventPayloads[Name], 'audience'>

/** Somebody came into a group, left it, or may do something else in it; `message` tells of it in the history. */
interface MemberChange {
  group: Group
  user: User
  by: User
  message: Message
}

interface Pinned {
  message: Message
  by: string
  at: number
}

interface Typing {
  user: LiveUser
  /** Whom they write to: this user, or a group. */
  receiver: string
  receiverType: 'user' | 'group'
  metadata?: unknown
}

export interface ClientEvents {
  /** Of others, and of the user's other devices. */
  'message.received': { message: Message }
  'message.edited': { message: Message; by: User }
  'message.deleted': { message: Message; by: User }
  'messages.purged': Told<'messages.purged'>
  'message.pinned': Pinned
  'message.unpinned': Pinned
  'message.saved': { message: Message }
  'message.unsaved': { message: Message }
  'member.joined': MemberChange
  'member.added': MemberChange
  'member.left': MemberChange
  'member.kicked': MemberChange
  'member.banned': MemberChange
  'member.unbanned': MemberChange
  'member.scopeChanged': MemberChange
  'receipt.delivered': Told<'receipt.delivered'>
  'receipt.read': Told<'receipt.read'>
  'receipt.deliveredToAll': Told<'receipt.deliveredToAll'>
  'receipt.readByAll': Told<'receipt.readByAll'>
  'reaction.added': Told<'reaction.added'>
  'reaction.removed': Told<'reaction.removed'>
  'conversation.pinned': Told<'conversation.pinned'>
  'conversation.unpinned': Told<'conversation.unpinned'>
  'conversation.unread': Pick<EventPayloads['conversation.markedUnread'], 'conversation'>
  'conversation.tagged': Told<'conversation.tagged'>
  'conversation.opened': Told<'conversation.opened'>
  'conversation.reset': Told<'conversation.reset'>
  'conversation.deleted': Told<'conversation.deleted'>
  'group.created': { group: Group }
  'group.updated': { group: Group }
  'group.ownerChanged': { group: Group; oldOwner: string }
  /** The account of a member is gone. */
  'group.memberForgotten': Told<'group.memberForgotten'>
  'group.deleted': { group: Group }
  'interaction.goalCompleted': Told<'interaction.goalCompleted'>
  'thread.followed': Told<'thread.followed'>
  'thread.unfollowed': Told<'thread.unfollowed'>
  'user.updated': Told<'user.updated'>
  'user.blocked': Told<'user.blocked'>
  'user.unblocked': Told<'user.unblocked'>
  /** The user's own account, before the session ends. */
  'user.deactivated': Told<'user.deactivated'>
  'user.deleted': Told<'user.deleted'>
  'friend.added': Told<'friend.added'>
  'friend.removed': Told<'friend.removed'>
  'presence.online': { user: LiveUser }
  'presence.offline': { user: LiveUser }
  'typing.started': Typing
  'typing.ended': Typing
  'transient.received': { user: LiveUser; receiver: string; receiverType: 'user' | 'group'; data: unknown }
  'call.initiated': Told<'call.initiated'>
  'call.participantJoined': Told<'call.participantJoined'>
  'call.participantLeft': Told<'call.participantLeft'>
  'call.rejected': Told<'call.rejected'>
  'call.canceled': Told<'call.canceled'>
  'call.unanswered': Told<'call.unanswered'>
  'call.ended': Told<'call.ended'>
  'call.recorded': Told<'call.recorded'>
  'call.transcribed': Told<'call.transcribed'>
  /** Something is used too often, and was not done. */
  throttled: { feature: string }
}

export type EventName = keyof ClientEvents

/** Frames whose type is not what the event is about. */
const subjects: Record<string, string> = {
  pin: 'message',
  save: 'message',
  receipts: 'receipt',
  typing_indicator: 'typing',
}

/** The event that a frame tells of; servers may be newer than this SDK, and then nobody listens. */
export function eventOf({ type, body, ...envelope }: Frame): { name: string; payload: object } {
  const { action, ...rest } = body
  const { position: _, ref: __, ...addressed } = envelope
  const isAddressed = ['receipts', 'typing_indicator', 'transient_message'].includes(type)
  const payload = isAddressed ? { ...addressed, ...rest } : rest
  if (type === 'message') return messageEvent(body)
  if (type === 'transient_message') return { name: 'transient.received', payload }
  if (action === undefined) return { name: type, payload }
  return { name: `${subjects[type] ?? type}.${action}`, payload }
}

interface Action {
  action: string
  entities: { by: { entity: unknown }; on: { entity: unknown }; for: { entity: unknown } }
}

/** Edits, deletions and members are told by messages of the history. */
function messageEvent(body: FrameBody): { name: string; payload: object } {
  const message = body as unknown as Message
  const { action, entities } = message.data as unknown as Action
  if (message.category !== 'action' || !entities) return { name: 'message.received', payload: { message } }
  const by = entities.by?.entity
  if (message.type === 'message') return { name: `message.${action}`, payload: { message: entities.on.entity, by } }
  const payload = { group: entities.for?.entity, user: entities.on?.entity, by, message }
  return { name: `member.${action}`, payload }
}
