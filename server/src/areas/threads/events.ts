import { defineEvent } from '../../kit/event.ts'
import { Type } from '../../kit/schema.ts'
import { userChannel } from '../users/events.ts'

const payload = Type.Object({ uid: Type.String(), messageId: Type.String() })

/** Only the user's own devices are told, and only of what the user asked for. */
export const threadFollowed = defineEvent({
  name: 'thread.followed',
  payload,
  audience: ({ uid }) => [userChannel(uid)],
})

export const threadUnfollowed = defineEvent({
  name: 'thread.unfollowed',
  payload,
  audience: ({ uid }) => [userChannel(uid)],
})

export const threadEvents = [threadFollowed, threadUnfollowed]
