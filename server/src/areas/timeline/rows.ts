import { sql } from 'kysely'
import { prepared, preparedRows, type TenantDb } from '../../storage/tenant.ts'
import type { ConversationKey, Place } from './place.ts'
import { type Gone, withGone } from './sides.ts'
import type { ConversationRow, MemberRow, MessageRow } from './tables.ts'

const conversationById = prepared<{ conversationKey: ConversationKey }, ConversationRow>((db, { conversationKey }) =>
  db.select('conversations').selectAll().where('conversations.conversation_key', '=', conversationKey),
)

export async function findConversation(
  db: TenantDb,
  conversationKey: ConversationKey,
): Promise<ConversationRow | undefined> {
  const [row] = await conversationById(db, { conversationKey })
  return row
}

/** Those of some conversations that exist. */
export async function findConversations(db: TenantDb, keys: ConversationKey[]): Promise<ConversationRow[]> {
  if (keys.length === 0) return []
  return db.select('conversations').selectAll().where('conversations.conversation_key', 'in', keys).execute()
}

export async function holdConversation(
  db: TenantDb,
  conversationKey: ConversationKey,
): Promise<ConversationRow | undefined> {
  return db
    .update('conversations')
    .set({ conversation_key: conversationKey })
    .where('conversation_key', '=', conversationKey)
    .returningAll()
    .executeTakeFirst()
}

const rowOfUser = prepared<{ conversationKey: ConversationKey; uid: string }, MemberRow & Gone>(
  (db, { conversationKey, uid }) =>
    db
      .select('conversation_rows')
      .innerJoin('conversations', (join) =>
        join
          .onRef('conversations.app_id', '=', 'conversation_rows.app_id')
          .onRef('conversations.conversation_key', '=', 'conversation_rows.conversation_key'),
      )
      .selectAll('conversation_rows')
      .select(['conversations.purged_seq', 'conversations.purged_counted'])
      .where('conversation_rows.conversation_key', '=', conversationKey)
      .where('conversation_rows.uid', '=', uid),
)

/** One user's side of a conversation; nothing, if it is not theirs. */
export async function findRow(
  db: TenantDb,
  conversationKey: ConversationKey,
  uid: string,
): Promise<MemberRow | undefined> {
  const [row] = await rowOfUser(db, { conversationKey, uid })
  return row && withGone(row)
}

/**
 * Lets users take part from here on. What was said in a group before is there to read and counts as read; what two users
 * said before belongs to an earlier user of the UID. Those who take part already stay as they are.
 */
export async function openRows(db: TenantDb, place: Place, uids: string[], now: number): Promise<void> {
  const { conversationKey } = place
  const conversation = await findConversation(db, conversationKey)
  const { last_seq = 0, last_counted = 0, purged_seq = 0 } = conversation ?? {}
  const values = [...new Set(uids)].map((uid) => ({
    uid,
    conversation_key: conversationKey,
    delivered_seq: last_seq,
    read_seq: last_seq,
    read_counted: last_counted,
    cleared_seq: place.type === 'user' ? last_seq : purged_seq,
    // It is in the list, although nothing is in it yet.
    kept: 1,
    created_at: now,
  }))
  if (values.length === 0) return
  await db
    .insert('conversation_rows', values)
    .onConflict((conflict) => conflict.columns(['app_id', 'uid', 'conversation_key']).doNothing())
    .execute()
}

type NewSide = Pick<
  MemberRow,
  'uid' | 'conversation_key' | 'delivered_seq' | 'read_seq' | 'read_counted' | 'cleared_seq' | 'created_at'
>

const addSides = preparedRows<NewSide, never>((db, rows) =>
  db
    .insert('conversation_rows', rows)
    .onConflict((conflict) => conflict.columns(['app_id', 'uid', 'conversation_key']).doNothing()),
)

/**
 * Gives both users a side of what one has just said to the other, if they have none. A side can be missing also later on:
 * a user was deleted for good, and whoever has the UID now sees nothing of what was said to the one before.
 */
export async function openSides(
  db: TenantDb,
  { first, second }: Pick<Place, 'first' | 'second'>,
  { conversation_key, seq, counted, counts }: MessageRow,
  now: number,
): Promise<void> {
  const before = seq - 1
  const side = {
    conversation_key,
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
      conversation_key: place.conversationKey,
      type: place.type,
      first: place.first,
      second: place.second,
      last_seq: 0,
      last_counted: 0,
      shown_seq: 0,
      active_at: now,
      last_at: now,
      created_at: now,
    })
    .onConflict((conflict) => conflict.columns(['app_id', 'conversation_key']).doNothing())
    .execute()
}

/**
 * Puts a conversation of two into their lists before anything is said in it; answers whose lists it was not in. What a
 * reset has taken out comes back empty, and who has no side of an older conversation sees nothing of what was said.
 */
export async function listConversation(db: TenantDb, place: Place, now: number): Promise<string[]> {
  await openConversation(db, place, now)
  const held = await holdConversation(db, place.conversationKey)
  if (!held) throw new Error('A conversation was not opened.')
  const side = {
    conversation_key: place.conversationKey,
    delivered_seq: held.last_seq,
    read_seq: held.last_seq,
    read_counted: held.last_counted,
    cleared_seq: held.last_seq,
    kept: 1,
    created_at: now,
  }
  // What was deleted for everybody is behind a row that knows nothing of it; other rows stay where they are.
  const caughtUp = (column: 'cleared_seq' | 'delivered_seq' | 'read_seq' | 'read_counted') =>
    sql<number>`CASE WHEN conversation_rows.cleared_seq < ${held.purged_seq}
      THEN ${sql.ref(`excluded.${column}`)} ELSE ${sql.ref(`conversation_rows.${column}`)} END`
  const listed = await db
    .insert(
      'conversation_rows',
      [...new Set([place.first, place.second])].map((uid) => ({ uid, ...side })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['app_id', 'uid', 'conversation_key'])
        .doUpdateSet({
          kept: 1,
          cleared_seq: caughtUp('cleared_seq'),
          delivered_seq: caughtUp('delivered_seq'),
          read_seq: caughtUp('read_seq'),
          read_counted: caughtUp('read_counted'),
        })
        .where((is) =>
          is.or([
            is.and([
              is('conversation_rows.kept', '=', 0),
              is('conversation_rows.cleared_seq', '>=', Math.max(1, held.shown_seq)),
            ]),
            // Deleted for everybody, of which the row itself knows nothing.
            is.and([
              is('conversation_rows.cleared_seq', '<', held.purged_seq),
              is(sql.lit(held.shown_seq), '<=', sql.lit(held.purged_seq)),
            ]),
          ]),
        ),
    )
    .returning('uid')
    .execute()
  return listed.map(({ uid }) => uid)
}

/** Ends one user's part; what they had read stays on record. */
export async function closeRow(db: TenantDb, { conversationKey }: Place, uid: string): Promise<void> {
  await db.delete('conversation_rows').where('conversation_key', '=', conversationKey).where('uid', '=', uid).execute()
}
