import { sql } from 'kysely'
import type { TenantDb } from '../../storage/tenant.ts'
import { otherSide, type Side, unreadOf } from '../timeline/index.ts'
import type { Viewer } from './filters.ts'

interface BehindSide extends Side {
  type: 'user' | 'group'
  first: string
  second: string
}

/** How much each user and group has for the viewer that is not read; those with nothing are left out. */
export async function unreadCounts(
  db: TenantDb,
  { uid, blocked }: Viewer,
  conversationId: string | undefined,
  hideBlocked: boolean,
): Promise<{ entityType: 'user' | 'group'; entityId: string; count: number }[]> {
  const one = conversationId === undefined ? sql`` : sql`AND conversation_rows.conversation_id = ${conversationId}`
  const { rows } = await sql<BehindSide>`
    SELECT conversation_rows.uid, conversation_rows.conversation_id, conversation_rows.read_seq,
      conversation_rows.read_counted, conversations.last_counted, conversations.type, conversations.first,
      conversations.second
    FROM conversation_rows JOIN conversations ON conversations.app_id = conversation_rows.app_id
      AND conversations.conversation_id = conversation_rows.conversation_id
    WHERE conversation_rows.app_id = ${db.appId} AND conversation_rows.uid = ${uid} ${one}
      AND conversations.last_counted > conversation_rows.read_counted
    ORDER BY conversation_rows.conversation_id`.execute(db.connection.query)
  const counts = await unreadOf(db, rows, blocked)
  return rows
    .map((side) => ({
      entityType: side.type,
      entityId: side.type === 'group' ? side.first : otherSide(side, uid),
      count: counts.get(side.conversation_id)?.messages ?? 0,
    }))
    .filter(({ entityType, entityId, count }) => {
      return count > 0 && !(hideBlocked && entityType === 'user' && blocked.includes(entityId))
    })
}
