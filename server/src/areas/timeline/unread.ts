import { sql } from 'kysely'
import { askedOfEach } from '../../storage/plans.ts'
import { preparedRows, type TenantDb } from '../../storage/tenant.ts'
import type { ConversationKey } from './place.ts'
import type { Side } from './sides.ts'

/** What is needed of a side to count. */
type Countable = Pick<Side, 'uid' | 'conversation_key' | 'read_seq' | 'read_counted' | 'last_seq' | 'last_counted'>

export interface Unread {
  messages: number
  mentions: number
}

/**
 * What each side has not read. Countable messages since the cursor are a difference of two numbers; taken off are those
 * that were deleted since, the user's own, and those of people the user has blocked. All of these are found by index, and
 * there are none in most conversations.
 */
export async function unreadOf(
  db: TenantDb,
  sides: Countable[],
  blocked: readonly string[],
): Promise<Map<ConversationKey, Unread>> {
  const behind = sides.filter(({ last_counted, read_counted }) => last_counted > read_counted)
  const counts = new Map<ConversationKey, Unread>()
  for (const { conversation_key } of sides) counts.set(conversation_key, { messages: 0, mentions: 0 })
  for (const { conversation_key, last_counted, read_counted } of behind) {
    counts.set(conversation_key, { messages: last_counted - read_counted, mentions: 0 })
  }
  for (const far of behind.filter(isFarBehind)) await leaveIfManyExceptions(db, far, blocked)
  for (const spans of portionsOf(db, behind)) {
    for (const { conversationKey, uncounted, mentions } of await exceptions(db, spans, blocked)) {
      const count = counts.get(conversationKey) as Unread
      count.messages -= uncounted
      count.mentions += mentions
    }
  }
  return counts
}

interface Exceptions {
  conversationKey: ConversationKey
  uncounted: number
  mentions: number
}

/** The messages of a conversation after one number, up to another. */
interface Span {
  uid: string
  conversationKey: ConversationKey
  after: number
  upTo: number
}

// So many messages are looked at while everybody waits.
export const lookedAtMax = 2_000

const isFarBehind = ({ last_seq, read_seq }: Countable) => last_seq - read_seq > lookedAtMax

/** Somebody who is far behind may have many exceptions, and to count these takes as long as they are many. */
async function leaveIfManyExceptions(
  db: TenantDb,
  { uid, conversation_key, read_seq }: Countable,
  blocked: readonly string[],
): Promise<void> {
  if (!db.isShared) return
  const of = (table: 'messages' | 'message_mentions') => sql`FROM ${sql.table(table)}
    WHERE ${sql.ref(`${table}.app_id`)} = ${db.appId}
    AND ${sql.ref(`${table}.conversation_key`)} = ${conversation_key} AND ${sql.ref(`${table}.seq`)} > ${read_seq}`
  const some = [
    sql`${of('messages')} AND messages.deleted_at IS NOT NULL`,
    sql`${of('messages')} AND messages.sender IN (${sql.join([uid, ...blocked])})`,
    sql`${of('message_mentions')} AND message_mentions.uid = ${uid}`,
  ].map((from) => sql`SELECT * FROM (SELECT 1 AS one ${from} LIMIT ${lookedAtMax}) AS part`)
  const [row] = await db.sql<{ n: number }>`SELECT count(*) AS n FROM (${sql.join(some, sql` UNION ALL `)})
    AS exceptions`.execute()
  if ((row?.n ?? 0) >= lookedAtMax) db.leaveSharedReader()
}

// So many spans are counted by one statement; and so many messages, where it runs in the server's own thread.
const spansMax = 50
const messagesMax = 5_000

/** Spans as statements take them: as many as may be counted at once, and none longer than that. */
function* portionsOf(db: TenantDb, sides: Countable[]): Generator<Span[]> {
  const most = db.runsInThread ? messagesMax : Number.MAX_SAFE_INTEGER
  let portion: Span[] = []
  let messages = 0
  for (const span of sides.flatMap((side) => spansOf(side, most))) {
    const length = span.upTo - span.after
    if (portion.length === spansMax || (portion.length > 0 && messages + length > most)) {
      yield portion
      portion = []
      messages = 0
    }
    portion.push(span)
    messages += length
  }
  if (portion.length > 0) yield portion
}

function spansOf({ uid, conversation_key: conversationKey, read_seq, last_seq }: Countable, most: number): Span[] {
  const spans: Span[] = []
  for (let after = read_seq; after < last_seq; after += most) {
    // Not beyond the side: what has come since it was read is not in its count.
    spans.push({ uid, conversationKey, after, upTo: Math.min(after + most, last_seq) })
  }
  return spans
}

async function exceptions(db: TenantDb, spans: Span[], blocked: readonly string[]): Promise<Exceptions[]> {
  if (blocked.length === 0) return exceptionsOfOwn(db, spans)
  return exceptionsIn(db, spans, blocked).execute()
}

// Most users have blocked nobody, and every list asks this.
const exceptionsOfOwn = preparedRows<Span, Exceptions>((db, spans) => exceptionsIn(db, spans, []))

function exceptionsIn(db: TenantDb, spans: Span[], blocked: readonly string[]) {
  const values = spans.map(
    ({ uid, conversationKey, after, upTo }) =>
      sql`(CAST(${uid} AS text), CAST(${conversationKey} AS text), CAST(${after} AS bigint), CAST(${upTo} AS bigint))`,
  )
  const within = (condition: ReturnType<typeof sql>) => sql`
    SELECT count(*) FROM messages WHERE messages.app_id = ${db.appId}
    AND messages.conversation_key = span.conversation_key AND messages.seq > span.after AND messages.seq <= span.up_to
    AND messages.counts = 1 AND ${condition}`
  const ignored = sql.join([sql`span.uid`, ...blocked.map((uid) => sql`${uid}`)])
  // Asked of each mention: with many blocked users, planners begin with all messages of the app.
  const isCounted = askedOfEach(sql`FROM messages WHERE messages.app_id = ${db.appId}
    AND messages.id = message_mentions.message_id AND messages.counts = 1 AND messages.deleted_at IS NULL
    AND messages.sender NOT IN (${ignored})`)
  return db.sql<Exceptions>`WITH span (uid, conversation_key, after, up_to) AS (VALUES ${sql.join(values)})
    SELECT span.conversation_key AS "conversationKey",
    (${within(sql`messages.deleted_at IS NOT NULL`)})
      + (${within(sql`messages.deleted_at IS NULL AND messages.sender IN (${ignored})`)}) AS uncounted,
    (SELECT count(*) FROM message_mentions WHERE message_mentions.app_id = ${db.appId} AND message_mentions.uid = span.uid
      AND message_mentions.conversation_key = span.conversation_key
      AND message_mentions.seq > span.after AND message_mentions.seq <= span.up_to AND ${isCounted}) AS mentions
    FROM span`
}
