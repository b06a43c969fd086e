import { follower } from '../../kit/follower.ts'
import { messageDeleted, messagesCleared } from '../messages/events.ts'
import { messagesErased } from '../timeline/events.ts'
import { forgetInteractions } from './store.ts'

export const forgetWithMessage = follower({
  name: 'interactions.deletedMessages',
  on: [messageDeleted],
  handle: ({ payload: { message } }, { db }) => forgetInteractions(db, [Number(message.id)]),
})

export const forgetErased = follower({
  name: 'interactions.erasedMessages',
  on: [messagesErased, messagesCleared],
  handle: ({ payload: { ids } }, { db }) => forgetInteractions(db, ids),
})
