import { follower } from '../../kit/follower.ts'
import { messagePurged } from '../messages/events.ts'
import { userDeleted } from '../users/events.ts'
import { forgetSaves, forgetSavesOf } from './store.ts'

export const forgetWithMessage = follower({
  name: 'pins.deletedMessages',
  on: [messagePurged],
  handle: ({ payload: { message } }, { db }) => forgetSaves(db, Number(message.id)),
})

export const forgetWithUser = follower({
  name: 'pins.deletedUsers',
  on: [userDeleted],
  handle: ({ payload: { uid } }, { db }) => forgetSavesOf(db, uid),
})
