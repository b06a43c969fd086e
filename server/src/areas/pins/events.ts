import { defineEvent, type Frame } from '../../kit/event.ts'
import { Seconds, Type } from '../../kit/schema.ts'
import { Audience, messageForms, ofMessage, settledAudience } from '../timeline/events.ts'
import { Message } from '../timeline/schemas.ts'
import { userChannel } from '../users/events.ts'

/** In the words of the reference service: a message is what a `pin` or a `save` is about. */
const marked =
  (type: string, action: string) =>
  ({ message, by, at }: { message: Message; by?: string; at?: number }): Frame => ({
    type,
    body: { action, message, ...(by !== undefined && { by, at }) },
  })

const ofConversation = Type.Object({ message: Message, by: Type.String(), at: Seconds('When'), audience: Audience })
const ofUser = Type.Object({ message: Message, uid: Type.String() })

export const messagePinned = defineEvent({
  name: 'message.pinned',
  payload: ofConversation,
  forms: messageForms,
  audience: settledAudience,
  tellsOf: ofMessage,
  frame: marked('pin', 'pinned'),
  webhook: { trigger: 'message_pinned', body: ({ message }) => ({ message }) },
})

export const messageUnpinned = defineEvent({
  name: 'message.unpinned',
  payload: ofConversation,
  forms: messageForms,
  audience: settledAudience,
  tellsOf: ofMessage,
  frame: marked('pin', 'unpinned'),
  webhook: {
    trigger: 'message_unpinned',
    body: ({ message, by, at }) => ({ message: { ...message, unpinnedBy: by, unpinnedAt: at } }),
  },
})

export const messageSaved = defineEvent({
  name: 'message.saved',
  payload: ofUser,
  forms: messageForms,
  audience: ({ uid }) => [userChannel(uid)],
  tellsOf: ofMessage,
  frame: marked('save', 'saved'),
  doneBy: ({ uid }) => ({ uid }),
})

export const messageUnsaved = defineEvent({
  name: 'message.unsaved',
  payload: ofUser,
  forms: messageForms,
  audience: ({ uid }) => [userChannel(uid)],
  tellsOf: ofMessage,
  frame: marked('save', 'unsaved'),
  doneBy: ({ uid }) => ({ uid }),
})

export const pinEvents = [messagePinned, messageUnpinned, messageSaved, messageUnsaved]
