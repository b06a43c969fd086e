import { type SqlBool, sql } from 'kysely'
import type { TenantDb } from '../../storage/tenant.ts'
import { sidesWhere, unreadOf, withWhom } from '../timeline/index.ts'
import type { Viewer } from './filters.ts'

interface Count {
  entityType: 'user' | 'group'
  entityId: string
  count: number
}

/** The same for clients: by UID, and by GUID. */
export function countsByKind(counts: Count[]) {
  const of = (type: Count['entityType']) =>
    Object.fromEntries(counts.filter((each) => each.entityType === type).map((each) => [each.entityId, each.count]))
  return { users: of('user'), groups: of('group') }
}

/** How much each user and group has for the viewer that is not read; those with nothing are left out. */
export async function unreadCounts(
  db: TenantDb,
  { uid, blocked }: Viewer,
  conversationId: string | undefined,
  hideBlocked: boolean,
): Promise<Count[]> {
  const sides = await sidesWhere(
    db,
    [
      sql`conversation_rows.uid = ${uid}`,
      sql`conversations.last_counted > conversation_rows.read_counted`,
      ...(conversationId === undefined ? [] : [sql<SqlBool>`conversation_rows.conversation_id = ${conversationId}`]),
    ],
    sql`ORDER BY conversation_rows.conversation_id`,
  )
  const counts = await unreadOf(db, sides, blocked)
  return sides
    .map((side) => ({
      entityType: side.type,
      entityId: withWhom(side),
      count: counts.get(side.conversation_id)?.messages ?? 0,
    }))
    .filter(({ entityType, entityId, count }) => {
      return count > 0 && !(hideBlocked && entityType === 'user' && blocked.includes(entityId))
    })
}
