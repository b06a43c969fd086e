import { defineEvent } from '../../kit/event.ts'
import { Seconds, Type } from '../../kit/schema.ts'
import { Audience, audienceOf, messageForms, messageFrame, ofMessage, settledAudience } from '../timeline/events.ts'
import { Message } from '../timeline/schemas.ts'

/** `mentioned` are those of the named who are called upon. */
export const messageSent = defineEvent({
  name: 'message.sent',
  payload: Type.Object({ message: Message, mentioned: Type.Array(Type.String()) }),
  forms: messageForms,
  audience: ({ message }) => audienceOf(message),
  tellsOf: ofMessage,
  frame: ({ message }) => messageFrame(message),
  doneBy: ({ message: { sender, data } }) => ({
    uid: sender,
    ...(typeof data.resource === 'string' && { device: data.resource }),
  }),
  webhook: { trigger: 'message_sent', body: ({ message }) => ({ message }) },
  // Not an event for each: all of them would hold the whole message again.
  webhookForEach: {
    trigger: 'user_mentioned',
    bodies: ({ message, mentioned }) => mentioned.map((uid) => ({ message: naming(message, uid) })),
  },
})

/** The message as if it named only one. */
function naming(message: Message, uid: string): Message {
  const mentions = message.data.mentions as Record<string, unknown> | undefined
  return { ...message, data: { ...message.data, mentions: { [uid]: mentions?.[uid] } } }
}

/** `action` is the message in the history that tells of the change; `message` is the changed one. */
const withAction = Type.Object({ message: Message, action: Message })

const itself = ({ message }: { message: Message }): string[] => [message.id]

/** The changed message, and beside its content who changed it, for readers of either form. */
function changedMessage({ message, action }: { message: Message; action: Message }): object {
  const { action: what, entities } = action.data
  const all = { ...(message.data.entities as object), ...(entities as object) }
  return { message: { ...message, data: { ...message.data, action: what, entities: all } } }
}

// Live, the action message in the history tells of it.
export const messageEdited = defineEvent({
  name: 'message.edited',
  payload: withAction,
  forms: messageForms,
  audience: () => [],
  webhook: { trigger: 'message_edited', body: changedMessage },
})

export const messageDeleted = defineEvent({
  name: 'message.deleted',
  payload: withAction,
  forms: messageForms,
  audience: () => [],
  retracts: itself,
  webhook: { trigger: 'message_deleted', body: changedMessage },
})

/** Gone for good: nothing in the history tells of it. */
export const messagePurged = defineEvent({
  name: 'message.purged',
  payload: Type.Object({ ...withAction.properties, audience: Audience }),
  forms: messageForms,
  audience: settledAudience,
  tellsOf: ofMessage,
  retracts: itself,
  // Told as any other deletion is.
  frame: ({ action }) => messageFrame(action),
  webhook: { trigger: 'message_deleted', body: changedMessage },
})

/** Gone for good with whoever wrote them; those in the conversation are told, who may have them. */
export const messagesPurged = defineEvent({
  name: 'messages.purged',
  payload: Type.Object({
    conversationId: Type.String(),
    ids: Type.Array(Type.String()),
    audience: Audience,
  }),
  audience: settledAudience,
  retracts: ({ ids }) => ids,
})

/** These lost their content together with their conversation, which tells of it. */
export const messagesCleared = defineEvent({
  name: 'messages.cleared',
  payload: Type.Object({ ids: Type.Array(Type.Integer()), by: Type.String(), at: Seconds('When') }),
  audience: () => [],
  retracts: ({ ids }) => ids.map(String),
})

export const messageEvents = [
  messageSent,
  messageEdited,
  messageDeleted,
  messagePurged,
  messagesPurged,
  messagesCleared,
]
