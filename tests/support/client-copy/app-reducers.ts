import { prefixedKey } from '../../../server/src/areas/restricted-features/index.ts'
import { scopeWatched } from './fetch-app.ts'
import { dropGroup, noteMember, putGroup, putOwner } from './groups.ts'
import {
  clearMessage,
  countReaction,
  countReply,
  hearReceiptOfAll,
  isAfter,
  messagesIn,
  noteReceipt,
  pin,
  purgeMessage,
  replaceMessage,
  unpin,
} from './messages.ts'
import { ofCalls, ofSteps, type Reducers } from './own-reducers.ts'
import { type AppState, type Json, without } from './state.ts'

const secret = 'Keys and tokens are never told, and the copy has none.'
const ofUsers = 'Sides of conversations are kept by the users whose they are.'
const ended = 'Nothing of the app is shown any more.'

function noteDeed(action: string) {
  return (copy: AppState, { group, user, message, scope }: Json) =>
    noteMember(copy, { action, group, uid: user.uid, at: message.sentAt, scope })
}

function addMessage(copy: AppState, message: Json): void {
  copy.messages[message.id] = without(message, 'quotedMessage')
}

function hearReceipt(kind: 'delivered' | 'read') {
  return (copy: AppState, { conversationId, upTo, receiverType, sender, timestamp }: Json) => {
    if (receiverType === 'group') return
    for (const message of messagesIn(copy, conversationId)) {
      if (!isAfter(message.id, upTo) && message.receiver === sender) noteReceipt(message, kind, timestamp)
    }
  }
}

