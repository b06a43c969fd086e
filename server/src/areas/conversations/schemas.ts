import { listQuery, Pagination } from '../../common/page.ts'
import { SearchKey, Tags, Words } from '../../common/shapes.ts'
import { Id, OneOf, Seconds, type Static, Type } from '../../kit/schema.ts'
import { IdInput } from '../messages/schemas.ts'
import { Message } from '../timeline/schemas.ts'

export const Conversation = Type.Object(
  {
    conversationId: Type.String({ examples: ['ada_user_lin'] }),
    conversationType: OneOf(['user', 'group']),
    uid: Type.Optional(Type.String({ description: 'Whose side it is; in lists without an acting user' })),
    unreadMessageCount: Type.Optional(Type.String({ description: 'Messages not read', examples: ['2'] })),
    unreadMentionsCount: Type.Optional(Type.Integer({ description: 'Unread messages that name the acting user' })),
    lastReadMessageId: Type.Optional(Type.String()),
    createdAt: Seconds('Since when the user takes part'),
    updatedAt: Seconds('The last activity'),
    lastMessage: Type.Optional(Message),
    conversationWith: Type.Record(Type.String(), Type.Unknown(), { description: 'The other user, or the group' }),
    tags: Type.Optional(Type.Array(Type.String())),
    pinnedBy: Type.Optional(Type.String({ description: 'The acting user, or `app_system`' })),
    pinnedAt: Type.Optional(Seconds('When it was pinned')),
  },
  { title: 'Conversation' },
)
export type Conversation = Static<typeof Conversation>

const flag = (description: string) => Type.Optional(Type.Boolean({ description }))

export const ConversationListQuery = listQuery({
  searchKey: SearchKey('A part of the name of the other user or the group'),
  conversationType: Type.Optional(OneOf(['user', 'group'])),
  unread: flag('Only with unread messages'),
  tags: Words('With any of these tags'),
  withTags: flag('With tags'),
  userTags: Words('The other user has any of these tags'),
  groupTags: Words('The group has any of these tags'),
  withUserAndGroupTags: flag('With the tags of the other user or the group'),
  includeBlockedUsers: flag('Also with users whom the acting user has blocked'),
  withBlockedInfo: flag('Tell about blocks'),
  hideAgentic: flag('Without agents'),
  onlyAgentic: flag('Only with agents'),
  pinnedBy: Words('`me`, `system`: only what is pinned by the acting user, or for everyone'),
  updatedAt: Type.Optional(Type.Integer({ description: 'Active after, or before, this time' })),
  affix: Type.Optional(OneOf(['append', 'prepend'])),
  useCursoredIndex: Type.Optional(Type.Integer({ description: '0 leaves `meta.cursor` out' })),
  unique: flag('Without an acting user: each conversation once'),
})
export type ConversationListQuery = Static<typeof ConversationListQuery>

export const ConversationPage = Type.Object({
  data: Type.Array(Conversation),
  meta: Type.Object({
    pagination: Pagination,
    cursor: Type.Optional(Type.Object({ updatedAt: Type.Integer(), affix: OneOf(['prepend', 'append']) })),
  }),
})

export const ConversationUpdate = Type.Object({
  tags: Tags,
})

const preserveOrder = flag('Keep the conversation at its place in the list')

export const GroupReset = Type.Object({ preserveOrder })

export const UserReset = Type.Object({
  deleteMessagesPermanently: flag('Remove the messages for good, for both sides'),
  preserveOrder,
  conversationWith: Type.Optional(Type.Unknown({ description: 'Ignored' })),
})

export const UpTo = Type.Object({ messageId: Type.Optional(IdInput('The last of them')) })
export const DownTo = Type.Object({ messageId: IdInput('The last that stays read') })

/** What older clients read: the text under both spellings. */
export const Marked = Type.Object({
  data: Type.Object({ success: Type.Literal(true), message: Type.String(), Message: Type.Optional(Type.String()) }),
})

export const SystemPin = Type.Object({
  conversationId: Type.String(),
  conversationType: OneOf(['user', 'group']),
  pinnedBy: Type.Literal('app_system'),
  pinnedAt: Seconds('When it was pinned'),
})

export const SystemPins = Type.Object({ data: Type.Array(SystemPin) })

export const SystemPinsPut = Type.Object({
  pinnedConversations: Type.Array(
    Type.Object({ uid: Type.Optional(Id(Type.String())), guid: Type.Optional(Id(Type.String())) }),
  ),
})
