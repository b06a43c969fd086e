import { type Generated, type Selectable, sql } from 'kysely'
import type { Migrations } from '../../storage/migrate.ts'
import type { ConversationKey } from './place.ts'
import { giveKeys } from './rekey.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    conversations: ConversationTable
    conversation_rows: ConversationRowTable
    receipt_marks: ReceiptMarkRow
    messages: MessageTable
    message_mentions: MessageMentionRow
  }
}

/** What was said between some users. Its messages are numbered without gaps, so counts are differences of numbers. */
interface ConversationTable {
  app_id: string
  conversation_key: ConversationKey
  type: 'user' | 'group'
  /** The group, or the first of the two users by UID. */
  first: string
  /** The second of two users; empty for a group. */
  second: string
  /** The number of the newest message. */
  last_seq: number
  /** How many messages up to the newest count as unread for those who have not read them. */
  last_counted: number
  /** The message shown in lists of conversations; 0 while there is none. */
  shown_seq: number
  /** Messages up to this one are gone from everyone's sight, and how many of them counted. */
  purged_seq: Generated<number>
  purged_counted: Generated<number>
  /** Of these, messages up to this one are gone for good, also where they are not cleared away yet. */
  erased_seq: Generated<number>
  /** When the message shown in lists was sent. */
  active_at: number
  /** When the newest message was sent, shown or not. */
  last_at: number
  created_at: number
}

export type ConversationRow = Selectable<ConversationTable>

/** One user's side of a conversation: how far they have come, and what they keep about it. */
interface ConversationRowTable {
  app_id: string
  uid: string
  conversation_key: ConversationKey
  /** Received and read up to here. */
  delivered_seq: number
  read_seq: number
  /** The conversation's count of countable messages at `read_seq`. */
  read_counted: number
  /** Hidden from this user up to here, by a reset. */
  cleared_seq: Generated<number>
  /** 1: a reset left the row at its place in the list. */
  kept: Generated<number>
  /** A JSON array as text. */
  tags: Generated<string | null>
  pinned_at: Generated<number | null>
  created_at: number
}

export type MemberRow = Selectable<ConversationRowTable>

export type ReceiptKind = 'delivered' | 'read'

/** Somebody had come as far as `seq` at this moment; nobody's name stands for everybody. */
export interface ReceiptMarkRow {
  app_id: string
  conversation_key: ConversationKey
  uid: string
  kind: ReceiptKind
  seq: number
  at: number
}

interface MessageTable {
  app_id: string
  id: Generated<number>
  conversation_key: ConversationKey
  seq: number
  /** Countable messages of the conversation up to this one, itself included. */
  counted: number
  /** 1: counts as unread for whoever has not read it. */
  counts: number
  sender: string
  receiver: string
  receiver_type: 'user' | 'group'
  category: string
  type: string
  /** The content as JSON text, as it is answered. */
  data: string
  muid: string | null
  parent_id: number | null
  quoted_id: number | null
  /** Replies in the thread that this message began. */
  reply_count: Generated<number>
  /** A JSON array as text. */
  tags: string | null
  /** Letters for what filters ask: a attachments, l links, m mentions, r reactions; see `flagsOf`. */
  flags: Generated<string>
  sent_at: number
  updated_at: number
  edited_at: Generated<number | null>
  edited_by: Generated<string | null>
  deleted_at: Generated<number | null>
  deleted_by: Generated<string | null>
  pinned_at: Generated<number | null>
  pinned_by: Generated<string | null>
  /** 1: deleted for good; only its number is left. */
  purged: Generated<number>
}

export type MessageRow = Selectable<MessageTable>

/** Finds the messages that mention a user. */
export interface MessageMentionRow {
  app_id: string
  uid: string
  conversation_key: ConversationKey
  seq: number
  message_id: number
}

