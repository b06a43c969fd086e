import { cursorQuery } from '../../common/cursor.ts'
import { FilledText, Seconds, type Static, Type } from '../../kit/schema.ts'
import { User } from '../users/schemas.ts'

export const reactionCharactersMax = 45
export const reactionLimits = { usual: 100, max: 1_000 }

export const Reaction = Type.Object(
  {
    id: Type.String(),
    messageId: Type.String(),
    reaction: Type.String({ examples: ['🚣'] }),
    uid: Type.String({ examples: ['ada'] }),
    reactedAt: Seconds('When'),
    reactedBy: User,
  },
  { title: 'Reaction' },
)
export type Reaction = Static<typeof Reaction>

export const ReactionListQuery = cursorQuery({}, reactionLimits)

export const ReactionAdd = Type.Object({
  reaction: FilledText(reactionCharactersMax, 'An emoji, or a name such as `:boat:`'),
})