export const appReducers: Reducers<AppState> = {
  'app.created': 'The copy begins later.',
  'app.archived': ended,
  'app.settingsChanged': (copy, { settings }) => Object.assign(copy.settings, settings),
  'apiKey.created': secret,
  'apiKey.updated': secret,
  'apiKey.deleted': secret,
  'authToken.created': secret,
  'authToken.updated': secret,
  'authToken.deleted': secret,
  'authToken.flushed': secret,
  'collaborator.added': (copy, { email, role }) => {
    copy.team[email] = role
  },
  'collaborator.moved': (copy, { email, role }) => {
    copy.team[email] = role
  },
  'collaborator.removed': (copy, { email }) => {
    delete copy.team[email]
  },
  'role.created': (copy, { role }) => {
    copy.roles[role.role] = role
    copy.permissions[role.role] = copy.usual.role
    copy.restricted[role.role] = {}
  },
  'role.updated': (copy, { role }) => {
    copy.roles[role.role] = role
  },
  'role.deleted': (copy, { role: { role } }) => {
    for (const part of [copy.roles, copy.permissions, copy.restricted]) delete part[role]
  },
  'role.permissionsChanged': (copy, { role, permissions }) => {
    copy.permissions[role] = permissions
  },
  'role.featuresRestricted': (copy, { role, features }) => {
    for (const key of features) Object.assign(copy.restricted[role] ?? {}, { [prefixedKey(key)]: true })
  },
  'role.featuresAllowed': (copy, { role, features }) => {
    for (const key of features) delete copy.restricted[role]?.[prefixedKey(key)]
  },
  'group.permissionsChanged': (copy, { guid, scope, permissions }) => {
    if (scope === scopeWatched) copy.scopes[guid] = permissions
  },

  'user.created': (copy, { user }) => {
    copy.users[user.uid] = user
    copy.friends[user.uid] = {}
    copy.blocks[user.uid] = {}
  },
  'user.updated': (copy, { user }) => {
    copy.users[user.uid] = user
  },
  'user.deactivated': (copy, { uid, at }) => {
    copy.users[uid].deactivatedAt = at
  },
  'user.reactivated': (copy, { uid, at }) => {
    delete copy.users[uid].deactivatedAt
    copy.users[uid].updatedAt = at
  },
  'user.deleted': (copy, { uid }) => {
    delete copy.users[uid]
    delete copy.friends[uid]
    delete copy.blocks[uid]
    for (const blocked of Object.values(copy.blocks)) delete blocked[uid]
    for (const banned of Object.values(copy.bans)) delete banned[uid]
  },
  'user.blocked': (copy, { by, user, at }) => {
    Object.assign(copy.blocks[by.uid] ?? {}, { [user.uid]: at })
  },
  'user.unblocked': (copy, { by, user }) => {
    delete copy.blocks[by.uid]?.[user.uid]
  },
  'friend.added': (copy, { user, friend }) => {
    Object.assign(copy.friends[user.uid] ?? {}, { [friend.uid]: true })
    Object.assign(copy.friends[friend.uid] ?? {}, { [user.uid]: true })
  },
  'friend.removed': (copy, { uid, friendUid }) => {
    delete copy.friends[uid]?.[friendUid]
    delete copy.friends[friendUid]?.[uid]
  },

  'group.created': (copy, { group }) => {
    putGroup(copy, group)
    copy.members[group.guid] =
      group.owner in copy.users ? { [group.owner]: { scope: 'admin', joinedAt: group.createdAt } } : {}
    copy.bans[group.guid] = {}
    copy.scopes[group.guid] = copy.usual.scope
  },
  'group.updated': (copy, { group }) => putGroup(copy, group),
  'group.deleted': (copy, { group }) => {
    dropGroup(copy, group.guid)
    delete copy.scopes[group.guid]
  },
  'group.ownerTransferred': putOwner,
  'group.memberJoined': noteDeed('joined'),
  'group.memberLeft': noteDeed('left'),
  'group.memberAdded': noteDeed('added'),
  'group.memberKicked': noteDeed('kicked'),
  'group.memberBanned': noteDeed('banned'),
  'group.memberUnbanned': noteDeed('unbanned'),
  'group.memberScopeChanged': noteDeed('scopeChanged'),
  'group.memberForgotten': (copy, { guid, uid, group }) => {
    delete copy.members[guid]?.[uid]
    if (group) putGroup(copy, group)
  },

  'message.sent': (copy, { message }) => {
    addMessage(copy, message)
    countReply(copy, message)
  },
  'message.actionWritten': (copy, { message }) => addMessage(copy, message),
  'message.edited': (copy, { message }) => replaceMessage(copy, without(message, 'quotedMessage')),
  'message.deleted': (copy, { message }) => replaceMessage(copy, without(message, 'quotedMessage')),
  'message.purged': (copy, { message }) => purgeMessage(copy, message.id),
  'messages.purged': 'What is erased has an event of its own.',
  'messages.erased': (copy, { ids }) => {
    for (const id of ids) purgeMessage(copy, String(id))
  },
  'messages.cleared': (copy, { ids, by, at }) => {
    for (const id of ids) clearMessage(copy, id, { deletedBy: by, deletedAt: at, updatedAt: at })
  },
  'receipt.delivered': hearReceipt('delivered'),
  'receipt.read': hearReceipt('read'),
  'receipt.deliveredToAll': hearReceiptOfAll('delivered'),
  'receipt.readByAll': hearReceiptOfAll('read'),
  'reaction.added': (copy, { reaction }) => countReaction(copy, reaction, 1, false),
  'reaction.removed': (copy, { reaction }) => countReaction(copy, reaction, -1, false),
  'message.pinned': pin,
  'message.unpinned': unpin,
  'message.saved': ofUsers,
  'message.unsaved': ofUsers,
  'thread.followed': ofUsers,
  'thread.unfollowed': ofUsers,
  'interaction.goalCompleted': ofUsers,

  'conversation.opened': ofUsers,
  'conversation.markedUnread': (copy, { uid, conversation: { conversationId, lastReadMessageId } }) => {
    for (const message of messagesIn(copy, conversationId)) {
      const isTheirs = message.receiverType === 'group' || message.receiver === uid
      if (isTheirs && isAfter(message.id, lastReadMessageId)) delete message.readAt
    }
  },
  'conversation.tagged': ofUsers,
  'conversation.pinned': (copy, { uid, conversation }) => {
    if (uid === 'app_system') copy.pinned[conversation.conversationId] = conversation.pinnedAt
  },
  'conversation.unpinned': (copy, { uid, conversation }) => {
    if (uid === 'app_system') delete copy.pinned[conversation.conversationId]
  },
  'conversation.reset': ofUsers,
  'conversation.deleted': 'What becomes of its messages has events of its own.',

  ...ofCalls,
  ...ofSteps<AppState>((copy, { message }) => addMessage(copy, message)),
}
