import { follower } from '../../kit/follower.ts'
import { messageDeleted, messagesCleared } from '../messages/events.ts'
import { messagesErased } from '../timeline/events.ts'
import { forgetReactions } from './store.ts'

/** What people felt about a message goes with its content. */
export const forgetWithMessage = follower({
  name: 'reactions.deletedMessages',
  on: [messageDeleted],
  handle: ({ payload: { message } }, { db }) => forgetReactions(db, [Number(message.id)]),
})

export const forgetErased = follower({
  name: 'reactions.erasedMessages',
  on: [messagesErased, messagesCleared],
  handle: ({ payload: { ids } }, { db }) => forgetReactions(db, ids),
})
