import { conversationOf } from './fetch-own.ts'
import { isAfter, messagesIn } from './messages.ts'
import { forgetConversation } from './own-groups.ts'
import { type Json, type OwnState, without } from './state.ts'

/** What a user does with conversations as such, on whichever device. */

export function markUnread(copy: OwnState, { conversation: { conversationId, lastReadMessageId } }: Json): void {
  const conversation = copy.conversations[conversationId]
  if (!conversation) return
  if (lastReadMessageId === undefined) delete conversation.lastReadMessageId
  else conversation.lastReadMessageId = lastReadMessageId
  for (const message of messagesIn(copy, conversationId)) {
    if (!isAfter(message.id, lastReadMessageId)) continue
    delete message.readByMeAt
    if (message.receiver === copy.uid) delete message.readAt
  }
  const own = conversation.receipts?.[copy.uid]
  if (own && isAfter(conversation.lastMessage, lastReadMessageId)) delete own.readAt
}

export function tag(copy: OwnState, { conversation: { conversationId, tags } }: Json): void {
  const conversation = copy.conversations[conversationId]
  if (!conversation) return
  delete conversation.tags
  if (tags?.length > 0) conversation.tags = tags
}

export function pinConversation(copy: OwnState, { uid, conversation }: Json): void {
  // Nothing need have been said in it.
  if (uid === copy.uid) copy.conversations[conversation.conversationId] ??= conversationOf(conversation)
  const { pinnedBy, pinnedAt } = conversation
  for (const pinned of named(copy, conversation)) Object.assign(pinned, { pinnedBy, pinnedAt })
}

export function unpinConversation(copy: OwnState, { conversation }: Json): void {
  for (const { conversationId: id } of named(copy, conversation)) {
    copy.conversations[id] = without(copy.conversations[id], 'pinnedBy', 'pinnedAt')
  }
}

/** The own conversation, or what is pinned for everyone: named by who it is with. */
function named({ uid, conversations }: OwnState, { conversationId, conversationType }: Json): Json[] {
  return Object.values(conversations).filter(
    (each) =>
      each.conversationId === conversationId ||
      (each.conversationType === conversationType &&
        each.with !== uid &&
        `${conversationType}_${each.with}` === conversationId),
  )
}

/** It leaves the list with all that was said, or stays there empty; what is said next brings it back as it was. */
function resetConversation(copy: OwnState, conversationId: string, keepsPlace: boolean): void {
  const conversation = copy.conversations[conversationId]
  if (!conversation) return
  const ids = messagesIn(copy, conversationId).map(({ id }) => Number(id))
  if (ids.length > 0) conversation.lastReadMessageId = String(Math.max(...ids))
  if (!keepsPlace) conversation.isHidden = true
  forgetConversation(copy, conversationId)
}

export function resetOwn(copy: OwnState, { conversationId, preserveOrder }: Json): void {
  resetConversation(copy, conversationId, preserveOrder)
}

export function deleteForAll(copy: OwnState, { conversationId, keptBy }: Json): void {
  resetConversation(copy, conversationId, keptBy === copy.uid)
  // Nothing is left that could be named.
  if (keptBy === copy.uid) delete copy.conversations[conversationId]?.lastReadMessageId
}
