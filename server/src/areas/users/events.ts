import type { Channel } from '../../kit/channel.ts'
import { defineEvent } from '../../kit/event.ts'
import { Seconds, Type } from '../../kit/schema.ts'
import { User } from './schemas.ts'

/** Heard by the devices of one user. */
export const userChannel = (uid: string): Channel => ({ kind: 'user', id: uid })

// Webhooks have no triggers for these; the reference service announces connections and blocks only.
const withUser = Type.Object({ user: User })

/** The record in these events is what any user may see: nothing private enters the log. */
export const userCreated = defineEvent({ name: 'user.created', payload: withUser, audience: () => [] })

export const userUpdated = defineEvent({
  name: 'user.updated',
  payload: Type.Object({
    user: User,
    oldRole: Type.Optional(Type.String({ description: 'The role before, if it is another one now' })),
  }),
  audience: ({ user }) => [userChannel(user.uid)],
  changesSightOf: ({ user, oldRole }) => (oldRole === undefined ? [] : [userChannel(user.uid)]),
})

/** Access is suspended; everything the user has stays. */
export const userDeactivated = defineEvent({
  name: 'user.deactivated',
  payload: Type.Object({ uid: Type.String(), at: Seconds('Since when') }),
  audience: ({ uid }) => [userChannel(uid)],
  ends: ({ uid }) => ({ uid }),
})

export const userReactivated = defineEvent({
  name: 'user.reactivated',
  payload: Type.Object({ uid: Type.String(), at: Seconds('When') }),
  audience: ({ uid }) => [userChannel(uid)],
})

/** Gone for good; areas that hold something of the user's remove it when they read this. */
export const userDeleted = defineEvent({
  name: 'user.deleted',
  payload: Type.Object({ uid: Type.String(), id: Type.String({ description: 'Names this user and no later one' }) }),
  audience: ({ uid }) => [userChannel(uid)],
  leaves: ({ uid }) => [{ channel: userChannel(uid), uid }],
  ends: ({ uid }) => ({ uid }),
})

export const userEvents = [userCreated, userUpdated, userDeactivated, userReactivated, userDeleted]
