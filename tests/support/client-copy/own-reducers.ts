import { callActions } from '../../../server/src/areas/calls/call-messages.ts'
import { putGroup, putOwner } from './groups.ts'
import { countReaction, hearReceiptOfAll, pin, purgeMessage, unpin } from './messages.ts'
import { deleteForAll, markUnread, pinConversation, resetOwn, tag, unpinConversation } from './own-conversations.ts'
import { leaveGroup, putOwnScope } from './own-groups.ts'
import { hearAction, hearCall, hearMessage, hearReceipt } from './own-messages.ts'
import type { Json, OwnState } from './state.ts'

/** What an event does to a copy; or why it does nothing. */
export type Reducers<State> = Record<string, ((copy: State, payload: Json) => void) | string>

const backEnd = 'It is the back end’s affair.'
const byAction = 'The action message tells of it.'
const inside = 'It is for the server’s own parts; what users see of it has events of its own.'
const byCall = 'Whoever hears of a call fetches its record, in which minutes run.'

/** The same in every copy. */
export const ofCalls = {
  'call.initiated': byCall,
  'call.participantJoined': byCall,
  'call.participantLeft': byCall,
  'call.rejected': byCall,
  'call.canceled': byCall,
  'call.unanswered': byCall,
  'call.ended': byCall,
  'call.recorded': byCall,
  'call.transcribed': byCall,
}

/** Every step of a call that rings has a message. */
export const ofSteps = <State>(reducer: (copy: State, payload: Json) => void): Reducers<State> =>
  Object.fromEntries([...callActions, 'declined'].map((action) => [`callMessage.${action}`, reducer]))

export const ownReducers: Reducers<OwnState> = {
  'app.created': backEnd,
  'app.archived': backEnd,
  'app.settingsChanged': backEnd,
  'apiKey.created': backEnd,
  'apiKey.updated': backEnd,
  'apiKey.deleted': backEnd,
  'authToken.created': backEnd,
  'authToken.updated': backEnd,
  'authToken.deleted': backEnd,
  'authToken.flushed': backEnd,
  'collaborator.added': backEnd,
  'collaborator.moved': backEnd,
  'collaborator.removed': backEnd,
  'role.created': backEnd,
  'role.updated': backEnd,
  'role.deleted': backEnd,
  'role.permissionsChanged': backEnd,
  'role.featuresRestricted': backEnd,
  'role.featuresAllowed': backEnd,
  'group.permissionsChanged': backEnd,

  'user.created': 'Lists of users are fetched when they are looked at.',
  'user.updated': (copy, { user }) => {
    copy.me = user
  },
  'user.deactivated': 'Their client is logged out.',
  'user.reactivated': 'Their client was logged out.',
  'user.deleted': 'Their client is logged out.',
  'user.blocked': (copy, { by, user, at }) => {
    const [other, since] = by.uid === copy.uid ? [user, 'blockedByMeAt'] : [by, 'hasBlockedMeAt']
    copy.blocks[other.uid] = { ...copy.blocks[other.uid], [since]: at }
  },
  'user.unblocked': (copy, { by, user }) => {
    const [other, since] = by.uid === copy.uid ? [user, 'blockedByMeAt'] : [by, 'hasBlockedMeAt']
    const { [since]: _, ...left } = copy.blocks[other.uid] ?? {}
    if (Object.keys(left).length > 0) copy.blocks[other.uid] = left
    else delete copy.blocks[other.uid]
  },
  'friend.added': (copy, { user, friend }) => {
    copy.friends[user.uid === copy.uid ? friend.uid : user.uid] = true
  },
  'friend.removed': (copy, { uid, friendUid }) => {
    delete copy.friends[uid === copy.uid ? friendUid : uid]
  },

  'group.created': (copy, { group }) => {
    copy.toFetch.add(group.guid)
  },
  'group.updated': (copy, { group }) => putGroup(copy, group),
  'group.deleted': (copy, { group }) => leaveGroup(copy, group.guid),
  'group.ownerTransferred': (copy, payload) => {
    putOwner(copy, payload)
    if (payload.group.owner === copy.uid) putOwnScope(copy, payload.group.guid, 'admin')
  },
  'group.memberJoined': byAction,
  'group.memberLeft': byAction,
  'group.memberAdded': byAction,
  'group.memberKicked': byAction,
  'group.memberBanned': byAction,
  'group.memberUnbanned': byAction,
  'group.memberScopeChanged': byAction,
  'group.memberForgotten': (copy, { guid, uid, group }) => {
    delete copy.members[guid]?.[uid]
    if (group) putGroup(copy, group)
  },

  'message.sent': hearMessage,
  'message.actionWritten': hearAction,
  'message.edited': byAction,
  'message.deleted': byAction,
  'message.purged': (copy, { message }) => purgeMessage(copy, message.id),
  'messages.purged': (copy, { ids }) => {
    for (const id of ids) purgeMessage(copy, id)
  },
  'messages.erased': inside,
  'messages.cleared': inside,
  'receipt.delivered': hearReceipt('delivered'),
  'receipt.read': hearReceipt('read'),
  'receipt.deliveredToAll': hearReceiptOfAll('delivered'),
  'receipt.readByAll': hearReceiptOfAll('read'),
  'reaction.added': (copy, { reaction }) => countReaction(copy, reaction, 1, reaction.uid === copy.uid),
  'reaction.removed': (copy, { reaction }) => countReaction(copy, reaction, -1, reaction.uid === copy.uid),
  'message.pinned': pin,
  'message.unpinned': unpin,
  'message.saved': (copy, { message: { id, savedAt } }) => {
    if (copy.messages[id]) copy.messages[id].savedAt = savedAt
  },
  'message.unsaved': (copy, { message: { id } }) => {
    delete copy.messages[id]?.savedAt
  },
  'thread.followed': (copy, { messageId }) => {
    if (copy.messages[messageId]) copy.messages[messageId].threadSubscribed = true
  },
  'thread.unfollowed': (copy, { messageId }) => {
    if (copy.messages[messageId]) copy.messages[messageId].threadSubscribed = false
  },
  'interaction.goalCompleted': (copy, { messageId, sender, interactions }) => {
    const message = copy.messages[messageId]
    if (message && sender.uid === copy.uid) message.data.interactions = interactions
  },

  'conversation.opened': (copy, { conversationId, createdAt, between }) => {
    copy.conversations[conversationId] ??= {
      conversationId,
      conversationType: 'user',
      with: between?.find((uid: string) => uid !== copy.uid),
      createdAt,
      updatedAt: createdAt,
    }
  },
  'conversation.markedUnread': markUnread,
  'conversation.tagged': tag,
  'conversation.pinned': pinConversation,
  'conversation.unpinned': unpinConversation,
  'conversation.reset': resetOwn,
  'conversation.deleted': deleteForAll,

  ...ofCalls,
  ...ofSteps(hearCall),
}
