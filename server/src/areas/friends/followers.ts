import { follower } from '../../kit/follower.ts'
import { userDeleted } from '../users/events.ts'
import { forgetDeletedFriend } from './jobs.ts'

/** A user who is gone for good is nobody's friend. */
export const forgetDeletedFriends = follower({
  name: 'friends.deletedUsers',
  on: [userDeleted],
  handle: ({ payload }, { later }) => later(forgetDeletedFriend, payload, { key: payload.id }),
})
