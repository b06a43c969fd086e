import { follower } from '../../kit/follower.ts'
import { messagesErased } from '../timeline/events.ts'
import { userDeleted } from '../users/events.ts'
import { forgetSaves, forgetSavesOf } from './store.ts'

export const forgetErased = follower({
  name: 'pins.erasedMessages',
  on: [messagesErased],
  handle: ({ payload: { ids } }, { db }) => forgetSaves(db, ids),
})

export const forgetWithUser = follower({
  name: 'pins.deletedUsers',
  on: [userDeleted],
  handle: ({ payload: { uid } }, { db }) => forgetSavesOf(db, uid),
})