export const migrations: Migrations = {
  '20261115-timeline': async ({ schema }, numbered) => {
    await schema
      .createTable('conversations')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('first', 'text', (column) => column.notNull())
      .addColumn('second', 'text', (column) => column.notNull())
      .addColumn('last_seq', 'bigint', (column) => column.notNull())
      .addColumn('last_counted', 'bigint', (column) => column.notNull())
      .addColumn('shown_seq', 'bigint', (column) => column.notNull())
      .addColumn('purged_seq', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('active_at', 'bigint', (column) => column.notNull())
      .addColumn('last_at', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('conversations_key', ['app_id', 'conversation_id'])
      .execute()
    await schema
      .createTable('conversation_rows')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('delivered_seq', 'bigint', (column) => column.notNull())
      .addColumn('read_seq', 'bigint', (column) => column.notNull())
      .addColumn('read_counted', 'bigint', (column) => column.notNull())
      .addColumn('cleared_seq', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('kept', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('tags', 'text')
      .addColumn('pinned_at', 'bigint')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('conversation_rows_key', ['app_id', 'uid', 'conversation_id'])
      .execute()
    // Receipts are listed in the order of UIDs.
    await schema
      .createIndex('conversation_rows_of_conversation')
      .on('conversation_rows')
      .columns(['app_id', 'conversation_id', 'uid'])
      .execute()
    // Who is furthest behind is who "everybody" waits for.
    for (const cursor of ['read_seq', 'delivered_seq']) {
      await schema
        .createIndex(`conversation_rows_by_${cursor}`)
        .on('conversation_rows')
        .columns(['app_id', 'conversation_id', cursor])
        .execute()
    }
    await schema
      .createTable('receipt_marks')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('seq', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('receipt_marks_key', ['app_id', 'conversation_id', 'uid', 'kind', 'seq'])
      .execute()
    await numbered(schema.createTable('messages'))
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('seq', 'bigint', (column) => column.notNull())
      .addColumn('counted', 'bigint', (column) => column.notNull())
      .addColumn('counts', 'integer', (column) => column.notNull())
      .addColumn('sender', 'text', (column) => column.notNull())
      .addColumn('receiver', 'text', (column) => column.notNull())
      .addColumn('receiver_type', 'text', (column) => column.notNull())
      .addColumn('category', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('data', 'text', (column) => column.notNull())
      .addColumn('muid', 'text')
      .addColumn('parent_id', 'bigint')
      .addColumn('quoted_id', 'bigint')
      .addColumn('reply_count', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('tags', 'text')
      .addColumn('flags', 'text', (column) => column.notNull().defaultTo(''))
      .addColumn('sent_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addColumn('edited_at', 'bigint')
      .addColumn('edited_by', 'text')
      .addColumn('deleted_at', 'bigint')
      .addColumn('deleted_by', 'text')
      .addColumn('pinned_at', 'bigint')
      .addColumn('pinned_by', 'text')
      .addColumn('purged', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await schema.createIndex('messages_by_id').unique().on('messages').columns(['app_id', 'id']).execute()
    await schema
      .createIndex('messages_by_seq')
      .unique()
      .on('messages')
      .columns(['app_id', 'conversation_id', 'seq'])
      .execute()
    await schema
      .createIndex('messages_in_conversation')
      .on('messages')
      .columns(['app_id', 'conversation_id', 'id'])
      .execute()
    await schema
      .createIndex('messages_by_sender')
      .on('messages')
      .columns(['app_id', 'conversation_id', 'sender', 'seq'])
      .execute()
    await schema.createIndex('messages_of_sender').on('messages').columns(['app_id', 'sender', 'id']).execute()
    await schema
      .createIndex('messages_by_muid')
      .on('messages')
      .columns(['app_id', 'conversation_id', 'muid'])
      .where(sql.ref('muid'), 'is not', null)
      .execute()
    await schema
      .createIndex('messages_in_thread')
      .on('messages')
      .columns(['app_id', 'parent_id', 'id'])
      .where(sql.ref('parent_id'), 'is not', null)
      .execute()
    await schema
      .createIndex('messages_with_replies')
      .on('messages')
      .columns(['app_id', 'updated_at', 'id'])
      .where(sql.ref('reply_count'), '>', 0)
      .execute()
    for (const [whose, column] of [
      ['conversation', 'conversation_id'],
      ['sender', 'sender'],
    ] as const) {
      await schema
        .createIndex(`messages_with_replies_of_${whose}`)
        .on('messages')
        .columns(['app_id', column, 'updated_at', 'id'])
        .where(sql.ref('reply_count'), '>', 0)
        .execute()
    }
    // Countable messages that were deleted: few, and every count of unread messages asks for them.
    await schema
      .createIndex('messages_uncounted')
      .on('messages')
      .columns(['app_id', 'conversation_id', 'seq'])
      .where(sql.ref('deleted_at'), 'is not', null)
      .execute()
    await schema
      .createIndex('messages_pinned')
      .on('messages')
      .columns(['app_id', 'conversation_id', 'pinned_at'])
      .where(sql.ref('pinned_at'), 'is not', null)
      .execute()
    await schema
      .createTable('message_mentions')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('seq', 'bigint', (column) => column.notNull())
      .addColumn('message_id', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('message_mentions_key', ['app_id', 'uid', 'conversation_id', 'seq'])
      .execute()
    await schema
      .createIndex('message_mentions_of_message')
      .on('message_mentions')
      .columns(['app_id', 'message_id'])
      .execute()
  },
  '20261116-messages-under-way': (schema, _numbered, { showIdsUnderWay }) => showIdsUnderWay(schema, 'messages'),
  '20261116-timeline-purged': async ({ schema }) => {
    for (const name of ['purged_counted', 'erased_seq']) {
      await schema
        .alterTable('conversations')
        .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
    }
  },
  '20261118-conversation-keys': giveKeys,
}
