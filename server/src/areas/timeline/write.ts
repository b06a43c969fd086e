import { sql } from 'kysely'
import type { Work } from '../../kit/work.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { markRead } from './cursors.ts'
import type { Place } from './place.ts'
import { openSides } from './rows.ts'
import type { ConversationRow, MessageRow } from './tables.ts'

/** What is to be said. */
export interface Draft {
  sender: string
  receiver: string
  category: string
  type: string
  /** The content, as it is answered. */
  data: object
  muid?: string | undefined
  parentId?: number | undefined
  quotedId?: number | undefined
  tags?: string[] | undefined
  flags?: string
  /** UIDs of the users that the text mentions. */
  mentions?: string[]
  /** Whether it counts as unread, and whether lists of conversations show it as the last message. */
  counts: boolean
  shown: boolean
}

interface Numbers {
  type: string
  conversationId: string
  first: string
  second: string
  counts: number
  shown: number
  now: number
}

/**
 * Gives the next number in a conversation, which begins if need be. Whoever has one keeps all others waiting until the
 * commit, so numbers have no gaps and messages no other order than theirs.
 */
const takeNumber = prepared<Numbers, ConversationRow>((db, value) =>
  db
    .insert('conversations', {
      conversation_id: value.conversationId,
      type: value.type as 'user',
      first: value.first,
      second: value.second,
      last_seq: 1,
      last_counted: value.counts,
      shown_seq: value.shown,
      active_at: value.now,
      created_at: value.now,
    })
    .onConflict((conflict) =>
      conflict.columns(['app_id', 'conversation_id']).doUpdateSet({
        last_seq: sql`conversations.last_seq + 1`,
        last_counted: sql`conversations.last_counted + excluded.last_counted`,
        shown_seq: sql`CASE WHEN excluded.shown_seq = 1 THEN conversations.last_seq + 1 ELSE conversations.shown_seq END`,
        active_at: sql`CASE WHEN excluded.shown_seq = 1 AND excluded.active_at > conversations.active_at
          THEN excluded.active_at ELSE conversations.active_at END`,
      }),
    )
    .returningAll(),
)

type NewMessage = Omit<
  MessageRow,
  | 'app_id'
  | 'id'
  | 'reply_count'
  | 'edited_at'
  | 'edited_by'
  | 'deleted_at'
  | 'deleted_by'
  | 'pinned_at'
  | 'pinned_by'
  | 'purged'
>

/** The last message may be one that does not show in lists of conversations, and so does not move their time. */
function noEarlierThanLast(db: TenantDb, { conversation_id, seq, sent_at }: NewMessage): number {
  const moment = sql<number>`(SELECT max(at) FROM (SELECT CAST(${sent_at} AS bigint) AS at UNION ALL
    SELECT messages.sent_at FROM messages WHERE messages.app_id = ${db.appId}
    AND messages.conversation_id = ${conversation_id} AND messages.seq = CAST(${seq} AS bigint) - 1) AS moments)`
  // A statement takes it in the place of a value.
  return moment as unknown as number
}

const addMessage = prepared<NewMessage, MessageRow>((db, value) =>
  db
    .insert('messages', {
      conversation_id: value.conversation_id,
      seq: value.seq,
      counted: value.counted,
      counts: value.counts,
      sender: value.sender,
      receiver: value.receiver,
      receiver_type: value.receiver_type,
      category: value.category,
      type: value.type,
      data: value.data,
      muid: value.muid,
      parent_id: value.parent_id,
      quoted_id: value.quoted_id,
      tags: value.tags,
      flags: value.flags,
      sent_at: noEarlierThanLast(db, value),
      updated_at: noEarlierThanLast(db, value),
    })
    .returningAll(),
)

/** Writes a message at the end of a conversation, and what follows from it for the two sides. */
export async function writeMessage(
  { db, now }: Pick<Work, 'db' | 'now'>,
  place: Place,
  draft: Draft,
): Promise<MessageRow> {
  const [conversation] = await takeNumber(db, {
    type: place.type,
    conversationId: place.conversationId,
    first: place.first,
    second: place.second,
    counts: draft.counts ? 1 : 0,
    shown: draft.shown ? 1 : 0,
    now,
  })
  if (!conversation) throw new Error('A conversation gave no number.')
  // A clock that was set back does not turn the order round.
  const sentAt = Math.max(now, conversation.active_at)
  const [row] = await addMessage(db, {
    conversation_id: place.conversationId,
    seq: conversation.last_seq,
    counted: conversation.last_counted,
    counts: draft.counts ? 1 : 0,
    sender: draft.sender,
    receiver: draft.receiver,
    receiver_type: place.type,
    category: draft.category,
    type: draft.type,
    data: JSON.stringify(draft.data),
    muid: draft.muid ?? null,
    parent_id: draft.parentId ?? null,
    quoted_id: draft.quotedId ?? null,
    tags: draft.tags && draft.tags.length > 0 ? JSON.stringify(draft.tags) : null,
    flags: draft.flags ?? '',
    sent_at: sentAt,
    updated_at: sentAt,
  })
  if (!row) throw new Error('A message was not written.')
  await addMentions(db, row, draft.mentions ?? [])
  if (place.type === 'user') await openSides(db, place, row, now)
  // Whoever speaks has seen what was said; whoever does something, such as deleting, need not have.
  if (draft.category !== 'action') await markRead({ db, now }, row)
  return row
}

/** The message that a sender has sent under this id of his own. */
export async function messageSentAs(
  db: TenantDb,
  { conversationId }: Place,
  sender: string,
  muid: string,
): Promise<MessageRow | undefined> {
  return db
    .select('messages')
    .selectAll()
    .where('messages.conversation_id', '=', conversationId)
    .where('messages.muid', '=', muid)
    .where('messages.sender', '=', sender)
    .orderBy('messages.seq')
    .limit(1)
    .executeTakeFirst()
}

export async function addMentions(
  db: TenantDb,
  { conversation_id, seq, id }: MessageRow,
  uids: string[],
): Promise<void> {
  if (uids.length === 0) return
  await db
    .insert(
      'message_mentions',
      uids.map((uid) => ({ uid, conversation_id, seq, message_id: id })),
    )
    .execute()
}
