import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TenantDb } from '../../storage/tenant.ts'
import { otherSide } from './place.ts'
import type { ConversationRow, MemberRow } from './tables.ts'

/** What everybody has lost and passed in a conversation, whatever their rows say: nothing is written per member. */
export interface ForAll {
  all_cleared_seq: number
  all_cleared_counted: number
}

/** A user's row as it is to be seen. */
export function seenRow<Row extends MemberRow>({
  all_cleared_seq: seq,
  all_cleared_counted: counted,
  ...row
}: Row & ForAll): Omit<Row & ForAll, keyof ForAll> {
  if (row.cleared_seq >= seq) return row
  return {
    ...row,
    delivered_seq: Math.max(row.delivered_seq, seq),
    read_seq: Math.max(row.read_seq, seq),
    read_counted: Math.max(row.read_counted, counted),
    cleared_seq: seq,
    kept: 0,
  }
}

/** Up to where messages are hidden from a user; for any query that joins rows and conversations. */
export const hiddenUpTo = sql<number>`CASE WHEN conversations.cleared_seq > conversation_rows.cleared_seq
  THEN conversations.cleared_seq ELSE conversation_rows.cleared_seq END`

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

/** The other user, or the group. */
export function withWhom(side: Pick<Side, 'type' | 'first' | 'second' | 'uid'>): string {
  return side.type === 'group' ? side.first : otherSide(side, side.uid)
}

/** The sides that meet some conditions on `conversation_rows` and `conversations`. */
export async function sidesWhere(db: TenantDb, conditions: RawBuilder<SqlBool>[], rest = sql``): Promise<Side[]> {
  const all = sql.join([sql`conversation_rows.app_id = ${db.appId}`, ...conditions], sql` AND `)
  const { rows } = await sql<Side & ForAll>`
    SELECT conversation_rows.*, conversations.type, conversations.first, conversations.second, conversations.last_seq,
      conversations.last_counted, conversations.shown_seq, conversations.active_at,
      conversations.cleared_seq AS all_cleared_seq, conversations.cleared_counted AS all_cleared_counted
    FROM conversation_rows JOIN conversations ON conversations.app_id = conversation_rows.app_id
      AND conversations.conversation_id = conversation_rows.conversation_id
    WHERE ${all} ${rest}`.execute(db.connection.query)
  return rows.map(seenRow)
}
