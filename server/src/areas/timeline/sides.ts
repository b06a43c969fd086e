import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { type ConversationKey, otherSide } from './place.ts'
import type { ConversationRow, MemberRow } from './tables.ts'

/** One user's side of a conversation together with the conversation. */
export interface Side extends MemberRow {
  type: ConversationRow['type']
  first: string
  second: string
  last_seq: number
  last_counted: number
  shown_seq: number
  active_at: number
}

/** How far a conversation is gone for everyone. */
export type Gone = Pick<ConversationRow, 'purged_seq' | 'purged_counted'>

/** A row with what was done to the conversation as a whole: nothing is written into the rows for that. */
export function withGone<Row extends MemberRow>(row: Row & Gone): Row & Gone {
  const { purged_seq, purged_counted } = row
  // As it is in nearly all of very many rows, which are better not copied.
  if (row.cleared_seq >= purged_seq) return row
  return {
    ...row,
    cleared_seq: purged_seq,
    delivered_seq: Math.max(row.delivered_seq, purged_seq),
    read_seq: Math.max(row.read_seq, purged_seq),
    read_counted: Math.max(row.read_counted, purged_counted),
    kept: 0,
  }
}

/** Up to where messages are hidden from a user; for any query that joins rows and conversations. */
export const hiddenUpTo = sql<number>`CASE WHEN conversations.purged_seq > conversation_rows.cleared_seq
  THEN conversations.purged_seq ELSE conversation_rows.cleared_seq END`

/** The message is not gone for good; what is, is found by nobody, however long its removal takes. */
export function notErased(db: TenantDb): RawBuilder<SqlBool> {
  return sql`messages.seq > coalesce((SELECT conversations.erased_seq FROM conversations
    WHERE conversations.app_id = ${db.appId}
    AND conversations.conversation_key = messages.conversation_key), 0)`
}

/** The other user, or the group. */
export function withWhom(side: Pick<Side, 'type' | 'first' | 'second' | 'uid'>): string {
  return side.type === 'group' ? side.first : otherSide(side, side.uid)
}

// Where a process has only just started, each of them is several pages that are not in its memory yet.
const sidesSharedMax = 1_000

/** Whether a user has more conversations than are looked at while everybody waits, as a column: 1, or else 0. */
export function hasManySides(db: TenantDb, uid: string): RawBuilder<0 | 1> {
  return sql`(SELECT count(*) FROM (SELECT 1 AS one FROM conversation_rows
    WHERE conversation_rows.app_id = ${db.appId} AND conversation_rows.uid = ${uid}
    LIMIT 1 OFFSET ${sql.lit(sidesSharedMax)}) AS beyond)`
}

const sidesAreMany = prepared<{ uid: string }, { are_many: 0 | 1 }>(
  (db, { uid }) => db.sql`SELECT ${hasManySides(db, uid)} AS are_many`,
)

/** Stands before what looks at all conversations of a user. */
export async function leaveIfManySides(db: TenantDb, uid: string): Promise<void> {
  if (!db.isShared) return
  const [sides] = await sidesAreMany(db, { uid })
  if (sides?.are_many) db.leaveSharedReader()
}

/** The sides that meet some conditions on `conversation_rows` and `conversations`. */
export async function sidesWhere(db: TenantDb, conditions: RawBuilder<SqlBool>[], rest = sql``): Promise<Side[]> {
  const rows = await selectSides(db, conditions, rest).execute()
  return rows.map(withGone)
}

const sideOf = prepared<{ conversationKey: ConversationKey; uid: string }, Side & Gone>(
  (db, { conversationKey, uid }) => {
    const conditions: RawBuilder<SqlBool>[] = [
      sql`conversation_rows.uid = ${uid}`,
      sql`conversation_rows.conversation_key = ${conversationKey}`,
    ]
    return selectSides(db, conditions, sql``)
  },
)

export async function findSide(db: TenantDb, conversationKey: ConversationKey, uid: string): Promise<Side | undefined> {
  const [side] = await sideOf(db, { conversationKey, uid })
  return side && withGone(side)
}

/** A user's sides of those of some conversations that they have part in. */
export async function sidesAmong(db: TenantDb, keys: ConversationKey[], uid: string): Promise<Side[]> {
  if (keys.length === 0) return []
  return sidesWhere(db, [
    sql`conversation_rows.uid = ${uid}`,
    sql`conversation_rows.conversation_key IN (${sql.join(keys)})`,
  ])
}

function selectSides(db: TenantDb, conditions: RawBuilder<SqlBool>[], rest: RawBuilder<unknown>) {
  const all = sql.join([sql`conversation_rows.app_id = ${db.appId}`, ...conditions], sql` AND `)
  return db.sql<Side & Gone>`
    SELECT conversation_rows.*, conversations.type, conversations.first, conversations.second, conversations.last_seq,
      conversations.last_counted, conversations.shown_seq, conversations.active_at, conversations.purged_seq,
      conversations.purged_counted
    FROM conversation_rows JOIN conversations ON conversations.app_id = conversation_rows.app_id
      AND conversations.conversation_key = conversation_rows.conversation_key
    WHERE ${all} ${rest}`
}
