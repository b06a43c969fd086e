import { sql } from 'kysely'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { holdConversation, type MessageRow } from '../timeline/index.ts'
import { holdUsers } from '../users/index.ts'
import { tooManyPinned, tooManySaved } from './errors.ts'

const pinnedMax = 100
const savedMax = 100

type Doing = Pick<Work, 'db' | 'now'>

/** Pins a message in its conversation; pinned again, it is the latest pinner's. */
export async function pinMessage({ db, now }: Doing, row: MessageRow, by: string): Promise<MessageRow> {
  // Of two at once the second counts the first.
  await holdConversation(db, row.conversation_id)
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM messages WHERE messages.app_id = ${db.appId}
    AND messages.conversation_id = ${row.conversation_id} AND messages.pinned_at IS NOT NULL
    AND messages.id != ${row.id}`.execute(db.connection.query)
  if ((rows[0]?.n ?? 0) >= pinnedMax) throw tooManyPinned({ max: pinnedMax })
  return put(db, row, { pinned_by: by, pinned_at: now })
}

export function unpinMessage(db: TenantDb, row: MessageRow): Promise<MessageRow> {
  return put(db, row, { pinned_by: null, pinned_at: null })
}

function put(
  db: TenantDb,
  { id }: MessageRow,
  columns: Pick<MessageRow, 'pinned_by' | 'pinned_at'>,
): Promise<MessageRow> {
  return db.update('messages').set(columns).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}

/** Saves a message for a user; answers whether it was not saved before. */
export async function saveMessage({ db, now }: Doing, { id }: MessageRow, uid: string): Promise<boolean> {
  await holdUsers(db, [uid])
  const saved = db.select('saved_messages').select('saved_messages.message_id').where('saved_messages.uid', '=', uid)
  if (await saved.where('saved_messages.message_id', '=', id).executeTakeFirst()) return false
  if ((await saved.limit(savedMax).execute()).length >= savedMax) throw tooManySaved({ max: savedMax })
  await db.insert('saved_messages', { uid, message_id: id, saved_at: now }).execute()
  return true
}

export async function unsaveMessage(db: TenantDb, { id }: MessageRow, uid: string): Promise<boolean> {
  const row = await db
    .delete('saved_messages')
    .where('uid', '=', uid)
    .where('message_id', '=', id)
    .returning('uid')
    .executeTakeFirst()
  return row !== undefined
}

/** When a user saved each of some messages. */
export async function savedTimes(
  db: TenantDb,
  ids: number[],
  viewer: string | undefined,
): Promise<Map<number, number>> {
  const rows = await db
    .select('saved_messages')
    .select(['saved_messages.message_id', 'saved_messages.saved_at'])
    .where('saved_messages.uid', '=', viewer ?? '')
    .where('saved_messages.message_id', 'in', ids)
    .execute()
  return new Map(rows.map(({ message_id, saved_at }) => [message_id, saved_at]))
}

export function idsSavedBy(db: TenantDb, uid: string) {
  return sql<number>`(SELECT saved_messages.message_id FROM saved_messages
    WHERE saved_messages.app_id = ${db.appId} AND saved_messages.uid = ${uid})`
}

export async function forgetSavesOf(db: TenantDb, uid: string): Promise<void> {
  await db.delete('saved_messages').where('uid', '=', uid).execute()
}
