import { OneOf, Type } from '../../kit/schema.ts'
import { CallMode } from './facts.ts'

/** What the call log of a user has beyond what servers get: words to filter by, and names in the records. */

/** What clients call a status that records have another word for. */
export const clientStatuses = ['missed', 'busy', 'cancelled'] as const

export const userLogFilters = {
  category: Type.Optional({ ...CallMode, description: 'The same as `mode`; only where a user acts' }),
  direction: Type.Optional(
    OneOf(['incoming', 'outgoing'], 'Whether the acting user has placed the call; nothing where none acts'),
  ),
  guid: Type.Optional(Type.String({ description: 'Calls in this group; only where a user acts' })),
}

const name = Type.Optional(Type.String({ description: 'Absent where the acting user may not see them' }))
const picture = Type.Optional(Type.String())

const CallUser = Type.Object({ uid: Type.String(), name, avatar: picture }, { title: 'CallUser' })
const CallGroup = Type.Object({ guid: Type.String(), name, icon: picture }, { title: 'CallGroup' })

const CallEntities = Type.Object(
  { initiator: CallUser, receiver: Type.Union([CallUser, CallGroup]) },
  {
    title: 'CallEntities',
    description:
      'Who `initiator` and `receiver` are, where a user acts. Of whom they may not see, or who is gone, the id',
  },
)

/** Only where a user acts. */
export const callAdditions = {
  callCategory: Type.Optional({ ...CallMode, description: 'The same as `mode`; where a user acts' }),
  entities: Type.Optional(CallEntities),
}

export const participantAdditions = {
  name: Type.Optional(Type.String({ description: 'Where a user acts who may see them' })),
  avatar: Type.Optional(Type.String({ description: 'Where a user acts who may see them' })),
  hasJoined: Type.Optional(Type.Boolean({ description: 'The same as `isJoined`; where a user acts' })),
}
