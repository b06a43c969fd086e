import { defineEvent } from '../../kit/event.ts'
import { OneOf, Type } from '../../kit/schema.ts'
import { Audience, settledAudience } from '../timeline/events.ts'

/** A user has done all that a message asked for. */
export const goalCompleted = defineEvent({
  name: 'interaction.goalCompleted',
  payload: Type.Object({
    messageId: Type.String(),
    sender: Type.Record(Type.String(), Type.Unknown(), { description: 'Who completed it' }),
    receiverId: Type.String(),
    receiverType: OneOf(['user', 'group']),
    interactions: Type.Array(Type.Object({ elementId: Type.String(), interactedAt: Type.Integer() })),
    audience: Audience,
  }),
  audience: settledAudience,
  doneBy: ({ sender }) => ({ uid: String(sender.uid) }),
})
