import { follower } from '../../kit/follower.ts'
import { userDeleted } from '../users/events.ts'
import { friendRemoved } from './events.ts'
import { removeFriendships } from './store.ts'

/** A user who is gone for good is nobody's friend. */
export const forgetDeletedFriends = follower({
  name: 'friends.deleted-users',
  on: [userDeleted],
  async handle({ payload: { uid, id } }, { db, emit }) {
    for (const friendUid of await removeFriendships(db, id)) await emit(friendRemoved, { uid, friendUid })
  },
})
