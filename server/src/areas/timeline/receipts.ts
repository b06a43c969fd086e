import { sql } from 'kysely'
import type { TenantDb } from '../../storage/tenant.ts'
import { toUser, usersByUid } from '../users/index.ts'
import type { MessageRow } from './tables.ts'

/** Who has received a message and when, and who has read it. */
export interface Receipt {
  messageId: string
  sender: Record<string, unknown>
  receiverId: string
  receiverType: 'user' | 'group'
  receiptType: 'delivery' | 'read'
  deliveredAt: number
  readAt?: number
}

/** The receipts of one message by UID, some at a time; nobody has one for what he sent. */
export async function receiptsOf(
  db: TenantDb,
  { id, conversation_id, seq, sender, receiver, receiver_type }: MessageRow,
  { limit, after = '' }: { limit: number; after?: string },
): Promise<Receipt[]> {
  const first = (kind: 'delivered' | 'read') => sql<number | null>`(SELECT receipt_marks.at FROM receipt_marks
    WHERE receipt_marks.app_id = conversation_rows.app_id
    AND receipt_marks.conversation_id = conversation_rows.conversation_id
    AND receipt_marks.uid = conversation_rows.uid AND receipt_marks.kind = ${sql.lit(kind)}
    AND receipt_marks.seq >= ${seq} ORDER BY receipt_marks.seq LIMIT 1)`
  const { rows } = await sql<{ uid: string; delivered_at: number | null; read_at: number | null }>`
    SELECT conversation_rows.uid, ${first('delivered')} AS delivered_at, ${first('read')} AS read_at
    FROM conversation_rows WHERE conversation_rows.app_id = ${db.appId}
    AND conversation_rows.conversation_id = ${conversation_id} AND conversation_rows.delivered_seq >= ${seq}
    AND conversation_rows.uid != ${sender} AND conversation_rows.uid > ${after}
    ORDER BY conversation_rows.uid LIMIT ${limit}`.execute(db.connection.query)
  const users = await usersByUid(
    db,
    rows.map(({ uid }) => uid),
  )
  return rows.flatMap(({ uid, delivered_at, read_at }) => {
    const user = users.get(uid)
    const deliveredAt = read_at === null ? delivered_at : Math.min(delivered_at ?? read_at, read_at)
    // Who came to a group later has passed the message without receiving it.
    if (!user || deliveredAt === null) return []
    return [
      {
        messageId: String(id),
        sender: toUser(user, { withTags: false }),
        receiverId: receiver,
        receiverType: receiver_type,
        receiptType: read_at === null ? ('delivery' as const) : ('read' as const),
        deliveredAt,
        ...(read_at !== null && { readAt: read_at }),
      },
    ]
  })
}
