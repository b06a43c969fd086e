import { type RawBuilder, sql } from 'kysely'
import type { Actor } from '../../kit/operation.ts'
import type { View } from '../../kit/work.ts'
import { textAsFound } from '../../storage/plans.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { type Sight, sightOf, systemUid, toUser, type UserRow, usersByUid } from '../users/index.ts'
import type { ConversationKey } from './place.ts'
import type { SeenMessage } from './record.ts'
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
export interface ReceiptsWanted {
  limit: number
  affix?: 'append' | 'prepend' | undefined
  /** A UID, itself left out. */
  id?: string | undefined
  /** To whom they are shown; a server sees everyone. */
  viewer?: Actor | undefined
}

/**
 * The receipts of one message by UID, some at a time. Nobody has one for what they sent, and who came to a group later has
 * passed what was said before without receiving it.
 */
export async function receiptsOf(view: View, message: MessageRow, stretch: ReceiptsWanted): Promise<Receipt[]> {
  return (await receiptsOfEach(view, [message], stretch)).get(message.id) ?? []
}

interface Found {
  message_id: number
  uid: string
  delivered_at: number | null
  read_at: number | null
}

// So many messages are asked about in one statement.
const messagesAtOnce = 40

/** The same of several messages; what somebody else received is known where messages are as somebody sees them. */
export async function receiptsOfEach(
  view: View,
  messages: (MessageRow | SeenMessage)[],
  stretch: ReceiptsWanted,
  known: ReadonlyMap<string, UserRow> = new Map(),
): Promise<Map<number, Receipt[]>> {
  const { db } = view
  const found = messages.filter(isBetweenTwo).map(seenByOther)
  const asked = messages.filter((message) => !isBetweenTwo(message))
  for (let first = 0; first < asked.length; first += messagesAtOnce) {
    const some = asked.slice(first, first + messagesAtOnce)
    const { receipts, reachedMany } = await amongReached(db, some, stretch)
    found.push(...receipts)
    if (reachedMany.length === 0) continue
    const parts = reachedMany.map(
      (message) => sql`SELECT * FROM (${selection(db, message, stretch, 'by UID')}) AS part`,
    )
    const rows = await db.sql<Found>`${sql.join(parts, sql` UNION ALL `)}`.execute()
    // The first members by UID have all passed the message without receiving it: whoever has is further on.
    if (rows.length < reachedMany.length * stretch.limit) db.leaveSharedReader()
    found.push(...rows)
  }
  const unknown = found.map(({ uid }) => uid).filter((uid) => !known.has(uid))
  const users = new Map([...known, ...(await usersByUid(db, unknown))])
  const sees = await sightOf(db, stretch.viewer, () => found.map(({ uid }) => uid))
  const byMessage = Map.groupBy(
    found.toSorted((a, b) => (a.uid < b.uid ? -1 : 1)),
    ({ message_id }) => message_id,
  )
  return new Map(
    messages.map((message) => [
      message.id,
      (byMessage.get(message.id) ?? []).flatMap((row) => toReceipt(view, message, row, users.get(row.uid), sees)),
    ]),
  )
}

function isBetweenTwo(message: MessageRow | SeenMessage): message is SeenMessage {
  // What the app says or does between two, both receive.
  return message.receiver_type === 'user' && message.sender !== systemUid && 'delivered_at' in message
}

/** Of what one of two says, the other has the only receipt, and the message tells of it. */
function seenByOther({ id, receiver, delivered_at, read_at }: SeenMessage): Found {
  return { message_id: id, uid: receiver, delivered_at, read_at }
}

// So many are sorted; where more have received a message, the first by UID are soon met.
const sortedMax = 200

interface AmongReached {
  receipts: Found[]
  /** Messages that have come to too many for that. */
  reachedMany: MessageRow[]
}

/** The receipts of messages that have come to few; how many they have come to, the same statement tells. */
async function amongReached(db: TenantDb, messages: MessageRow[], stretch: ReceiptsWanted): Promise<AmongReached> {
  const parts = messages.map((message) => {
    const { id, conversation_key, seq } = message
    return sql`SELECT CAST(${id} AS bigint) AS asked_id, reached.n, part.* FROM (
        SELECT count(*) AS n FROM (${reachedBy(db, conversation_key, seq)}) AS members) AS reached
      LEFT JOIN (${selection(db, message, stretch, 'by cursor')}) AS part ON 1 = 1`
  })
  const rows = await db.sql<{ asked_id: number; n: number } & (Found | Record<keyof Found, null>)>`
    ${sql.join(parts, sql` UNION ALL `)}`.execute()
  const many = new Set(rows.filter(({ n }) => n > sortedMax).map(({ asked_id }) => asked_id))
  return {
    receipts: rows.filter((row) => row.uid !== null),
    reachedMany: messages.filter(({ id }) => many.has(id)),
  }
}

