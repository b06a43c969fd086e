import { sql } from 'kysely'
import type { Work } from '../../kit/work.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { markRead } from './cursors.ts'
import type { ConversationKey, Place } from './place.ts'
import { settleAll, tellProgress } from './progress.ts'
import { openSides } from './rows.ts'
import { noticeOf } from './rules.ts'
import type { ConversationRow, MessageRow } from './tables.ts'

/** What is to be said. */
export interface Draft {
  sender: string
  receiver: string
  category: string
  type: string
  /** The content, as it is answered. */
  data: Record<string, unknown>
  muid?: string | undefined
  parentId?: number | undefined
  quotedId?: number | undefined
  tags?: string[] | undefined
  flags?: string
  /** UIDs of the users that the text mentions. */
  mentions?: string[]
  /** It belongs to a thread, as replies do anyway: something was done to one. */
  inThread?: boolean | undefined
}

interface Numbers {
  type: string
  conversationKey: ConversationKey
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
      conversation_key: value.conversationKey,
      type: value.type as 'user',
      first: value.first,
      second: value.second,
      last_seq: 1,
      last_counted: value.counts,
      shown_seq: value.shown,
      active_at: value.now,
      last_at: value.now,
      created_at: value.now,
    })
    .onConflict((conflict) =>
      conflict.columns(['app_id', 'conversation_key']).doUpdateSet({
        last_seq: sql`conversations.last_seq + 1`,
        last_counted: sql`conversations.last_counted + excluded.last_counted`,
        shown_seq: sql`CASE WHEN excluded.shown_seq = 1 THEN conversations.last_seq + 1 ELSE conversations.shown_seq END`,
        active_at: sql`CASE WHEN excluded.shown_seq = 1 AND excluded.active_at > conversations.active_at
          THEN excluded.active_at ELSE conversations.active_at END`,
        last_at: sql`CASE WHEN excluded.last_at > conversations.last_at
          THEN excluded.last_at ELSE conversations.last_at END`,
      }),
    )
    .returningAll(),
)

/** What nobody has done to a message yet. */
const untouched = {
  reply_count: 0,
  edited_at: null,
  edited_by: null,
  deleted_at: null,
  deleted_by: null,
  pinned_at: null,
  pinned_by: null,
  purged: 0,
}

type NewMessage = Omit<MessageRow, 'app_id' | 'id' | keyof typeof untouched>

const addMessage = prepared<NewMessage, Pick<MessageRow, 'id'>>((db, value) =>
  db
    .insert('messages', {
      conversation_key: value.conversation_key,
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
      sent_at: value.sent_at,
      updated_at: value.updated_at,
    })
    .returning('id'),
)

/** Writes a message at the end of a conversation, and what follows from it for the two sides. */
export async function writeMessage(work: Work, place: Place, draft: Draft): Promise<MessageRow> {
  const { db, now } = work
  const { category, type, data, inThread = draft.parentId !== undefined } = draft
  const notice = noticeOf(await work.settings(), { category, type, data, inThread })
  const counts = notice.counts ? 1 : 0
  const [conversation] = await takeNumber(db, {
    type: place.type,
    conversationKey: place.conversationKey,
    first: place.first,
    second: place.second,
    counts,
    shown: notice.shown ? 1 : 0,
    now,
  })
  if (!conversation) throw new Error('A conversation gave no number.')
  // A clock that was set back does not turn the order round.
  const sentAt = conversation.last_at
  const message: NewMessage = {
    conversation_key: place.conversationKey,
    seq: conversation.last_seq,
    counted: conversation.last_counted,
    counts,
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
  }
  const [added] = await addMessage(db, message)
  if (!added) throw new Error('A message was not written.')
  const row: MessageRow = { ...message, ...untouched, app_id: db.appId, id: added.id }
  await addMentions(db, row, draft.mentions ?? [])
  // Whoever speaks has seen what was said; whoever does something, such as deleting or calling, need not have.
  if (!isDeed(draft)) await catchUp(work, conversation, row)
  else if (place.type === 'user') await openSides(db, place, row, now)
  return row
}

function isDeed({ category }: Draft): boolean {
  return category === 'action' || category === 'call'
}

async function catchUp(work: Work, conversation: ConversationRow, row: MessageRow): Promise<void> {
  const steps = await markRead(work, conversation, row)
  if (!steps) return
  await tellProgress(work, conversation, row.sender, steps)
  await settleAll(work, conversation)
}

/** The message that a sender has sent under this id of their own, unless it is gone for good. */
export async function messageSentAs(
  db: TenantDb,
  { conversation_key: conversationKey, erased_seq }: Pick<ConversationRow, 'conversation_key' | 'erased_seq'>,
  sender: string,
  muid: string,
): Promise<MessageRow | undefined> {
  return db
    .select('messages')
    .selectAll()
    .where('messages.conversation_key', '=', conversationKey)
    .where('messages.muid', '=', muid)
    .where('messages.sender', '=', sender)
    .where('messages.seq', '>', erased_seq)
    .where('messages.purged', '=', 0)
    .orderBy('messages.seq')
    .limit(1)
    .executeTakeFirst()
}

export async function addMentions(
  db: TenantDb,
  { conversation_key, seq, id }: MessageRow,
  uids: string[],
): Promise<void> {
  if (uids.length === 0) return
  await db
    .insert(
      'message_mentions',
      uids.map((uid) => ({ uid, conversation_key, seq, message_id: id })),
    )
    .execute()
}
