import { follower } from '../../kit/follower.ts'
import { messagePurged } from '../messages/events.ts'
import { forgetThread } from './store.ts'

export const forgetWithMessage = follower({
  name: 'threads.deletedMessages',
  on: [messagePurged],
  handle: ({ payload: { message } }, { db }) => forgetThread(db, Number(message.id)),
})
