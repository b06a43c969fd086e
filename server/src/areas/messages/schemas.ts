import { Affix, CursorMeta, Limit } from '../../common/cursor.ts'
import { listQuery, Pagination } from '../../common/page.ts'
import { SearchKey, Tags, Words } from '../../common/shapes.ts'
import { FilledText, Id, NeverEmpty, type Static, Text, Type } from '../../kit/schema.ts'
import { Message } from '../timeline/schemas.ts'

const muidCharactersMax = 100
const receiverCharactersMax = 100
export const receiversMax = 100

const idMax = 999_999_999_999_999

/** An id as it may be sent: a number, or its digits. */
export const IdInput = (description: string) =>
  Type.Union([Type.Integer({ minimum: 0, maximum: idMax }), Type.String({ pattern: '^[0-9]{1,15}$' })], { description })

const Receivers = Type.Object({
  uids: Type.Optional(Type.Array(Id(FilledText(receiverCharactersMax)))),
  guids: Type.Optional(Type.Array(Id(FilledText(receiverCharactersMax)))),
})

/**
 * The content, whose known parts are named so that `null` in them counts as not sent; all else is stored as it comes. An
 * empty text is looked at: an edit takes a caption away with it.
 */
const Data = (description: string) =>
  Type.Unknown({
    description,
    properties: {
      text: NeverEmpty(Type.Unknown()),
      metadata: Type.Unknown(),
      subType: Type.Unknown(),
      conversationText: Type.Unknown(),
      updateConversation: Type.Unknown(),
      sendNotification: Type.Unknown(),
    },
  })

/** Most of it is checked by `content.ts`, which has a code of its own for each thing that can be wrong. */
export const MessageSend = Type.Object({
  receiver: Type.Optional(Id(Text(receiverCharactersMax, 'UID or GUID'))),
  receiverType: Type.Optional(Type.String({ description: '`user` or `group`' })),
  multipleReceivers: Type.Optional(Receivers),
  category: Type.Optional(NeverEmpty(Type.String({ description: '`message`, `custom` or `interactive`' }))),
  type: Type.Optional(
    NeverEmpty(Text(100, '`text`, `image`, `audio`, `video`, `file`, or a name of your own for `custom`')),
  ),
  data: Type.Optional(Data('The content')),
  metadata: Type.Optional(
    Type.Unknown({ description: 'In a form: the same as `metadata` in `data`, which wins where both are sent' }),
  ),
  muid: Type.Optional(
    Id(Text(muidCharactersMax, 'An id of your own; the same one again is answered with the first message')),
  ),
  quotedMessageId: Type.Optional(IdInput('A message of the same conversation')),
  parentId: Type.Optional(IdInput('The message whose thread this belongs to')),
  parentMessageId: Type.Optional(IdInput('The same, where `parentId` is absent')),
  tags: Type.Optional(Tags),
})
export type MessageSend = Static<typeof MessageSend>

const SentAnswer = Type.Union([
  Type.Object({ success: Type.Literal(true), data: Message }),
  Type.Object({
    success: Type.Literal(false),
    error: Type.Object({ code: Type.String(), message: Type.String() }),
  }),
])
export type SentAnswer = Static<typeof SentAnswer>

/** What became of a message to each of several receivers. */
export const SentToMany = Type.Object({
  uids: Type.Optional(Type.Record(Type.String(), SentAnswer)),
  guids: Type.Optional(Type.Record(Type.String(), SentAnswer)),
})
export type SentToMany = Static<typeof SentToMany>

export const MessageEdit = Type.Object({
  data: Type.Optional(Data('What is given replaces what was there')),
  tags: Type.Optional(Tags),
})

export const MessageDelete = Type.Object({
  permanent: Type.Optional(Type.Boolean({ description: 'Remove it for good' })),
})

const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const number = (description: string) => Type.Optional(Type.Integer({ description }))

/** So many different words may be looked for at once. */
export const searchWordsMax = 16

