import { appChannel } from '../../kit/channel.ts'
import { defineEvent } from '../../kit/event.ts'
import { Seconds, Type } from '../../kit/schema.ts'
import { groupChannel, messageForms } from '../timeline/events.ts'
import { userChannel } from '../users/events.ts'
import { systemUid } from '../users/index.ts'
import { Conversation } from './schemas.ts'

/** Only the user's own devices are told. */
export const markedUnread = defineEvent({
  name: 'conversation.markedUnread',
  payload: Type.Object({ uid: Type.String(), conversation: Conversation }),
  forms: messageForms,
  audience: ({ uid }) => [userChannel(uid)],
  frame: ({ conversation }) => ({ type: 'conversation', body: { action: 'unread', conversation } }),
  doneBy: ({ uid }) => ({ uid }),
})

/** A conversation in which nothing was said yet is in these users' lists from now on. */
export const conversationOpened = defineEvent({
  name: 'conversation.opened',
  payload: Type.Object({
    conversationId: Type.String(),
    uids: Type.Array(Type.String()),
    between: Type.Array(Type.String(), { description: 'UIDs of the two' }),
    createdAt: Seconds('When'),
  }),
  audience: ({ uids }) => uids.map(userChannel),
})

/** Tags are the user's own; the user's devices are told. */
export const conversationTagged = defineEvent({
  name: 'conversation.tagged',
  payload: Type.Object({ uid: Type.String(), conversation: Conversation }),
  forms: messageForms,
  audience: ({ uid }) => [userChannel(uid)],
})

const Pinned = Type.Object({
  uid: Type.String({ description: 'Whose pin it is; `app_system` for everyone' }),
  conversation: Type.Record(Type.String(), Type.Unknown()),
  by: Type.Record(Type.String(), Type.Unknown()),
})

function pinning(name: string, trigger: string) {
  return defineEvent({
    name,
    payload: Pinned,
    forms: messageForms,
    audience: ({ uid }) => [uid === systemUid ? appChannel : userChannel(uid)],
    webhook: { trigger, body: ({ conversation, by }) => ({ conversation, by }) },
  })
}

export const conversationPinned = pinning('conversation.pinned', 'conversation_pinned')
export const conversationUnpinned = pinning('conversation.unpinned', 'conversation_unpinned')

export const conversationReset = defineEvent({
  name: 'conversation.reset',
  payload: Type.Object({ uid: Type.String(), conversationId: Type.String(), preserveOrder: Type.Boolean() }),
  audience: ({ uid }) => [userChannel(uid)],
})

/** Taken from everyone who had part in it. */
export const conversationDeleted = defineEvent({
  name: 'conversation.deleted',
  payload: Type.Object({
    conversationId: Type.String(),
    uids: Type.Array(Type.String()),
    guid: Type.Optional(Type.String()),
    keptBy: Type.Optional(Type.String({ description: 'Whose list it stays in, empty' })),
  }),
  audience: ({ uids, guid }) => (guid === undefined ? uids.map(userChannel) : [groupChannel(guid)]),
})

export const conversationEvents = [
  markedUnread,
  conversationOpened,
  conversationTagged,
  conversationPinned,
  conversationUnpinned,
  conversationReset,
  conversationDeleted,
]
