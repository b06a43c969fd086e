import { OneOf, Seconds, type Static, type TSchema, Type } from '../../kit/schema.ts'

const Id = (description: string) => Type.String({ description, pattern: '^[0-9]+$', examples: ['1204'] })

const fields = {
  id: Id('Unique in the app; ids grow with time'),
  muid: Type.Optional(Type.String({ description: "The sender's own id for it" })),
  conversationId: Type.String({ examples: ['ada_user_lin'] }),
  sender: Type.String({ description: 'UID, or `app_system`', examples: ['lin'] }),
  receiver: Type.String({ description: 'UID or GUID', examples: ['ada'] }),
  receiverType: OneOf(['user', 'group']),
  category: Type.String({ examples: ['message'] }),
  type: Type.String({ examples: ['text'] }),
  data: Type.Record(Type.String(), Type.Unknown(), { description: 'The content, and who it is about' }),
  sentAt: Seconds('When it was sent'),
  updatedAt: Seconds('When it was last edited, deleted, delivered, read or replied to'),
  deliveredAt: Type.Optional(Seconds('When it had reached the receiver; in a group, everybody')),
  readAt: Type.Optional(Seconds('When the receiver had read it; in a group, everybody')),
  deliveredToMeAt: Type.Optional(Seconds('When it reached the acting user')),
  readByMeAt: Type.Optional(Seconds('When the acting user read it')),
  editedAt: Type.Optional(Seconds('When it was last edited')),
  editedBy: Type.Optional(Type.String({ description: 'UID, or `app_system`' })),
  deletedAt: Type.Optional(Seconds('When it was deleted')),
  deletedBy: Type.Optional(Type.String({ description: 'UID, or `app_system`' })),
  parentId: Type.Optional(Id('The message that the thread belongs to')),
  replyCount: Type.Optional(Type.Integer({ description: 'Replies in the thread of this message' })),
  unreadRepliesCount: Type.Optional(Type.Integer({ description: 'Replies that the acting user has not read' })),
  threadSubscribed: Type.Optional(Type.Boolean({ description: 'Whether the acting user follows the thread' })),
  quotedMessageId: Type.Optional(Id('The message that is quoted')),
  tags: Type.Optional(Type.Array(Type.String())),
  pinnedBy: Type.Optional(Type.String({ description: 'UID, or `app_system`' })),
  pinnedAt: Type.Optional(Seconds('When it was pinned')),
  savedAt: Type.Optional(Seconds('When the acting user saved it')),
}

/** A message without others inside it. */
const BareMessage = Type.Object(fields)

export const Message = Type.Object(
  {
    ...fields,
    quotedMessage: Type.Optional(BareMessage),
    parent: Type.Optional(BareMessage),
    lastReply: Type.Optional(BareMessage),
    unreadReplyCount: Type.Optional(Type.Integer()),
    unreadMentionCount: Type.Optional(Type.Integer()),
    receipts: Type.Optional(Type.Object({ data: Type.Array(Type.Unknown()) })),
  },
  { title: 'Message' },
)
export type Message = Static<typeof Message>

const Affix = OneOf(['append', 'prepend'], '`append` reads on after the cursor, `prepend` reads back before it')

/** The `meta` of a list that is read on from a record; `keys` are what its cursors have besides `affix`. */
export function BothWays<Keys extends Record<string, TSchema>>(keys: Keys) {
  const Cursor = Type.Object({ affix: Affix, ...keys })
  return Type.Object({
    current: Type.Object({ limit: Type.Integer(), count: Type.Integer() }),
    next: Cursor,
    previous: Cursor,
  })
}
