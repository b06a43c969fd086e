import { type Json, type Messages, only, without } from './state.ts'

/** What becomes of the messages in a copy, whoever keeps it. */

export const isAfter = (id: string, other: string | undefined) => Number(id) > Number(other ?? 0)

export function messagesIn({ messages }: Messages, conversationId: string): Json[] {
  return Object.values(messages).filter((message) => message.conversationId === conversationId)
}

/** A reply shows on the message that began its thread. */
export function countReply({ messages }: Messages, { parentId, sentAt }: Json): void {
  const parent = messages[parentId]
  if (!parent) return
  parent.replyCount = (parent.replyCount ?? 0) + 1
  parent.updatedAt = sentAt
}

/** An edited or deleted message takes the place of the one before, but for what is the viewer's own. */
export function replaceMessage(copy: Messages, changed: Json): void {
  const before = copy.messages[changed.id]
  if (!before) return
  const isDeleted = changed.deletedAt !== undefined
  copy.messages[changed.id] = {
    ...changed,
    ...only(before, 'savedAt', 'threadSubscribed', 'deliveredToMeAt', 'readByMeAt'),
    data: { ...changed.data, ...(!isDeleted && only(before.data, 'reactions', 'interactions')) },
  }
  if (isDeleted) blankHistory(copy, changed.id, withoutContent)
}

/** What a message has lost is no longer in the history of its edits either. */
function blankHistory({ messages }: Messages, id: string, left: (told: Json) => Json): void {
  for (const { category, data } of Object.values(messages)) {
    const on = category === 'action' ? data.entities.on : undefined
    if (on?.entityType === 'message' && on.entity.id === id) on.entity = left(on.entity)
  }
}

/** The content is gone; that there was a message is not. */
export function clearMessage(copy: Messages, id: string, deletion: Json): void {
  const message = copy.messages[id]
  if (message) replaceMessage(copy, { ...without(withoutContent(message), 'pinnedBy', 'pinnedAt'), ...deletion })
}

function withoutContent(told: Json): Json {
  return { ...without(told, 'tags', 'quotedMessage'), data: { entities: told.data.entities } }
}

function withoutTrace({ id, conversationId, category, type, sentAt }: Json): Json {
  return { id, conversationId, category, type, sentAt, data: {} }
}

/** A message that is gone for good takes its thread along. */
export function purgeMessage(copy: Messages, id: string): void {
  const { messages } = copy
  const replies = Object.values(messages).filter(({ parentId }) => parentId === id)
  const parent = messages[messages[id]?.parentId]
  if (parent) {
    parent.replyCount -= 1
    if (parent.replyCount === 0) delete parent.replyCount
  }
  for (const gone of [id, ...replies.map((reply) => reply.id)]) {
    delete messages[gone]
    blankHistory(copy, gone, withoutTrace)
  }
}

/** One more, or one less, of a reaction; `isOwn` if it is the viewer's. */
export function countReaction({ messages }: Messages, { messageId, reaction }: Json, by: 1 | -1, isOwn: boolean): void {
  const message = messages[messageId]
  if (!message) return
  const all: Json[] = message.data.reactions ?? []
  if (!all.some((each) => each.reaction === reaction)) all.push({ reaction, count: 0 })
  const counted = all.find((each) => each.reaction === reaction)
  counted.count += by
  if (isOwn) counted.reactedByMe = by === 1 ? true : undefined
  const left = all.filter(({ count }) => count > 0).map((each) => only(each, 'reaction', 'count', 'reactedByMe'))
  message.data = { ...without(message.data, 'reactions'), ...(left.length > 0 && { reactions: left }) }
}

export function pin({ messages }: Messages, { message: { id, pinnedBy, pinnedAt } }: Json): void {
  if (messages[id]) Object.assign(messages[id], { pinnedBy, pinnedAt })
}

export function unpin({ messages }: Messages, { message: { id } }: Json): void {
  if (messages[id]) messages[id] = without(messages[id], 'pinnedBy', 'pinnedAt')
}

/** Everything up to a message was received, or read: by the other of two, or by everybody in a group. */
export function noteReceipt(message: Json, kind: 'delivered' | 'read', at: number): void {
  message.deliveredAt ??= at
  if (kind === 'read') message.readAt ??= at
  message.updatedAt = Math.max(message.updatedAt, message.deliveredAt, message.readAt ?? 0)
}

/** The same, told to whoever waits for everybody in a group. */
export function hearReceiptOfAll(kind: 'delivered' | 'read') {
  return (copy: Messages, { conversationId, messageId, timestamp }: Json): void => {
    for (const message of messagesIn(copy, conversationId)) {
      if (!isAfter(message.id, messageId)) noteReceipt(message, kind, timestamp)
    }
  }
}
