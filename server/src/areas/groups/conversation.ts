import { sql } from 'kysely'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import {
  type ConversationKey,
  closeRow,
  holdConversation,
  openConversation,
  openRows,
  placeOfGroup,
  settleAll,
} from '../timeline/index.ts'
import type { UserRow } from '../users/index.ts'
import type { GroupRow } from './tables.ts'

type Doing = Pick<Work, 'db' | 'now'>

/**
 * What being in a group means for its conversation. A conversation goes by its group's GUID and outlives the group: when
 * one is deleted, everything up to a number is void, and a later group of that GUID goes on counting from there. So what
 * is old is told from what is new by its number, however long the clearing takes.
 */

/** Makes everything said so far void; answers the number up to which, if anything was said. */
export async function voidConversation(db: TenantDb, { guid }: GroupRow): Promise<number | undefined> {
  const { conversationKey } = placeOfGroup(guid)
  const conversation = await db
    .update('conversations')
    .set({
      // One more than any old cursor can have reached.
      last_seq: sql<number>`last_seq + 1`,
      purged_seq: sql<number>`last_seq + 1`,
      erased_seq: sql<number>`last_seq + 1`,
      // A group that takes the GUID sees nothing of this one, however long the clearing takes.
      purged_counted: sql<number>`last_counted`,
      shown_seq: 0,
    })
    .where('conversation_key', '=', conversationKey)
    .returning('last_seq')
    .executeTakeFirst()
  return conversation?.last_seq
}

/** A new group takes over the conversation of an earlier one, if it is still there. */
export async function takeOverConversation({ db, now }: Doing, guid: string): Promise<void> {
  const { conversationKey } = placeOfGroup(guid)
  const earlier = await holdConversation(db, conversationKey)
  if (!earlier) return
  await db
    .update('conversations')
    .set({ active_at: now, created_at: now })
    .where('conversation_key', '=', conversationKey)
    .execute()
}

/** New members take part from here on, however large the group is. */
export async function enterConversation({ db, now }: Doing, group: GroupRow, users: UserRow[]): Promise<void> {
  if (users.length === 0) return
  const place = placeOfGroup(group.guid)
  const uids = users.map(({ uid }) => uid)
  await openConversation(db, place, now)
  await forgetEarlierRows(db, place.conversationKey, uids)
  await openRows(db, place, uids, now)
}

/** Rows of an earlier group of the GUID, or an earlier user of the UID, that no clearing has come to yet. */
async function forgetEarlierRows(db: TenantDb, conversationKey: ConversationKey, uids: string[]): Promise<void> {
  await db
    .delete('conversation_rows')
    .where('conversation_key', '=', conversationKey)
    .where('uid', 'in', uids)
    .execute()
}

/** Ends a user's part; everybody may now have read what only this one had not. */
export async function leaveConversation(work: Work, { guid }: GroupRow, uid: string): Promise<void> {
  const place = placeOfGroup(guid)
  const conversation = await holdConversation(work.db, place.conversationKey)
  await closeRow(work.db, place, uid)
  if (conversation) await settleAll(work, conversation)
}
