import { prepared, preparedRows, type TenantDb } from '../../storage/tenant.ts'
import type { Place } from './place.ts'
import { type ForAll, seenRow } from './sides.ts'
import type { ConversationRow, MemberRow, MessageRow } from './tables.ts'

const conversationById = prepared<{ conversationId: string }, ConversationRow>((db, { conversationId }) =>
  db.select('conversations').selectAll().where('conversations.conversation_id', '=', conversationId),
)

export async function findConversation(db: TenantDb, conversationId: string): Promise<ConversationRow | undefined> {
  const [row] = await conversationById(db, { conversationId })
  return row
}

const rowOfUser = prepared<{ conversationId: string; uid: string }, MemberRow & ForAll>((db, { conversationId, uid }) =>
  db
    .select('conversation_rows')
    .innerJoin('conversations', (join) =>
      join
        .onRef('conversations.app_id', '=', 'conversation_rows.app_id')
        .onRef('conversations.conversation_id', '=', 'conversation_rows.conversation_id'),
    )
    .selectAll('conversation_rows')
    .select(['conversations.cleared_seq as all_cleared_seq', 'conversations.cleared_counted as all_cleared_counted'])
    .where('conversation_rows.conversation_id', '=', conversationId)
    .where('conversation_rows.uid', '=', uid),
)

/** One user's side of a conversation; nothing, if it is not theirs. */
export async function findRow(db: TenantDb, conversationId: string, uid: string): Promise<MemberRow | undefined> {
  const [row] = await rowOfUser(db, { conversationId, uid })
  return row && seenRow(row)
}

/**
 * Lets users take part from here on: what was said before is there to read and counts as read. Those who take part
 * already stay as they are.
 */
export async function openRows(db: TenantDb, place: Place, uids: string[], now: number): Promise<void> {
  const { conversationId } = place
  const conversation = await findConversation(db, conversationId)
  const { last_seq = 0, last_counted = 0, cleared_seq = 0, cleared_counted = 0 } = conversation ?? {}
  // A first message waits for both sides; one who comes to a group has nothing waiting.
  const [from, counted] = place.type === 'user' ? [cleared_seq, cleared_counted] : [last_seq, last_counted]
  const values = [...new Set(uids)].map((uid) => ({
    uid,
    conversation_id: conversationId,
    delivered_seq: from,
    read_seq: from,
    read_counted: counted,
    cleared_seq,
    // Whoever comes after everything was hidden has a conversation all the same.
    kept: cleared_seq > 0 ? 1 : 0,
    created_at: now,
  }))
  if (values.length === 0) return
  await db
    .insert('conversation_rows', values)
    .onConflict((conflict) => conflict.columns(['app_id', 'uid', 'conversation_id']).doNothing())
    .execute()
}

type NewSide = Pick<
  MemberRow,
  'uid' | 'conversation_id' | 'delivered_seq' | 'read_seq' | 'read_counted' | 'cleared_seq' | 'created_at'
>

const addSides = preparedRows<NewSide, never>((db, rows) =>
  db
    .insert('conversation_rows', rows)
    .onConflict((conflict) => conflict.columns(['app_id', 'uid', 'conversation_id']).doNothing()),
)

/**
 * Gives both users a side of what one has just said to the other, if they have none. A side can be missing also later on:
 * a user was deleted for good, and whoever has the UID now sees nothing of what was said to the one before.
 */
export async function openSides(
  db: TenantDb,
  { first, second }: Place,
  { conversation_id, seq, counted, counts }: MessageRow,
  now: number,
): Promise<void> {
  const before = seq - 1
  const side = {
    conversation_id,
    delivered_seq: before,
    read_seq: before,
    read_counted: counted - counts,
    cleared_seq: before,
    created_at: now,
  }
  await addSides(
    db,
    [...new Set([first, second])].map((uid) => ({ uid, ...side })),
  )
}

/** Makes sure that a conversation exists, for rows without a message. */
export async function openConversation(db: TenantDb, place: Place, now: number): Promise<void> {
  await db
    .insert('conversations', {
      conversation_id: place.conversationId,
      type: place.type,
      first: place.first,
      second: place.second,
      last_seq: 0,
      last_counted: 0,
      shown_seq: 0,
      active_at: now,
      created_at: now,
    })
    .onConflict((conflict) => conflict.columns(['app_id', 'conversation_id']).doNothing())
    .execute()
}

/** Ends one user's part; what they had read stays on record. */
export async function closeRow(db: TenantDb, { conversationId }: Place, uid: string): Promise<void> {
  await db.delete('conversation_rows').where('conversation_id', '=', conversationId).where('uid', '=', uid).execute()
}
