import { follower } from '../../kit/follower.ts'
import { messageDeleted, messagePurged } from '../messages/events.ts'
import { forgetInteractions } from './store.ts'

export const forgetWithMessage = follower({
  name: 'interactions.deletedMessages',
  on: [messageDeleted, messagePurged],
  handle: ({ payload: { message } }, { db }) => forgetInteractions(db, Number(message.id)),
})