/** Filters that every list of messages takes; all of them combine. */
export const messageFilters = {
  fromTimestamp: number('Sent at this time or later'),
  toTimestamp: number('Sent at this time or earlier; only together with `fromTimestamp`'),
  'sentAt[from]': number('Sent at this time or later'),
  'sentAt[to]': number('Sent at this time or earlier'),
  'updatedAt[from]': number('Changed after sending, at this time or later'),
  'updatedAt[to]': number('Changed after sending, at this time or earlier'),
  'editedAt[from]': number('Edited at this time or later'),
  'editedAt[to]': number('Edited at this time or earlier'),
  updatedAt: number('Sent or changed after this time'),
  onlyUpdates: flag('Only what was changed after sending'),
  category: Type.Optional(Type.String()),
  categories: Words('Any of these categories'),
  type: Type.Optional(Type.String()),
  types: Words('Any of these types'),
  searchKey: SearchKey(
    `All words must occur, in the text or in names of files or people; ${searchWordsMax} different ones at most`,
  ),
  hasAttachments: flag('With, or without, files'),
  attachmentTypes: Words('`image`, `video`, `audio`, `file`; any of these'),
  hasMentions: flag('With, or without, mentions'),
  mentionedUids: Words('Mentions any of these users'),
  myMentionsOnly: flag('Mentions the acting user'),
  hasLinks: flag('With, or without, a web address in the text'),
  hasReactions: flag('Only with reactions'),
  sender: Type.Optional(Type.String({ description: 'Sent by this user' })),
  senders: Words('Sent by any of these users'),
  receiverType: Type.Optional(Type.String({ description: '`user` or `group`' })),
  conversationId: Type.Optional(Type.String({ description: 'Of one conversation' })),
  tags: Words('With any of these tags'),
  hideDeleted: flag('Without deleted messages'),
  onlyDeleted: flag('Only deleted messages'),
  hideReplies: flag('Without replies in threads'),
  hideMessagesFromBlockedUsers: flag('Without senders whom the acting user has blocked'),
  unread: flag('Only what the acting user has not read'),
  undelivered: flag('Only what has not reached the acting user'),
  pinned: flag('Only pinned messages'),
  saved: flag('Only what the acting user has saved'),
}

/** What is shown of each message. */
export const messageViews = {
  withTags: flag('With the tags of each message'),
  withParent: flag('With the message that a reply belongs to'),
  hideQuotedMessages: flag('Without the messages that are quoted'),
  mentionsWithBlockedInfo: flag('Mentioned users tell about blocks between them and the acting user'),
  mentionsWithTagInfo: flag('Mentioned users have their tags'),
  mentionswithTagInfo: flag('The same, in an older spelling'),
}

export const messageLimits = { usual: 100, max: 1_000 }

export const MessageListQuery = Type.Object({
  ...messageFilters,
  ...messageViews,
  count: flag('With `unread`: how many there are of each user and group, instead of the messages'),
  affix: Type.Optional(Type.Unsafe<'append' | 'prepend'>({ type: 'string', enum: ['append', 'prepend'] })),
  id: Type.Optional(Type.Integer({ minimum: 0, description: 'Read on from this message, itself left out' })),
  sentAt: number('Read on from this time'),
  pinnedAt: number('With `pinned` and `id`: when the message to read on from was pinned, should it be no longer'),
  limit: Limit(messageLimits),
})
export type MessageListQuery = Static<typeof MessageListQuery>

/** Without an acting user the messages of a user come in pages. */
export const UserMessageListQuery = listQuery(MessageListQuery.properties)

export const MessageStretch = Type.Object({
  data: Type.Array(Message),
  meta: CursorMeta({
    sentAt: Type.Optional(Type.Integer()),
    id: Type.Optional(Type.String()),
    pinnedAt: Type.Optional(Type.Integer({ description: 'Among pinned messages' })),
  }),
})

export const MessagePage = Type.Object({
  data: Type.Array(Message),
  meta: Type.Object({
    pagination: Pagination,
    cursor: Type.Optional(Type.Object({ id: Type.Integer(), affix: Type.String() })),
  }),
})

/** Who has received and read a message. */
const Receipt = Type.Object(
  {
    messageId: Type.String(),
    sender: Type.Record(Type.String(), Type.Unknown(), { description: 'Who received or read it' }),
    receiverId: Type.String(),
    receiverType: Type.Unsafe<'user' | 'group'>({ type: 'string', enum: ['user', 'group'] }),
    receiptType: Type.Unsafe<'delivery' | 'read'>({ type: 'string', enum: ['delivery', 'read'] }),
    deliveredAt: Type.Integer(),
    readAt: Type.Optional(Type.Integer()),
  },
  { title: 'Receipt' },
)

export const receiptLimits = { usual: 100, max: 1_000 }

export const ReceiptListQuery = Type.Object({
  limit: Limit(receiptLimits),
  affix: Type.Optional(Affix),
  id: Type.Optional(Type.String({ description: 'The UID to read on from, itself left out' })),
})

export const ReceiptStretch = Type.Object({
  data: Type.Array(Receipt),
  meta: CursorMeta({ id: Type.Optional(Type.String({ description: 'A UID' })) }),
})

/** How clients have always read counts. */
export const UnreadCountsByKind = Type.Object({
  data: Type.Object({
    users: Type.Record(Type.String(), Type.Integer()),
    groups: Type.Record(Type.String(), Type.Integer()),
  }),
})

export const UnreadCounts = Type.Object({
  data: Type.Array(
    Type.Object({
      entityType: Type.Unsafe<'user' | 'group'>({ type: 'string', enum: ['user', 'group'] }),
      entityId: Type.String(),
      count: Type.Integer(),
    }),
  ),
})
