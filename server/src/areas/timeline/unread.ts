import { sql } from 'kysely'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import type { ConversationKey } from './place.ts'
import type { Side } from './sides.ts'

/** What is needed of a side to count. */
type Countable = Pick<Side, 'uid' | 'conversation_key' | 'read_seq' | 'read_counted' | 'last_counted'>

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
  for (const side of behind) {
    const { uncounted, mentions } = await exceptions(db, side, blocked)
    counts.set(side.conversation_key, { messages: side.last_counted - side.read_counted - uncounted, mentions })
  }
  return counts
}

interface Exceptions {
  uncounted: number
  mentions: number
}

interface Since {
  uid: string
  conversationKey: ConversationKey
  readSeq: number
}

async function exceptions(
  db: TenantDb,
  { uid, conversation_key: conversationKey, read_seq: readSeq }: Countable,
  blocked: readonly string[],
): Promise<Exceptions> {
  const since = { uid, conversationKey, readSeq }
  const rows =
    blocked.length === 0
      ? await exceptionsOfOwn(db, since)
      : (await exceptionsSince(db, since, blocked).execute(db.connection.query)).rows
  return rows[0] ?? { uncounted: 0, mentions: 0 }
}

// Most users have blocked nobody, and lists ask this for every conversation.
const exceptionsOfOwn = prepared<Since, Exceptions>((db, since) => ({
  compile: () => exceptionsSince(db, since, []).compile(db.connection.query),
}))

function exceptionsSince(db: TenantDb, { uid, conversationKey, readSeq }: Since, blocked: readonly string[]) {
  const since = (condition: ReturnType<typeof sql>) => sql`
    SELECT count(*) FROM messages WHERE messages.app_id = ${db.appId} AND messages.conversation_key = ${conversationKey}
    AND messages.seq > ${readSeq} AND messages.counts = 1 AND ${condition}`
  const ignored = sql.join([uid, ...blocked])
  return sql<Exceptions>`SELECT
    (${since(sql`messages.deleted_at IS NOT NULL`)})
      + (${since(sql`messages.deleted_at IS NULL AND messages.sender IN (${ignored})`)}) AS uncounted,
    (SELECT count(*) FROM message_mentions JOIN messages
      ON messages.app_id = message_mentions.app_id AND messages.id = message_mentions.message_id
      WHERE message_mentions.app_id = ${db.appId} AND message_mentions.uid = ${uid}
      AND message_mentions.conversation_key = ${conversationKey} AND message_mentions.seq > ${readSeq}
      AND messages.counts = 1 AND messages.deleted_at IS NULL AND messages.sender NOT IN (${ignored})) AS mentions`
}
