import { defineEvent } from '../../kit/event.ts'
import { OneOf, Type } from '../../kit/schema.ts'

/** A user has done all that a message asked for. */
export const goalCompleted = defineEvent({
  name: 'interaction.goalCompleted',
  payload: Type.Object({
    messageId: Type.String(),
    messageSender: Type.String(),
    sender: Type.Record(Type.String(), Type.Unknown(), { description: 'Who completed it' }),
    uid: Type.String(),
    receiverId: Type.String(),
    receiverType: OneOf(['user', 'group']),
    interactions: Type.Array(Type.Object({ elementId: Type.String(), interactedAt: Type.Integer() })),
  }),
  audience: ({ messageSender, uid }) => [...new Set([`user:${messageSender}`, `user:${uid}`])],
})
