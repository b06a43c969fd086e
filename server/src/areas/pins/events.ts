import { defineEvent } from '../../kit/event.ts'
import { Seconds, Type } from '../../kit/schema.ts'
import { Audience, filesByKey, ofMessage, settledAudience } from '../timeline/events.ts'
import { Message } from '../timeline/schemas.ts'
import { userChannel } from '../users/events.ts'

const ofConversation = Type.Object({ message: Message, by: Type.String(), at: Seconds('When'), audience: Audience })
const ofUser = Type.Object({ message: Message, uid: Type.String() })

export const messagePinned = defineEvent({
  name: 'message.pinned',
  payload: ofConversation,
  forms: filesByKey,
  audience: settledAudience,
  tellsOf: ofMessage,
  webhook: { trigger: 'message_pinned', body: ({ message }) => ({ message }) },
})

export const messageUnpinned = defineEvent({
  name: 'message.unpinned',
  payload: ofConversation,
  forms: filesByKey,
  audience: settledAudience,
  tellsOf: ofMessage,
  webhook: {
    trigger: 'message_unpinned',
    body: ({ message, by, at }) => ({ message: { ...message, unpinnedBy: by, unpinnedAt: at } }),
  },
})

export const messageSaved = defineEvent({
  name: 'message.saved',
  payload: ofUser,
  forms: filesByKey,
  audience: ({ uid }) => [userChannel(uid)],
})

export const messageUnsaved = defineEvent({
  name: 'message.unsaved',
  payload: ofUser,
  forms: filesByKey,
  audience: ({ uid }) => [userChannel(uid)],
})

export const pinEvents = [messagePinned, messageUnpinned, messageSaved, messageUnsaved]
