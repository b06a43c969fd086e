import { defineEvent } from '../../kit/event.ts'
import { type Static, Type } from '../../kit/schema.ts'
import { userChannel } from '../users/events.ts'
import { User } from '../users/schemas.ts'

/** Each event is about one pair, so one that really changed is told once and nothing else is. */
const payload = Type.Object({ by: User, user: User })
type Payload = Static<typeof payload>

// Both see it: the record that each has of the other changes.
const audience = ({ by, user }: Payload) => [userChannel(by.uid), userChannel(user.uid)]
const body = ({ by, user }: Payload) => ({ users: { [user.uid]: user }, by })

export const userBlocked = defineEvent({
  name: 'user.blocked',
  payload,
  audience,
  webhook: { trigger: 'user_blocked', body },
})

export const userUnblocked = defineEvent({
  name: 'user.unblocked',
  payload,
  audience,
  webhook: { trigger: 'user_unblocked', body },
})
