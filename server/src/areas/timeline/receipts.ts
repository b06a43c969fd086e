import { sql } from 'kysely'
import type { TenantDb } from '../../storage/tenant.ts'
import { toUser, usersByUid } from '../users/index.ts'
import type { MessageRow, ReceiptKind } from './tables.ts'

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

/** Where in the list of receipts to read, in the order of UIDs. */
export interface ReceiptStretch {
  limit: number
  affix?: 'append' | 'prepend' | undefined
  /** A UID, itself left out. */
  id?: string | undefined
}

/**
 * The receipts of one message by UID, some at a time. Nobody has one for what he sent, and who came to a group later has
 * passed what was said before without receiving it.
 */
export async function receiptsOf(
  db: TenantDb,
  { id, conversation_id, seq, sender, receiver, receiver_type }: MessageRow,
  { limit, affix = 'append', id: cursor }: ReceiptStretch,
): Promise<Receipt[]> {
  const first = (kind: ReceiptKind) => sql<number | null>`(SELECT receipt_marks.at FROM receipt_marks
    WHERE receipt_marks.app_id = conversation_rows.app_id
    AND receipt_marks.conversation_id = conversation_rows.conversation_id
    AND receipt_marks.uid = conversation_rows.uid AND receipt_marks.kind = ${sql.lit(kind)}
    AND receipt_marks.seq >= ${seq} ORDER BY receipt_marks.seq LIMIT 1)`
  const [beyond, order] = affix === 'append' ? [sql`>`, sql`ASC`] : [sql`<`, sql`DESC`]
  const { rows } = await sql<{ uid: string; delivered_at: number | null; read_at: number | null }>`
    SELECT conversation_rows.uid, ${first('delivered')} AS delivered_at, ${first('read')} AS read_at
    FROM conversation_rows WHERE conversation_rows.app_id = ${db.appId}
    AND conversation_rows.conversation_id = ${conversation_id} AND conversation_rows.delivered_seq >= ${seq}
    AND conversation_rows.uid != ${sender}
    ${cursor === undefined ? sql`` : sql`AND conversation_rows.uid ${beyond} ${cursor}`}
    AND coalesce(${first('delivered')}, ${first('read')}) IS NOT NULL
    ORDER BY conversation_rows.uid ${order} LIMIT ${limit}`.execute(db.connection.query)
  const users = await usersByUid(
    db,
    rows.map(({ uid }) => uid),
  )
  const ascending = affix === 'append' ? rows : rows.toReversed()
  return ascending.flatMap(({ uid, delivered_at, read_at }) => {
    const user = users.get(uid)
    const deliveredAt = read_at === null ? delivered_at : Math.min(delivered_at ?? read_at, read_at)
    if (deliveredAt === null) return []
    return [
      {
        messageId: String(id),
        sender: user ? toUser(user, { withTags: false }) : { uid },
        receiverId: receiver,
        receiverType: receiver_type,
        receiptType: read_at === null ? ('delivery' as const) : ('read' as const),
        deliveredAt,
        ...(read_at !== null && { readAt: read_at }),
      },
    ]
  })
}
