import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import { friendRemoved } from './events.ts'
import { removeFriendships, someFriendUids } from './store.ts'

const friendsAtATime = 200

/** Ends the friendships of a user who is gone for good, some at a time. */
export const forgetDeletedFriend = job({
  name: 'friends.forgetDeletedFriend',
  payload: Type.Object({ uid: Type.String(), id: Type.String() }),
  attemptsMax: Number.POSITIVE_INFINITY,
  bulk: true,
  async run({ uid, id }, { db, emit, now }) {
    const friends = await someFriendUids(db, id, friendsAtATime)
    if (friends.length === 0) return undefined
    for (const friendUid of await removeFriendships(db, id, friends)) await emit(friendRemoved, { uid, friendUid })
    return friends.length < friendsAtATime ? undefined : { againAt: now }
  },
})
