import { sql } from 'kysely'
import type { TenantDb } from '../../storage/tenant.ts'
import { notErased, type SeenMessage } from '../timeline/index.ts'
import { type Condition, conditionsOf, searchOf, sendersAsked, sentBy } from './filters.ts'
import { eachMatches } from './find.ts'
import { load } from './list.ts'
import type { MessageListQuery } from './schemas.ts'

/** A page of every direct message that a user has sent or received, oldest first. */
export async function messagesOfUser(
  db: TenantDb,
  uid: string,
  query: MessageListQuery,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; rows: SeenMessage[] }> {
  const search = searchOf(query, undefined)
  const conditions: Condition[] = [
    sql`messages.app_id = ${db.appId}`,
    sql`messages.purged = 0`,
    sql`messages.receiver_type = 'user'`,
    notErased(db),
    sql`messages.conversation_key IN (SELECT conversation_rows.conversation_key FROM conversation_rows
      WHERE conversation_rows.app_id = ${db.appId} AND conversation_rows.uid = ${uid})`,
    ...conditionsOf(db, query, undefined),
    ...sentBy(sendersAsked(query)),
    ...(search ? [eachMatches(db, search)] : []),
  ]
  const where = sql.join(conditions, sql` AND `)
  const { rows: counted } = await sql<{ total: number }>`SELECT count(*) AS total FROM messages WHERE ${where}`.execute(
    db.connection.query,
  )
  const total = counted[0]?.total ?? 0
  if (offset >= total) return { total, rows: [] }
  const { rows: ids } = await sql<{ id: number }>`SELECT messages.id FROM messages WHERE ${where}
    ORDER BY messages.id LIMIT ${limit} OFFSET ${offset}`.execute(db.connection.query)
  return {
    total,
    rows: await load(
      db,
      ids.map(({ id }) => id),
      undefined,
    ),
  }
}
