import { sql } from 'kysely'
import { escapeLike } from '../../storage/sql.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { type Side, sidesWhere } from '../timeline/index.ts'
import { conditionsOf } from './list.ts'
import type { ConversationListQuery } from './schemas.ts'

const unread = sql<boolean>`conversations.last_counted > conversation_rows.read_counted
  AND conversations.last_counted > conversations.cleared_counted`

/** A page of every side of every conversation, or of each conversation's first side, for the app itself. */
export async function everySide(
  db: TenantDb,
  query: ConversationListQuery,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; sides: Side[] }> {
  const conditions = [
    ...conditionsOf(db, query),
    ...(query.tags ? [anyTag(query.tags)] : []),
    ...(query.unread ? [unread] : []),
    ...(query.unique
      ? [
          sql<boolean>`conversation_rows.uid = (SELECT min(other.uid) FROM conversation_rows AS other
            WHERE other.app_id = conversation_rows.app_id AND other.conversation_id = conversation_rows.conversation_id)`,
        ]
      : []),
  ]
  const where = sql.join([sql`conversation_rows.app_id = ${db.appId}`, ...conditions], sql` AND `)
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total FROM conversation_rows
    JOIN conversations ON conversations.app_id = conversation_rows.app_id
      AND conversations.conversation_id = conversation_rows.conversation_id WHERE ${where}`.execute(db.connection.query)
  const total = rows[0]?.total ?? 0
  if (offset >= total) return { total, sides: [] }
  const order = sql`ORDER BY conversation_rows.uid, conversations.active_at DESC, conversation_rows.conversation_id
    LIMIT ${limit} OFFSET ${offset}`
  return { total, sides: await sidesWhere(db, conditions, order) }
}

/** Tags are kept as a JSON list. */
function anyTag(tags: string[]) {
  const each = tags.map((tag) => sql`conversation_rows.tags LIKE ${`%${escapeLike(JSON.stringify(tag))}%`} ESCAPE '\\'`)
  return sql<boolean>`(${sql.join(each, sql` OR `)})`
}
