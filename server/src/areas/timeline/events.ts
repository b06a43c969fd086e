import { type Channel, channelOf } from '../../kit/channel.ts'
import { defineEvent, type Frame } from '../../kit/event.ts'
import { OneOf, type Static, Type } from '../../kit/schema.ts'
import { userChannel } from '../users/events.ts'
import { filesByKey } from './files-in.ts'
import { leftOf } from './retracted.ts'
import { Message } from './schemas.ts'

/** For events with messages in them. */
export const messageForms = { ...filesByKey, left: leftOf }

/** Who is told live, where it depends on more than the event itself: between two with a block, nobody hears of the other. */
export const Audience = Type.Array(Type.String(), { description: 'Who is told live' })

/** An audience that was settled when the event was written. */
export const settledAudience = ({ audience }: { audience: string[] }): Channel[] => audience.map(channelOf)

/** Heard by the members of a group. */
export const groupChannel = (guid: string): Channel => ({ kind: 'group', id: guid })

/** Who is in a conversation, for live delivery. */
export function audienceOf({ sender, receiver, receiverType }: Message): Channel[] {
  return receiverType === 'group' ? [groupChannel(receiver)] : [...new Set([sender, receiver])].map(userChannel)
}

/** A message, as devices are told of it. */
export function messageFrame(message: Message): Frame {
  const { sender, receiver, receiverType } = message
  return { type: 'message', sender, receiver, receiverType, body: message }
}

/** The message in an event, which not everybody in its conversation may be shown. */
export const ofMessage = ({ message }: { message: Message }): Message[] => [message]

/** An action message stands in the history. What it tells has an event, and a webhook, of its own. */
export const actionWritten = defineEvent({
  name: 'message.actionWritten',
  payload: Type.Object({ message: Message, audience: Audience }),
  forms: messageForms,
  audience: settledAudience,
  tellsOf: ofMessage,
  frame: ({ message }) => messageFrame(message),
})

/** Nothing is left of these messages; whatever was kept about them goes too. */
export const messagesErased = defineEvent({
  name: 'messages.erased',
  payload: Type.Object({ ids: Type.Array(Type.Integer()) }),
  audience: () => [],
})

/** How far somebody has come; in the words of the reference service's receipts. */
const Receipt = Type.Object({
  conversationId: Type.String(),
  receiver: Type.String({ description: 'The author of the message, or the group' }),
  receiverType: OneOf(['user', 'group']),
  sender: Type.String({ description: 'Who received or read; `app_system` for everybody' }),
  messageSender: Type.String(),
  messageId: Type.String({ description: 'The newest message that this is about' }),
  upTo: Type.String({ description: 'The last message that was passed; it may tell of an action, or be their own' }),
  user: Type.Record(Type.String(), Type.Unknown()),
  timestamp: Type.Integer(),
  audience: Audience,
})

function receipt(action: string, trigger: string, name: string) {
  const frame = ({ receiver, receiverType, sender, messageSender, ...about }: Static<typeof Receipt>): Frame => {
    const { messageId, user, timestamp } = about
    return {
      ...{ receiver, receiverType, type: 'receipts', sender, messageSender },
      body: { action, messageId, user, timestamp },
    }
  }
  return defineEvent({
    name,
    payload: Receipt,
    audience: settledAudience,
    frame: (told) => {
      const { upTo, conversationId } = told
      const { body, ...envelope } = frame(told)
      // Whether author and reader have blocked each other is not for all who hear of it.
      const { hasBlockedMe: _, blockedByMe: __, ...user } = told.user
      return { ...envelope, body: { ...body, user, upTo, conversationId } }
    },
    doneBy: ({ sender }) => ({ uid: sender }),
    webhook: { trigger, body: frame },
  })
}

export const messagesDelivered = receipt('delivered', 'message_delivery_receipt', 'receipt.delivered')
export const messagesRead = receipt('read', 'message_read_receipt', 'receipt.read')
export const deliveredToAll = receipt('deliveredToAll', 'message_delivered_to_all', 'receipt.deliveredToAll')
export const readByAll = receipt('readByAll', 'message_read_by_all', 'receipt.readByAll')

export const timelineEvents = [
  actionWritten,
  messagesErased,
  messagesDelivered,
  messagesRead,
  deliveredToAll,
  readByAll,
]
