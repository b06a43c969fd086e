import type { Message } from '../generated/records.ts'
import type { Frame } from '../socket/frame.ts'
import { isAfter } from './address.ts'

/**
 * What a frame makes of a message. Frames say how something is, not how it has changed, so that hearing one again does no
 * harm, and whoever has heard all of them in their order has what a fetch would give.
 */

interface Action {
  action?: string
  entities?: { on?: { entity?: Message } }
}

interface Reacted {
  reaction: string
  count: number
  reactedByMe?: true
}

/** The message after an edit or a deletion, if the frame tells of one. */
export function changedIn({ type, body }: Frame): Message | undefined {
  const { category, type: kind, data } = body as unknown as Message
  if (type !== 'message' || category !== 'action' || kind !== 'message') return undefined
  return (data as Action).entities?.on?.entity
}

/** A message that tells where a frame stands: an edit or a deletion may be the app's, which is neither of the two. */
export function messageIn(frame: Frame): Message | undefined {
  const { type, body } = frame
  const message = changedIn(frame) ?? ((type === 'message' ? body : body.message) as Message | undefined)
  return message?.sender === undefined ? undefined : message
}

/** The same object, where the frame is not about it. */
export function hearOn(message: Message, frame: Frame, me: string): Message {
  const changed = changedIn(frame)
  if (changed) return changed.id === message.id ? replaced(message, changed) : message
  const told = frame.body.message as Message | undefined
  switch (frame.type) {
    case 'reaction':
      return told?.id === message.id ? reacted(message, frame, me) : message
    case 'pin':
      return told?.id === message.id ? pinned(message, told, frame.body.action === 'pinned') : message
    case 'save':
      return told?.id === message.id ? saved(message, told, frame.body.action === 'saved') : message
    case 'receipts':
      return received(message, frame, me)
    case 'thread':
      if (frame.body.messageId !== message.id) return message
      return { ...message, threadSubscribed: frame.body.action === 'followed' }
    default:
      return message
  }
}

/** All but what is the user's own, and what an edit does not touch. */
function replaced(before: Message, changed: Message): Message {
  const own = only(before, 'savedAt', 'threadSubscribed', 'deliveredToMeAt', 'readByMeAt', 'unreadRepliesCount')
  const kept = changed.deletedAt === undefined ? only(before.data, 'reactions', 'interactions') : {}
  return { ...changed, ...own, data: { ...changed.data, ...kept } }
}

/** Counts are taken as they are told; whether the user is among them is known here alone. */
function reacted(message: Message, { body }: Frame, me: string): Message {
  const { uid, reaction } = body.reaction as { uid: string; reaction: string }
  const own = new Set((message.data.reactions as Reacted[] | undefined)?.filter(isMine).map((each) => each.reaction))
  if (uid === me && body.action === 'added') own.add(reaction)
  if (uid === me && body.action === 'removed') own.delete(reaction)
  const counts = ((body.message as Message).data.reactions as Reacted[] | undefined) ?? []
  const { reactions: _, ...data } = message.data
  const reactions = counts.map(({ reactedByMe: __, ...each }) =>
    own.has(each.reaction) ? { ...each, reactedByMe: true } : each,
  )
  return { ...message, data: reactions.length > 0 ? { ...data, reactions } : data }
}

const isMine = ({ reactedByMe }: Reacted) => reactedByMe === true

function pinned(message: Message, told: Message, isPinned: boolean): Message {
  const { pinnedBy: _, pinnedAt: __, ...rest } = message
  return isPinned ? { ...rest, ...only(told, 'pinnedBy', 'pinnedAt') } : rest
}

function saved(message: Message, told: Message, isSaved: boolean): Message {
  const { savedAt: _, ...rest } = message
  return isSaved ? { ...rest, ...only(told, 'savedAt') } : rest
}

interface Receipt {
  action: string
  upTo: string
  messageId: string
  timestamp: number
}

/** Receipts are for all up to a message, and only move forward. */
function received(message: Message, { sender, receiverType, body }: Frame, me: string): Message {
  const { action, upTo, messageId, timestamp } = body as unknown as Receipt
  const isOfAll = action.endsWith('All')
  if (message.sender === sender || isAfter(message.id, isOfAll ? messageId : upTo)) return message
  const isRead = action.startsWith('read')
  const told = isOfAll || (receiverType === 'user' && message.receiver === sender)
  const next = told ? withTimes(message, 'deliveredAt', isRead && 'readAt', timestamp) : message
  return sender === me ? withTimes(next, 'deliveredToMeAt', isRead && 'readByMeAt', timestamp) : next
}

type Time = 'deliveredAt' | 'readAt' | 'deliveredToMeAt' | 'readByMeAt'

function withTimes(message: Message, first: Time, second: Time | false, at: number): Message {
  const names = [first, ...(second ? [second] : [])].filter((name) => message[name] === undefined)
  return names.length === 0 ? message : { ...message, ...Object.fromEntries(names.map((name) => [name, at])) }
}

function only<Whole extends object>(whole: Whole, ...names: (keyof Whole)[]): Partial<Whole> {
  return Object.fromEntries(names.flatMap((name) => (name in whole ? [[name, whole[name]]] : []))) as Partial<Whole>
}
