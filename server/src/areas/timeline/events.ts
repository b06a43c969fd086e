import { defineEvent } from '../../kit/event.ts'
import { Type } from '../../kit/schema.ts'
import { Message } from './schemas.ts'

/** Who is in a conversation, for live delivery. */
export function audienceOf({ sender, receiver, receiverType }: Message): string[] {
  return receiverType === 'group' ? [`group:${receiver}`] : [...new Set([`user:${sender}`, `user:${receiver}`])]
}

/** An action message stands in the history. What it tells has an event, and a webhook, of its own. */
export const actionWritten = defineEvent({
  name: 'message.actionWritten',
  payload: Type.Object({
    message: Message,
    uids: Type.Array(Type.String(), { description: 'The two between whom it stands; the app may have acted for them' }),
  }),
  audience: ({ message, uids }) =>
    message.receiverType === 'group' ? audienceOf(message) : uids.map((uid) => `user:${uid}`),
})

/** Nothing is left of these messages; whatever was kept about them goes too. */
export const messagesErased = defineEvent({
  name: 'messages.erased',
  payload: Type.Object({ ids: Type.Array(Type.Integer()) }),
  audience: () => [],
})

export const timelineEvents = [actionWritten, messagesErased]
