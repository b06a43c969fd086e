import { sql } from 'kysely'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { actionNotAllowed } from '../messages/errors.ts'
import { holdConversation, type MessageRow, visibleTo } from '../timeline/index.ts'
import { holdUsers } from '../users/index.ts'
import { tooManyPinned, tooManySaved } from './errors.ts'

export const pinnedMax = 100
export const savedMax = 100

type Doing = Pick<Work, 'db' | 'now'>

/** Pins a message in its conversation; pinned again, it is the latest pinner's. */
export async function pinMessage({ db, now }: Doing, row: MessageRow, by: string): Promise<MessageRow> {
  // Of two at once the second counts the first.
  await holdConversation(db, row.conversation_key)
  const [others] = await db.sql<{ n: number }>`SELECT count(*) AS n FROM messages WHERE messages.app_id = ${db.appId}
    AND messages.conversation_key = ${row.conversation_key} AND messages.pinned_at IS NOT NULL
    AND messages.id != ${row.id}`.execute()
  if ((others?.n ?? 0) >= pinnedMax) throw tooManyPinned({ max: pinnedMax })
  const pinned = await db
    .update('messages')
    .set({ pinned_by: by, pinned_at: now })
    .where('id', '=', row.id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  // Meanwhile it may have been deleted.
  if (!pinned) throw actionNotAllowed({ id: row.id })
  return pinned
}

/** Unpins a message; answers whether it was pinned. */
export async function unpinMessage(db: TenantDb, { id }: MessageRow): Promise<boolean> {
  const row = await db
    .update('messages')
    .set({ pinned_by: null, pinned_at: null })
    .where('id', '=', id)
    .where('pinned_at', 'is not', null)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Saves a message for a user; answers whether it was not saved before. */
export async function saveMessage({ db, now }: Doing, { id }: MessageRow, uid: string): Promise<boolean> {
  await holdUsers(db, [uid])
  if (await isSaved(db, id, uid)) return false
  if ((await countSaved(db, uid)) >= savedMax) throw tooManySaved({ max: savedMax })
  await db.insert('saved_messages', { uid, message_id: id, saved_at: now }).execute()
  return true
}

/** What a user can no longer see, nor drop, takes no place. */
async function countSaved(db: TenantDb, uid: string): Promise<number> {
  const [row] = await db.sql<{ n: number }>`SELECT count(*) AS n FROM saved_messages
    JOIN messages ON messages.app_id = saved_messages.app_id AND messages.id = saved_messages.message_id
    WHERE saved_messages.app_id = ${db.appId} AND saved_messages.uid = ${uid} AND messages.purged = 0
    AND ${visibleTo(db, uid)}`.execute()
  return row?.n ?? 0
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

async function isSaved(db: TenantDb, id: number, uid: string): Promise<boolean> {
  const row = await db
    .select('saved_messages')
    .select('saved_messages.message_id')
    .where('saved_messages.uid', '=', uid)
    .where('saved_messages.message_id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}

/** When a user saved the message of a row of `messages`; NULL, if they did not. */
export function whenSavedBy(db: TenantDb, uid: string) {
  return sql<number | null>`(SELECT saved_messages.saved_at FROM saved_messages
    WHERE saved_messages.app_id = ${db.appId} AND saved_messages.uid = ${uid}
    AND saved_messages.message_id = messages.id)`
}

export function idsSavedBy(db: TenantDb, uid: string) {
  return sql<number>`(SELECT saved_messages.message_id FROM saved_messages
    WHERE saved_messages.app_id = ${db.appId} AND saved_messages.uid = ${uid})`
}

export async function forgetSavesOf(db: TenantDb, uid: string): Promise<void> {
  await db.delete('saved_messages').where('uid', '=', uid).execute()
}
