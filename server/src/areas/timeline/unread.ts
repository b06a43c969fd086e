import { sql } from 'kysely'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
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
  const count = async (side: Countable) => {
    await leaveIfManyExceptions(db, side, blocked)
    const { uncounted, mentions } = await exceptions(db, side, blocked)
    counts.set(side.conversation_key, { messages: side.last_counted - side.read_counted - uncounted, mentions })
  }
  for (let first = 0; first < behind.length; first += countedAtOnce) {
    await Promise.all(behind.slice(first, first + countedAtOnce).map(count))
  }
  return counts
}

// Not all: one that turns out to take long ends the rest, and others wait for what is asked already.
const countedAtOnce = 10

interface Exceptions {
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

/** Somebody who is far behind may have many exceptions, and to count these takes as long as they are many. */
async function leaveIfManyExceptions(
  db: TenantDb,
  { uid, conversation_key, read_seq, last_seq }: Countable,
  blocked: readonly string[],
): Promise<void> {
  if (!db.isShared || last_seq - read_seq <= lookedAtMax) return
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

// So many messages are counted by one statement where it runs in the server's own thread.
const spanMax = 5_000

async function exceptions(
  db: TenantDb,
  { uid, conversation_key: conversationKey, read_seq, last_seq }: Countable,
  blocked: readonly string[],
): Promise<Exceptions> {
  const step = db.runsInThread ? spanMax : Number.MAX_SAFE_INTEGER
  const sum = { uncounted: 0, mentions: 0 }
  for (let after = read_seq; after < last_seq; after += step) {
    // Not beyond the side: what has come since it was read is not in its count.
    const span = { uid, conversationKey, after, upTo: Math.min(after + step, last_seq) }
    const [some] =
      blocked.length === 0 ? await exceptionsOfOwn(db, span) : await exceptionsIn(db, span, blocked).execute()
    sum.uncounted += some?.uncounted ?? 0
    sum.mentions += some?.mentions ?? 0
  }
  return sum
}

// Most users have blocked nobody, and lists ask this for every conversation.
const exceptionsOfOwn = prepared<Span, Exceptions>((db, span) => exceptionsIn(db, span, []))

function exceptionsIn(db: TenantDb, { uid, conversationKey, after, upTo }: Span, blocked: readonly string[]) {
  const within = (condition: ReturnType<typeof sql>) => sql`
    SELECT count(*) FROM messages WHERE messages.app_id = ${db.appId} AND messages.conversation_key = ${conversationKey}
    AND messages.seq > ${after} AND messages.seq <= ${upTo} AND messages.counts = 1 AND ${condition}`
  const ignored = sql.join([uid, ...blocked])
  return db.sql<Exceptions>`SELECT
    (${within(sql`messages.deleted_at IS NOT NULL`)})
      + (${within(sql`messages.deleted_at IS NULL AND messages.sender IN (${ignored})`)}) AS uncounted,
    (SELECT count(*) FROM message_mentions JOIN messages
      ON messages.app_id = message_mentions.app_id AND messages.id = message_mentions.message_id
      WHERE message_mentions.app_id = ${db.appId} AND message_mentions.uid = ${uid}
      AND message_mentions.conversation_key = ${conversationKey}
      AND message_mentions.seq > ${after} AND message_mentions.seq <= ${upTo}
      AND messages.counts = 1 AND messages.deleted_at IS NULL AND messages.sender NOT IN (${ignored})) AS mentions`
}
