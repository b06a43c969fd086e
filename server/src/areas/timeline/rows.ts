import { prepared, type TenantDb } from '../../storage/tenant.ts'
import type { Place } from './place.ts'
import type { ConversationRow, MemberRow } from './tables.ts'

const conversationById = prepared<{ conversationId: string }, ConversationRow>((db, { conversationId }) =>
  db.select('conversations').selectAll().where('conversations.conversation_id', '=', conversationId),
)

export async function findConversation(db: TenantDb, conversationId: string): Promise<ConversationRow | undefined> {
  const [row] = await conversationById(db, { conversationId })
  return row
}

const rowOfUser = prepared<{ conversationId: string; uid: string }, MemberRow>((db, { conversationId, uid }) =>
  db
    .select('conversation_rows')
    .selectAll()
    .where('conversation_rows.conversation_id', '=', conversationId)
    .where('conversation_rows.uid', '=', uid),
)

/** One user's side of a conversation; nothing, if it is not theirs. */
export async function findRow(db: TenantDb, conversationId: string, uid: string): Promise<MemberRow | undefined> {
  const [row] = await rowOfUser(db, { conversationId, uid })
  return row
}

/**
 * Lets users take part from here on: what was said before is there to read and counts as read. Those who take part
 * already stay as they are.
 */
export async function openRows(db: TenantDb, place: Place, uids: string[], now: number): Promise<void> {
  const { conversationId } = place
  const conversation = await findConversation(db, conversationId)
  const opening = place.type === 'user'
  const values = [...new Set(uids)].map((uid) => ({
    uid,
    conversation_id: conversationId,
    // A first message waits for both sides; one who comes to a group has nothing waiting.
    delivered_seq: opening ? 0 : (conversation?.last_seq ?? 0),
    read_seq: opening ? 0 : (conversation?.last_seq ?? 0),
    read_counted: opening ? 0 : (conversation?.last_counted ?? 0),
    created_at: now,
  }))
  if (values.length === 0) return
  await db
    .insert('conversation_rows', values)
    .onConflict((conflict) => conflict.columns(['app_id', 'uid', 'conversation_id']).doNothing())
    .execute()
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