/** Some of those whose cursor has come as far as a message: all, unless they are very many. */
function reachedBy(db: TenantDb, conversationKey: ConversationKey, seq: number): RawBuilder<unknown> {
  return sql`SELECT * FROM conversation_rows WHERE conversation_rows.app_id = ${db.appId}
    AND conversation_rows.conversation_key = ${conversationKey} AND conversation_rows.delivered_seq >= ${seq}
    LIMIT ${sortedMax + 1}`
}

/** Asked for once, before any receipt is looked for. */
function haveReachedFew(db: TenantDb, { conversation_key, seq }: MessageRow): RawBuilder<unknown> {
  return sql`(SELECT count(*) FROM (${reachedBy(db, conversation_key, seq)}) AS members) <= ${sortedMax}`
}

/** Through a group by UID, or only through those whose cursor has come as far. */
type Through = 'by UID' | 'by cursor'

// So many members are looked at for each receipt while everybody waits.
const membersPerReceipt = 5

/** The members to choose from; where everybody waits, the next few of a large group. */
function membersIn(
  db: TenantDb,
  { conversation_key: conversationKey, seq }: MessageRow,
  { limit, affix = 'append', id }: ReceiptsWanted,
  way: Through,
): RawBuilder<unknown> {
  if (way === 'by cursor') return sql`(${reachedBy(db, conversationKey, seq)}) AS conversation_rows`
  if (!db.isShared) return sql`conversation_rows`
  const [beyond, order] = affix === 'append' ? [sql`>`, sql`ASC`] : [sql`<`, sql`DESC`]
  return sql`(SELECT * FROM conversation_rows WHERE conversation_rows.app_id = ${db.appId}
    AND conversation_rows.conversation_key = ${conversationKey}
    ${id === undefined ? sql`` : sql`AND conversation_rows.uid ${beyond} ${id}`}
    ORDER BY conversation_rows.uid ${order} LIMIT ${Math.max(limit * membersPerReceipt, sortedMax)}) AS conversation_rows`
}

function selection(db: TenantDb, message: MessageRow, stretch: ReceiptsWanted, way: Through): RawBuilder<unknown> {
  const { id, conversation_key, seq, sender } = message
  const { limit, affix = 'append', id: cursor } = stretch
  const uid = way === 'by UID' ? sql`conversation_rows.uid` : textAsFound('conversation_rows.uid')
  const first = (kind: ReceiptKind) => sql<number | null>`(SELECT receipt_marks.at FROM receipt_marks
    WHERE receipt_marks.app_id = conversation_rows.app_id
    AND receipt_marks.conversation_key = conversation_rows.conversation_key
    AND receipt_marks.uid = conversation_rows.uid AND receipt_marks.kind = ${sql.lit(kind)}
    AND receipt_marks.seq >= ${seq} ORDER BY receipt_marks.seq LIMIT 1)`
  const [beyond, order] = affix === 'append' ? [sql`>`, sql`ASC`] : [sql`<`, sql`DESC`]
  return sql`SELECT CAST(${id} AS bigint) AS message_id, conversation_rows.uid,
      ${first('delivered')} AS delivered_at, ${first('read')} AS read_at
    FROM ${membersIn(db, message, stretch, way)} WHERE conversation_rows.app_id = ${db.appId}
    AND conversation_rows.conversation_key = ${conversation_key} AND conversation_rows.delivered_seq >= ${seq}
    AND conversation_rows.uid != ${sender}
    ${way === 'by UID' ? sql`` : sql`AND ${haveReachedFew(db, message)}`}
    ${cursor === undefined ? sql`` : sql`AND ${uid} ${beyond} ${cursor}`}
    AND coalesce(${first('delivered')}, ${first('read')}) IS NOT NULL
    ORDER BY ${uid} ${order} LIMIT ${limit}`
}

function toReceipt(
  view: View,
  { id, receiver, receiver_type }: MessageRow,
  { uid, delivered_at, read_at }: Found,
  user: UserRow | undefined,
  sees: Sight,
): Receipt[] {
  const deliveredAt = read_at === null ? delivered_at : Math.min(delivered_at ?? read_at, read_at)
  if (deliveredAt === null) return []
  return [
    {
      messageId: String(id),
      sender: user ? toUser(view, user, { withTags: false, veiled: !sees(uid) }) : { uid },
      receiverId: receiver,
      receiverType: receiver_type,
      receiptType: read_at === null ? 'delivery' : 'read',
      deliveredAt,
      ...(read_at !== null && { readAt: read_at }),
    },
  ]
}
