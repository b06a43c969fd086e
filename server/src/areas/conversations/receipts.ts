import type { Work } from '../../kit/work.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { messageNotFound } from '../messages/errors.ts'
import {
  advance,
  type ConversationKey,
  findConversation,
  findSide,
  type MessageRow,
  type ReceiptKind,
  retreat,
  type Side,
  settleAll,
  tellProgress,
} from '../timeline/index.ts'
import { notAccessible } from './errors.ts'
import { isListed } from './sides.ts'

/** Moves a user's cursor to a message, or to the last one, and tells whoever waits for it. */
export async function markUpTo(
  work: Work,
  side: Side,
  kind: ReceiptKind,
  messageId: number | undefined,
): Promise<void> {
  const { db } = work
  const conversation = await findConversation(db, side.conversation_key)
  if (!conversation) return
  const target = messageId === undefined ? await lastIn(db, side) : await requireIn(db, side, messageId)
  if (!target) return
  const { steps, wasLast } = await advance(work, conversation, side.uid, kind, target)
  if (steps.delivered || steps.read) await tellProgress(work, conversation, side.uid, steps)
  await settleAll(work, conversation, wasLast)
}

/** Marks a conversation as read up to a message that the user can see. */
export async function readUpTo(work: Work, { id, conversation_key }: MessageRow, uid: string): Promise<void> {
  await markUpTo(work, accessible(await findSide(work.db, conversation_key, uid)), 'read', id)
}

/** The side of a conversation that a user has in their list, or could have. */
export function accessible(side: Side | undefined): Side {
  if (!side || !isListed(side)) throw notAccessible()
  return side
}

/** Takes a user's cursor back: what follows the message is unread again. */
export async function markDownTo(work: Work, side: Side, messageId: number): Promise<boolean> {
  const conversation = await findConversation(work.db, side.conversation_key)
  const target = messageId === 0 ? await beginningOf(work.db, side) : await requireIn(work.db, side, messageId)
  return conversation !== undefined && target !== undefined && (await retreat(work.db, conversation, side.uid, target))
}

function messagesIn(db: TenantDb, { conversation_key }: Side) {
  return db.select('messages').selectAll().where('messages.conversation_key', '=', conversation_key)
}

async function requireIn(db: TenantDb, side: Side, id: number): Promise<MessageRow> {
  const row = await messagesIn(db, side)
    .where('messages.id', '=', id)
    // What a reset hides is not there for this user.
    .where('messages.seq', '>', side.cleared_seq)
    .where('messages.purged', '=', 0)
    .executeTakeFirst()
  if (!row) throw messageNotFound({ id })
  return row
}

/** Before the first message that the user can see; nothing, where there is none. */
async function beginningOf(db: TenantDb, side: Side): Promise<Pick<MessageRow, 'seq' | 'counted'> | undefined> {
  const first = await messagesIn(db, side)
    .where('messages.seq', '>', side.cleared_seq)
    .orderBy('messages.seq')
    .limit(1)
    .executeTakeFirst()
  return first && { seq: side.cleared_seq, counted: first.counted - first.counts }
}

const messageAt = prepared<{ conversationKey: ConversationKey; seq: number }, MessageRow>(
  (db, { conversationKey, seq }) =>
    db
      .select('messages')
      .selectAll()
      .where('messages.conversation_key', '=', conversationKey)
      .where('messages.seq', '=', seq),
)

async function lastIn(db: TenantDb, { conversation_key, last_seq }: Side): Promise<MessageRow | undefined> {
  const [last] = await messageAt(db, { conversationKey: conversation_key, seq: last_seq })
  return last
}
