import { follower } from '../../kit/follower.ts'
import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import { friendAdded } from '../friends/events.ts'
import { areFriends } from '../friends/index.ts'
import { conversationIdOf, listConversation, placeOfUsers } from '../timeline/index.ts'
import { conversationOpened } from './events.ts'

/** Friends for whom it was asked find each other in their lists before anything is said. */
export const listNewFriends = follower({
  name: 'conversations.friends',
  on: [friendAdded],
  async handle({ payload: { user, friend, addToConversations } }, { later }) {
    if (!addToConversations) return
    const { conversationKey } = placeOfUsers(user.uid, friend.uid)
    await later(listFriend, { uid: user.uid, friendUid: friend.uid }, { key: `${conversationKey}` })
  },
})

/** One conversation at a time, so that whoever writes to several at once cannot wait for this one and it for them. */
export const listFriend = job({
  name: 'conversations.listFriend',
  payload: Type.Object({ uid: Type.String(), friendUid: Type.String() }),
  attemptsMax: Number.POSITIVE_INFINITY,
  async run({ uid, friendUid }, { db, now, emit }) {
    // By now one of them may be gone for good, and the UID another user's.
    if (!(await areFriends(db, uid, friendUid))) return undefined
    const place = placeOfUsers(uid, friendUid)
    const uids = await listConversation(db, place, now)
    const conversationId = conversationIdOf(place.conversationKey)
    const between = [uid, friendUid]
    if (uids.length > 0) await emit(conversationOpened, { conversationId, uids, between, createdAt: now })
    return undefined
  },
})
