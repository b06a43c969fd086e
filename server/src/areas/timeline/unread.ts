import { sql } from 'kysely'
import type { TenantDb } from '../../storage/tenant.ts'
import type { Side } from './sides.ts'

/** What is needed of a side to count. */
type Countable = Pick<Side, 'uid' | 'conversation_id' | 'read_seq' | 'read_counted' | 'last_counted'>

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
): Promise<Map<string, Unread>> {
  const behind = sides.filter(({ last_counted, read_counted }) => last_counted > read_counted)
  const counts = new Map<string, Unread>()
  for (const { conversation_id } of sides) counts.set(conversation_id, { messages: 0, mentions: 0 })
  for (const side of behind) {
    const { uncounted, mentions } = await exceptions(db, side, blocked)
    counts.set(side.conversation_id, { messages: side.last_counted - side.read_counted - uncounted, mentions })
  }
  return counts
}

async function exceptions(db: TenantDb, { uid, conversation_id, read_seq }: Countable, blocked: readonly string[]) {
  const since = (condition: ReturnType<typeof sql>) => sql`
    SELECT count(*) FROM messages WHERE messages.app_id = ${db.appId} AND messages.conversation_id = ${conversation_id}
    AND messages.seq > ${read_seq} AND messages.counts = 1 AND ${condition}`
  const ignored = sql.join([uid, ...blocked])
  const { rows } = await sql<{ uncounted: number; mentions: number }>`SELECT
    (${since(sql`messages.deleted_at IS NOT NULL`)})
      + (${since(sql`messages.deleted_at IS NULL AND messages.sender IN (${ignored})`)}) AS uncounted,
    (SELECT count(*) FROM message_mentions JOIN messages
      ON messages.app_id = message_mentions.app_id AND messages.id = message_mentions.message_id
      WHERE message_mentions.app_id = ${db.appId} AND message_mentions.uid = ${uid}
      AND message_mentions.conversation_id = ${conversation_id} AND message_mentions.seq > ${read_seq}
      AND messages.counts = 1 AND messages.deleted_at IS NULL AND messages.sender NOT IN (${ignored})) AS mentions`.execute(
    db.connection.query,
  )
  return rows[0] ?? { uncounted: 0, mentions: 0 }
}
