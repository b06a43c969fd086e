import { type SqlBool, sql } from 'kysely'
import type { Actor } from '../../kit/operation.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { type ConversationKey, type Side, sidesWhere, unreadOf, withWhom } from '../timeline/index.ts'
import {
  beyondCursors,
  type Condition,
  conditionsOf,
  counted,
  cursorsAsked,
  searchOf,
  sendersAsked,
  sentBy,
  type Viewer,
} from './filters.ts'
import { eachMatches } from './find.ts'
import { allowedBy, viewerFor } from './list.ts'
import type { MessageListQuery } from './schemas.ts'

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
  actor: Actor,
  query: MessageListQuery,
  among: ConversationKey[] | undefined,
): Promise<Count[]> {
  if (among?.length === 0) return []
  const viewer = await viewerFor(db, actor)
  const sides = await sidesWhere(
    db,
    [
      sql`conversation_rows.uid = ${viewer.uid}`,
      sql`conversations.last_counted > conversation_rows.read_counted`,
      ...(among ? [sql<SqlBool>`conversation_rows.conversation_key IN (${sql.join(among)})`] : []),
    ],
    sql`ORDER BY conversations.type DESC, conversation_rows.conversation_key`,
  )
  const conditions = [...narrowing(db, query, viewer), ...(await allowedBy(db, actor))]
  const counts = conditions.length > 0 ? undefined : await unreadOf(db, sides, viewer.blocked)
  const entries = []
  for (const side of sides) {
    const count = counts
      ? (counts.get(side.conversation_key)?.messages ?? 0)
      : await countOf(db, side, [...conditions, ...counted(viewer)])
    if (count > 0) entries.push({ entityType: side.type, entityId: withWhom(side), count })
  }
  return entries
}

/** What is asked beyond what every count of unread messages means: those of blocked users never count. */
function narrowing(db: TenantDb, query: MessageListQuery, viewer: Viewer): Condition[] {
  const { unread: _, hideMessagesFromBlockedUsers: __, ...asked } = query
  const search = searchOf(query, undefined)
  return [
    ...conditionsOf(db, asked, viewer),
    ...sentBy(sendersAsked(asked)),
    ...beyondCursors(db, viewer.uid, cursorsAsked(asked)),
    ...(search ? [eachMatches(db, search)] : []),
  ]
}

/** Where only some kinds of messages are asked for, those after the cursor are looked at one by one. */
async function countOf(
  db: TenantDb,
  { conversation_key, read_seq, cleared_seq }: Side,
  conditions: Condition[],
): Promise<number> {
  const all = [
    sql`messages.app_id = ${db.appId}`,
    sql`messages.conversation_key = ${conversation_key}`,
    sql`messages.seq > ${Math.max(read_seq, cleared_seq)}`,
    sql`messages.purged = 0`,
    ...conditions,
  ]
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM messages
    WHERE ${sql.join(all, sql` AND `)}`.execute(db.connection.query)
  return rows[0]?.n ?? 0
}
