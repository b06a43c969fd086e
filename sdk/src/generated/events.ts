// Written by `npm run generate`; edit the declarations of the server instead.

import type { CallFact, Conversation, Group, Message, Reaction, User } from './records.ts'

/** What each event carries that somebody hears live, by its name in the log. */
export interface EventPayloads {
  'user.updated': {
    user: User
    /** The role before, if it is another one now */
    oldRole?: string
  }
  'user.deactivated': {
    uid: string
    /** Since when, in UNIX seconds */
    at: number
  }
  'user.reactivated': {
    uid: string
    /** When, in UNIX seconds */
    at: number
  }
  'user.deleted': {
    uid: string
    /** Names this user and no later one */
    id: string
  }
  'friend.added': {
    user: User
    friend: User
    /** Their conversation is to be listed for both */
    addToConversations?: true
  }
  'friend.removed': {
    uid: string
    friendUid: string
  }
  'user.blocked': {
    by: User
    user: User
    /** Since when, in UNIX seconds */
    at: number
  }
  'user.unblocked': {
    by: User
    user: User
  }
  'message.actionWritten': {
    message: Message
    /** Who is told live */
    audience: string[]
  }
  'receipt.delivered': {
    conversationId: string
    /** The author of the message, or the group */
    receiver: string
    receiverType: 'user' | 'group'
    /** Who received or read; `app_system` for everybody */
    sender: string
    messageSender: string
    /** The newest message that this is about */
    messageId: string
    /** The last message that was passed; it may tell of an action, or be their own */
    upTo: string
    user: Record<string, unknown>
    timestamp: number
    /** Who is told live */
    audience: string[]
  }
  'receipt.read': {
    conversationId: string
    /** The author of the message, or the group */
    receiver: string
    receiverType: 'user' | 'group'
    /** Who received or read; `app_system` for everybody */
    sender: string
    messageSender: string
    /** The newest message that this is about */
    messageId: string
    /** The last message that was passed; it may tell of an action, or be their own */
    upTo: string
    user: Record<string, unknown>
    timestamp: number
    /** Who is told live */
    audience: string[]
  }
  'receipt.deliveredToAll': {
    conversationId: string
    /** The author of the message, or the group */
    receiver: string
    receiverType: 'user' | 'group'
    /** Who received or read; `app_system` for everybody */
    sender: string
    messageSender: string
    /** The newest message that this is about */
    messageId: string
    /** The last message that was passed; it may tell of an action, or be their own */
    upTo: string
    user: Record<string, unknown>
    timestamp: number
    /** Who is told live */
    audience: string[]
  }
  'receipt.readByAll': {
    conversationId: string
    /** The author of the message, or the group */
    receiver: string
    receiverType: 'user' | 'group'
    /** Who received or read; `app_system` for everybody */
    sender: string
    messageSender: string
    /** The newest message that this is about */
    messageId: string
    /** The last message that was passed; it may tell of an action, or be their own */
    upTo: string
    user: Record<string, unknown>
    timestamp: number
    /** Who is told live */
    audience: string[]
  }
  'group.created': {
    group: Group
    members: Record<string, User>
  }
  'group.updated': {
    group: Group
  }
  'group.deleted': {
    group: Group
    /** Names this group and no later one */
    id: string
    /** UIDs of the members, where they are few and all were shown the same */
    members?: string[]
  }
  'group.ownerTransferred': {
    group: Group
    oldOwner: string
  }
  'group.memberForgotten': {
    guid: string
    uid: string
    group: Group
  }
  'message.sent': {
    message: Message
    mentioned: string[]
  }
  'message.purged': {
    message: Message
    action: Message
    /** Who is told live */
    audience: string[]
  }
  'messages.purged': {
    conversationId: string
    ids: string[]
    /** Who is told live */
    audience: string[]
  }
  'conversation.markedUnread': {
    uid: string
    conversation: Conversation
  }
  'conversation.opened': {
    conversationId: string
    uids: string[]
    /** UIDs of the two */
    between: string[]
    /** When, in UNIX seconds */
    createdAt: number
  }
  'conversation.tagged': {
    uid: string
    conversation: Conversation
  }
  'conversation.pinned': {
    /** Whose pin it is; `app_system` for everyone */
    uid: string
    conversation: Record<string, unknown>
    by: Record<string, unknown>
  }
  'conversation.unpinned': {
    /** Whose pin it is; `app_system` for everyone */
    uid: string
    conversation: Record<string, unknown>
    by: Record<string, unknown>
  }
  'conversation.reset': {
    uid: string
    conversationId: string
    preserveOrder: boolean
  }
  'conversation.deleted': {
    conversationId: string
    uids: string[]
    guid?: string
    /** Whose list it stays in, empty */
    keptBy?: string
  }
  'reaction.added': {
    reaction: Reaction
    receiverId: string
    receiverType: 'user' | 'group'
    conversationId: string
    /** Where the message is a reply */
    parentMessageId?: string
    message: Message
    /** Who is told live */
    audience: string[]
  }
  'reaction.removed': {
    reaction: Reaction
    receiverId: string
    receiverType: 'user' | 'group'
    conversationId: string
    /** Where the message is a reply */
    parentMessageId?: string
    message: Message
    /** Who is told live */
    audience: string[]
  }
  'thread.followed': {
    uid: string
    messageId: string
  }
  'thread.unfollowed': {
    uid: string
    messageId: string
  }
  'message.pinned': {
    message: Message
    by: string
    /** When, in UNIX seconds */
    at: number
    /** Who is told live */
    audience: string[]
  }
  'message.unpinned': {
    message: Message
    by: string
    /** When, in UNIX seconds */
    at: number
    /** Who is told live */
    audience: string[]
  }
  'message.saved': {
    message: Message
    uid: string
  }
  'message.unsaved': {
    message: Message
    uid: string
  }
  'interaction.goalCompleted': {
    messageId: string
    /** Who completed it */
    sender: Record<string, unknown>
    receiverId: string
    receiverType: 'user' | 'group'
    interactions: {
      elementId: string
      interactedAt: number
    }[]
    /** Who is told live */
    audience: string[]
  }
  'call.initiated': {
    /** The call */
    sessionId: string
    mode: 'call' | 'meet' | 'presenter'
    /** How far the call has come */
    status: string
    /** UIDs of all who have a part in the call */
    members: string[]
    /** What was seen to happen; `kind` tells which */
    fact: CallFact
  }
  'call.participantJoined': {
    /** The call */
    sessionId: string
    mode: 'call' | 'meet' | 'presenter'
    /** How far the call has come */
    status: string
    /** UIDs of all who have a part in the call */
    members: string[]
    /** What was seen to happen; `kind` tells which */
    fact: CallFact
  }
  'call.participantLeft': {
    /** The call */
    sessionId: string
    mode: 'call' | 'meet' | 'presenter'
    /** How far the call has come */
    status: string
    /** UIDs of all who have a part in the call */
    members: string[]
    /** What was seen to happen; `kind` tells which */
    fact: CallFact
  }
  'call.rejected': {
    /** The call */
    sessionId: string
    mode: 'call' | 'meet' | 'presenter'
    /** How far the call has come */
    status: string
    /** UIDs of all who have a part in the call */
    members: string[]
    /** What was seen to happen; `kind` tells which */
    fact: CallFact
  }
  'call.canceled': {
    /** The call */
    sessionId: string
    mode: 'call' | 'meet' | 'presenter'
    /** How far the call has come */
    status: string
    /** UIDs of all who have a part in the call */
    members: string[]
    /** What was seen to happen; `kind` tells which */
    fact: CallFact
  }
  'call.unanswered': {
    /** The call */
    sessionId: string
    mode: 'call' | 'meet' | 'presenter'
    /** How far the call has come */
    status: string
    /** UIDs of all who have a part in the call */
    members: string[]
    /** What was seen to happen; `kind` tells which */
    fact: CallFact
  }
  'call.ended': {
    /** The call */
    sessionId: string
    mode: 'call' | 'meet' | 'presenter'
    /** How far the call has come */
    status: string
    /** UIDs of all who have a part in the call */
    members: string[]
    /** What was seen to happen; `kind` tells which */
    fact: CallFact
  }
  'call.recorded': {
    /** The call */
    sessionId: string
    mode: 'call' | 'meet' | 'presenter'
    /** How far the call has come */
    status: string
    /** UIDs of all who have a part in the call */
    members: string[]
    /** What was seen to happen; `kind` tells which */
    fact: CallFact
  }
  'call.transcribed': {
    /** The call */
    sessionId: string
    mode: 'call' | 'meet' | 'presenter'
    /** How far the call has come */
    status: string
    /** UIDs of all who have a part in the call */
    members: string[]
    /** What was seen to happen; `kind` tells which */
    fact: CallFact
  }
  'callMessage.initiated': {
    message: Message
    /** Who is told live */
    audience: string[]
  }
  'callMessage.ongoing': {
    message: Message
    /** Who is told live */
    audience: string[]
  }
  'callMessage.busy': {
    message: Message
    /** Who is told live */
    audience: string[]
  }
  'callMessage.rejected': {
    message: Message
    /** Who is told live */
    audience: string[]
  }
  'callMessage.cancelled': {
    message: Message
    /** Who is told live */
    audience: string[]
  }
  'callMessage.unanswered': {
    message: Message
    /** Who is told live */
    audience: string[]
  }
  'callMessage.ended': {
    message: Message
    /** Who is told live */
    audience: string[]
  }
  'callMessage.declined': {
    message: Message
    /** Who is told live */
    audience: string[]
  }
}
