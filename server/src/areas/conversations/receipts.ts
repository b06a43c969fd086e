import { sql } from 'kysely'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { messageNotFound } from '../messages/errors.ts'
import { advance, findConversation, type MessageRow, type ReceiptKind, retreat, type Side } from '../timeline/index.ts'
import { findUser, systemUid, systemUser, toUser } from '../users/index.ts'
import { deliveredToAll, messagesDelivered, messagesRead, readByAll } from './events.ts'

/** Moves a user's cursor to a message, or to the last one, and tells whoever waits for it. */
export async function markUpTo(
  work: Work,
  side: Side,
  kind: ReceiptKind,
  messageId: number | undefined,
): Promise<void> {
  const { db } = work
  const conversation = await findConversation(db, side.conversation_id)
  if (!conversation) return
  const target = messageId === undefined ? await lastIn(db, side) : await requireIn(db, side, messageId)
  if (!target) return
  const from = { delivered: side.delivered_seq, read: side.read_seq }
  const outcome = await advance(work, conversation, side.uid, kind, target)
  const user = await findUser(db, side.uid)
  for (const each of ['delivered', 'read'] as const) {
    const { moved, everybodyAt } = outcome[each]
    if (moved) await tell(work, side, each, from[each], target, user ? toUser(user, { withTags: false }) : {})
    if (everybodyAt !== undefined) await tellAll(work, side, each, everybodyAt)
  }
}

/** Takes a user's cursor back: what follows the message is unread again. */
export async function markDownTo(work: Work, side: Side, messageId: number): Promise<boolean> {
  const conversation = await findConversation(work.db, side.conversation_id)
  const target = messageId === 0 ? await beginningOf(work.db, side) : await requireIn(work.db, side, messageId)
  return conversation !== undefined && target !== undefined && (await retreat(work.db, conversation, side.uid, target))
}

function messagesIn(db: TenantDb, { conversation_id }: Side) {
  return db.select('messages').selectAll().where('messages.conversation_id', '=', conversation_id)
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

function lastIn(db: TenantDb, side: Side): Promise<MessageRow | undefined> {
  return messagesIn(db, side).where('messages.seq', '=', side.last_seq).executeTakeFirst()
}

/** The newest message of somebody else that the move has passed: its author waits for the receipt. */
async function tell(
  work: Work,
  side: Side,
  kind: ReceiptKind,
  from: number,
  target: Pick<MessageRow, 'seq'>,
  user: object,
): Promise<void> {
  const newest = await messagesIn(work.db, side)
    .where('messages.seq', '>', from)
    .where('messages.seq', '<=', target.seq)
    .where('messages.sender', '!=', side.uid)
    .where('messages.purged', '=', 0)
    .orderBy('messages.seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!newest) return
  await work.emit(kind === 'read' ? messagesRead : messagesDelivered, {
    conversationId: side.conversation_id,
    receiver: side.type === 'group' ? side.first : newest.sender,
    receiverType: side.type,
    sender: side.uid,
    messageSender: newest.sender,
    messageId: String(newest.id),
    user: { ...user, status: 'online' },
    timestamp: work.now,
  })
}

async function tellAll(work: Work, side: Side, kind: ReceiptKind, seq: number): Promise<void> {
  const newest = await messagesIn(work.db, side)
    .where('messages.seq', '<=', seq)
    .where('messages.purged', '=', 0)
    .where(sql<boolean>`messages.category != 'action'`)
    .orderBy('messages.seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!newest) return
  await work.emit(kind === 'read' ? readByAll : deliveredToAll, {
    conversationId: side.conversation_id,
    receiver: side.first,
    receiverType: 'group',
    sender: systemUid,
    messageSender: newest.sender,
    messageId: String(newest.id),
    user: systemUser,
    timestamp: work.now,
  })
}
