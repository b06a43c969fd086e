import { defineEvent } from '../../kit/event.ts'
import { Type } from '../../kit/schema.ts'
import { audienceOf } from '../timeline/events.ts'
import { Message } from '../timeline/schemas.ts'
import { Reaction } from './schemas.ts'

const payload = Type.Object({ reaction: Reaction, message: Message })

export const reactionAdded = defineEvent({
  name: 'reaction.added',
  payload,
  audience: ({ message }) => audienceOf(message),
  webhook: { trigger: 'message_reaction_added', body: ({ reaction }) => ({ reaction }) },
})

export const reactionRemoved = defineEvent({
  name: 'reaction.removed',
  payload,
  audience: ({ message }) => audienceOf(message),
  webhook: { trigger: 'message_reaction_removed', body: ({ reaction }) => ({ reaction }) },
})
