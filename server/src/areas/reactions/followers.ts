import { follower } from '../../kit/follower.ts'
import { messageDeleted, messagePurged } from '../messages/events.ts'
import { forgetReactions } from './store.ts'

/** What people felt about a message goes with its content. */
export const forgetWithMessage = follower({
  name: 'reactions.deletedMessages',
  on: [messageDeleted, messagePurged],
  handle: ({ payload: { message } }, { db }) => forgetReactions(db, [Number(message.id)]),
})
