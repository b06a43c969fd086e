import { defineEvent } from '../../kit/event.ts'
import { Type } from '../../kit/schema.ts'
import { userChannel } from '../users/events.ts'
import { User } from '../users/schemas.ts'

// Webhooks have no triggers for friends: the app that decides on them is the one that would be told.

/** The two are friends of each other from now on. */
export const friendAdded = defineEvent({
  name: 'friend.added',
  payload: Type.Object({
    user: User,
    friend: User,
    addToConversations: Type.Optional(
      Type.Literal(true, { description: 'Their conversation is to be listed for both' }),
    ),
  }),
  audience: ({ user, friend }) => [userChannel(user.uid), userChannel(friend.uid)],
  changesSightOf: ({ user, friend }) => [userChannel(user.uid), userChannel(friend.uid)],
})

/** By an unfriending, or because one of the two was deleted. */
export const friendRemoved = defineEvent({
  name: 'friend.removed',
  payload: Type.Object({ uid: Type.String(), friendUid: Type.String() }),
  audience: ({ uid, friendUid }) => [userChannel(uid), userChannel(friendUid)],
  changesSightOf: ({ uid, friendUid }) => [userChannel(uid), userChannel(friendUid)],
})
