import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TenantDb } from '../../storage/tenant.ts'
import type { ConversationRow, MemberRow } from '../timeline/index.ts'
import { otherSide } from '../timeline/index.ts'
import type { ConversationPinRow } from './tables.ts'

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

export function updatedAt({ active_at, created_at }: Side): number {
  return Math.max(active_at, created_at)
}

/** A side that was reset leaves the list until something new is said, unless it was to keep its place. */
export function isListed({ cleared_seq, shown_seq, kept }: Side): boolean {
  return cleared_seq === 0 || shown_seq > cleared_seq || kept === 1
}

export function sidesWhere(db: TenantDb, conditions: RawBuilder<SqlBool>[], rest = sql``): Promise<Side[]> {
  const all = sql.join([sql`conversation_rows.app_id = ${db.appId}`, ...conditions], sql` AND `)
  return sql<Side>`
    SELECT conversation_rows.*, conversations.type, conversations.first, conversations.second, conversations.last_seq,
      conversations.last_counted, conversations.shown_seq, conversations.active_at
    FROM conversation_rows JOIN conversations ON conversations.app_id = conversation_rows.app_id
      AND conversations.conversation_id = conversation_rows.conversation_id
    WHERE ${all} ${rest}`
    .execute(db.connection.query)
    .then(({ rows }) => rows)
}

export async function findSide(db: TenantDb, conversationId: string, uid: string): Promise<Side | undefined> {
  const [side] = await sidesWhere(db, [
    sql`conversation_rows.uid = ${uid}`,
    sql`conversation_rows.conversation_id = ${conversationId}`,
  ])
  return side
}

/** What is pinned for everyone, in its order. */
export function systemPins(db: TenantDb): Promise<ConversationPinRow[]> {
  return db.select('conversation_pins').selectAll().orderBy('conversation_pins.position').execute()
}

/** The pin for everyone that a side falls under; nobody's conversation with himself does. */
export function pinOf(side: Side, pins: ConversationPinRow[]): ConversationPinRow | undefined {
  const target = withWhom(side)
  return pins.find((pin) => pin.type === side.type && pin.target === target && target !== side.uid)
}
