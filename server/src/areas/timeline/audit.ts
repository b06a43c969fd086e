import { sql } from 'kysely'
import type { TenantDb } from '../../storage/tenant.ts'

const findingsMax = 20

/** Conversations whose numbers do not follow from their messages; for `parley doctor`. */
export async function auditTimeline(db: TenantDb): Promise<string[]> {
  const { rows } = await sql<{ conversation_id: string; what: string }>`
    SELECT conversations.conversation_id, CASE
      WHEN coalesce(counted.n, 0) != conversations.last_seq - conversations.purged_seq THEN 'has gaps in its numbers'
      WHEN coalesce(counted.last, conversations.purged_seq) != conversations.last_seq THEN 'ends with another message'
      WHEN coalesce(counted.counted, conversations.last_counted) != conversations.last_counted
        THEN 'counts other messages than it has'
      ELSE 'shows a message that does not exist' END AS what
    FROM conversations LEFT JOIN (
      SELECT messages.app_id, messages.conversation_id, count(*) AS n, max(messages.seq) AS last,
        max(messages.counted) AS counted
      FROM messages JOIN conversations AS owner ON owner.app_id = messages.app_id
        AND owner.conversation_id = messages.conversation_id
      WHERE messages.app_id = ${db.appId} AND messages.seq > owner.purged_seq
      GROUP BY messages.app_id, messages.conversation_id
    ) AS counted ON counted.app_id = conversations.app_id AND counted.conversation_id = conversations.conversation_id
    WHERE conversations.app_id = ${db.appId} AND (
      coalesce(counted.n, 0) != conversations.last_seq - conversations.purged_seq
      OR coalesce(counted.last, conversations.purged_seq) != conversations.last_seq
      OR coalesce(counted.counted, conversations.last_counted) != conversations.last_counted
      OR conversations.shown_seq > conversations.last_seq)
    LIMIT ${findingsMax}`.execute(db.connection.query)
  return rows.map(({ conversation_id, what }) => `the conversation ${conversation_id} ${what}`)
}
