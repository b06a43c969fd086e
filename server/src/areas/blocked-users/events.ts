import { defineEvent } from '../../kit/event.ts'
import { Seconds, type Static, Type } from '../../kit/schema.ts'
import { userChannel } from '../users/events.ts'
import { User } from '../users/schemas.ts'

/** Each event is about one pair, so one that really changed is told once and nothing else is. */
const Pair = Type.Object({ by: User, user: User })
type Pair = Static<typeof Pair>

// Both see it: the record that each has of the other changes.
const audience = ({ by, user }: Pair) => [userChannel(by.uid), userChannel(user.uid)]
const body = ({ by, user }: Pair) => ({ users: { [user.uid]: user }, by })

export const userBlocked = defineEvent({
  name: 'user.blocked',
  payload: Type.Object({ ...Pair.properties, at: Seconds('Since when') }),
  audience,
  webhook: { trigger: 'user_blocked', body },
})

export const userUnblocked = defineEvent({
  name: 'user.unblocked',
  payload: Pair,
  audience,
  webhook: { trigger: 'user_unblocked', body },
})
