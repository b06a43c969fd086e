import { follower } from '../../kit/follower.ts'
import { messagesErased } from '../timeline/events.ts'
import { forgetThreads } from './store.ts'

export const forgetErased = follower({
  name: 'threads.erasedMessages',
  on: [messagesErased],
  handle: ({ payload: { ids } }, { db }) => forgetThreads(db, ids),
})
