import { defineEvent } from '../../kit/event.ts'
import { OneOf, Type } from '../../kit/schema.ts'
import { Audience, messageForms, ofMessage, settledAudience } from '../timeline/events.ts'
import { Message } from '../timeline/schemas.ts'
import { Reaction } from './schemas.ts'

const payload = Type.Object({
  reaction: Reaction,
  receiverId: Type.String(),
  receiverType: OneOf(['user', 'group']),
  conversationId: Type.String(),
  parentMessageId: Type.Optional(Type.String({ description: 'Where the message is a reply' })),
  message: Message,
  audience: Audience,
})

export const reactionAdded = defineEvent({
  name: 'reaction.added',
  payload,
  forms: messageForms,
  audience: settledAudience,
  tellsOf: ofMessage,
  webhook: { trigger: 'message_reaction_added', body: ({ reaction }) => ({ reaction }) },
})

export const reactionRemoved = defineEvent({
  name: 'reaction.removed',
  payload,
  forms: messageForms,
  audience: settledAudience,
  tellsOf: ofMessage,
  webhook: { trigger: 'message_reaction_removed', body: ({ reaction }) => ({ reaction }) },
})
