import { countReply, isAfter, messagesIn, noteReceipt, replaceMessage } from './messages.ts'
import { noteOwnMember } from './own-groups.ts'
import { type Json, type OwnState, without } from './state.ts'

/** What becomes of conversations in a user's copy by what is said and read in them. */

export function hearMessage(copy: OwnState, { message, mentioned }: Json): void {
  addMessage(copy, message)
  countReply(copy, message)
  const parent = copy.messages[message.parentId]
  if (parent && [message.sender, ...mentioned].includes(copy.uid)) parent.threadSubscribed = true
  const conversation = copy.conversations[message.conversationId]
  // Whoever speaks has read what was said.
  if (conversation && message.sender === copy.uid) conversation.lastReadMessageId = message.id
}

export function hearAction(copy: OwnState, { message }: Json): void {
  const { action, entities } = message.data
  if (message.type === 'groupMember' && !noteOwnMember(copy, message)) return
  addMessage(copy, message)
  if (message.type === 'message' && ['edited', 'deleted'].includes(action)) replaceMessage(copy, entities.on.entity)
}

export function hearCall(copy: OwnState, { message }: Json): void {
  addMessage(copy, message)
}

function addMessage(copy: OwnState, message: Json): void {
  const { uid, messages, conversations } = copy
  const { conversationId, id, sentAt, sender, receiver, receiverType } = message
  messages[id] = { ...without(message, 'quotedMessage'), threadSubscribed: sender === uid }
  conversations[conversationId] ??= {
    conversationId,
    conversationType: receiverType,
    with: receiverType === 'group' || sender === uid ? receiver : sender,
    createdAt: sentAt,
    updatedAt: sentAt,
  }
  if (!isShown(message)) return
  const conversation = conversations[conversationId]
  // What a reset took out of the list comes back.
  delete conversation.isHidden
  conversation.updatedAt = Math.max(conversation.updatedAt, sentAt)
  Object.assign(conversation, { lastMessage: id, receipts: {} })
}

/** As apps are set unless they say otherwise: edits, deletions and calls are quiet. */
const isShown = ({ category, type }: Json) => category !== 'call' && (category !== 'action' || type === 'groupMember')

/** Replies are unread in their threads, not in the conversation. */
const isCounted = (message: Json) => isShown(message) && message.parentId === undefined

export function hearReceipt(kind: 'delivered' | 'read') {
  return (copy: OwnState, { conversationId, upTo, receiverType, sender, timestamp }: Json): void => {
    const conversation = copy.conversations[conversationId]
    const passed = messagesIn(copy, conversationId).filter((each) => !isAfter(each.id, upTo) && each.sender !== sender)
    for (const message of passed) {
      if (receiverType === 'user' && message.receiver === sender) noteReceipt(message, kind, timestamp)
      if (sender === copy.uid) noteOwnReceipt(message, kind, timestamp)
      if (conversation?.lastMessage === message.id) noteReceiptOfLast(conversation, sender, kind, timestamp)
    }
    if (sender !== copy.uid || kind !== 'read' || !conversation) return
    if (isAfter(upTo, conversation.lastReadMessageId)) conversation.lastReadMessageId = upTo
  }
}

function noteReceiptOfLast({ receipts }: Json, uid: string, kind: 'delivered' | 'read', at: number): void {
  receipts[uid] ??= { deliveredAt: at }
  if (kind === 'read') receipts[uid].readAt ??= at
}

function noteOwnReceipt(message: Json, kind: 'delivered' | 'read', at: number): void {
  message.deliveredToMeAt ??= at
  if (kind === 'read') message.readByMeAt ??= at
}

/** What is unread follows from what was said, and how far the user has read. */
export function recount(copy: OwnState): void {
  const isUnread = (message: Json) =>
    isAfter(message.id, copy.conversations[message.conversationId]?.lastReadMessageId) &&
    message.sender !== copy.uid &&
    message.deletedAt === undefined &&
    copy.blocks[message.sender]?.blockedByMeAt === undefined
  for (const conversation of Object.values(copy.conversations)) {
    const unread = messagesIn(copy, conversation.conversationId).filter((each) => isCounted(each) && isUnread(each))
    conversation.unreadMessageCount = String(unread.length)
    conversation.unreadMentionsCount = unread.filter(({ data }) => copy.uid in (data.mentions ?? {})).length
    const last = copy.messages[conversation.lastMessage]
    if (last && last.deletedAt === undefined) continue
    delete conversation.lastMessage
    delete conversation.receipts
  }
  const replies = Object.groupBy(Object.values(copy.messages), ({ parentId }) => parentId ?? '')
  for (const message of Object.values(copy.messages)) {
    delete message.unreadRepliesCount
    if (message.replyCount > 0) message.unreadRepliesCount = (replies[message.id] ?? []).filter(isUnread).length
  }
}
