import { CursorMeta, Limit } from '../../common/cursor.ts'
import { OneOf, type Static, Type } from '../../kit/schema.ts'
import { Message } from '../timeline/schemas.ts'

export const threadLimits = { usual: 100, max: 1_000 }

const flag = (description: string) => Type.Optional(Type.Boolean({ description }))

export const ThreadListQuery = Type.Object({
  limit: Limit(threadLimits),
  affix: Type.Optional(OneOf(['append', 'prepend'])),
  updatedAt: Type.Optional(Type.Integer({ description: 'Read on from this time' })),
  id: Type.Optional(Type.Integer({ minimum: 0, description: 'With `updatedAt`: and from this thread' })),
  participatedByMe: flag('Only threads that the acting user follows'),
  withUnreadReplyCount: flag('With the number of replies that the acting user has not read'),
  withMentionCount: flag('With the number of unread replies that name the acting user'),
  uid: Type.Optional(Type.String({ description: 'Only in the conversation with this user' })),
  guid: Type.Optional(Type.String({ description: 'Only in this group' })),
})
export type ThreadListQuery = Static<typeof ThreadListQuery>

export const ThreadStretch = Type.Object({
  data: Type.Array(Message),
  meta: CursorMeta({ updatedAt: Type.Optional(Type.Integer()), id: Type.Optional(Type.String()) }),
})
