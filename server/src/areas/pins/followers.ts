import { follower } from '../../kit/follower.ts'
import { forgettingMessages } from '../timeline/index.ts'
import { userDeleted } from '../users/events.ts'
import { forgetSavesOf } from './store.ts'

export const { forgetErased, forgetRest } = forgettingMessages('pins', [['saved_messages', 'message_id']])

export const forgetWithUser = follower({
  name: 'pins.deletedUsers',
  on: [userDeleted],
  handle: ({ payload: { uid } }, { db }) => forgetSavesOf(db, uid),
})
