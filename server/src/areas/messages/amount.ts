import { type RawBuilder, sql } from 'kysely'
import type { TenantDb } from '../../storage/tenant.ts'
import { findConversation, findRow, hiddenUpTo, lookedAtMax } from '../timeline/index.ts'
import type { InConversation, Quest, WayScope } from './ways.ts'

type After = Quest['after']

/** How many messages a list may have to look at, at most: all of its scope that come after a user's cursors. */
export async function mostIn(db: TenantDb, scope: WayScope, after: After): Promise<number> {
  switch (scope.kind) {
    case 'app':
      return Number.POSITIVE_INFINITY
    case 'viewer':
      return mostOfUser(db, scope.uid, after)
    case 'thread':
      return mostInThread(db, scope.parentId)
    case 'conversation':
      return mostInConversation(db, scope, after)
    case 'conversations': {
      const each = await Promise.all(scope.among.map((one) => mostInConversation(db, one, after)))
      return each.reduce((sum, most) => sum + most, 0)
    }
  }
}

async function mostOfUser(db: TenantDb, uid: string, { cursors }: After): Promise<number> {
  const floor = floorAfter(cursors)
  const [row] = await db.sql<{ n: number | null }>`SELECT sum(conversations.last_seq - ${floor}) AS n
    FROM conversation_rows JOIN conversations ON conversations.app_id = conversation_rows.app_id
      AND conversations.conversation_key = conversation_rows.conversation_key
    WHERE conversation_rows.app_id = ${db.appId} AND conversation_rows.uid = ${uid}
      AND conversations.last_seq > ${floor}`.execute()
  return row?.n ?? 0
}

/** Beyond what is looked at anyway, it does not matter how many there are. */
async function mostInThread(db: TenantDb, parentId: number): Promise<number> {
  const [row] = await db.sql<{ n: number }>`SELECT count(*) AS n FROM (SELECT 1 AS one FROM messages
    WHERE messages.app_id = ${db.appId} AND messages.parent_id = ${parentId} LIMIT ${lookedAtMax + 1})
    AS replies`.execute()
  return row?.n ?? 0
}

async function mostInConversation(
  db: TenantDb,
  { conversationKey, clearedSeq }: InConversation,
  { uid, cursors }: After,
): Promise<number> {
  const row = cursors.length > 0 ? await findRow(db, conversationKey, uid) : undefined
  const { last_seq = 0 } = (await findConversation(db, conversationKey)) ?? {}
  return last_seq - Math.max(clearedSeq, ...cursors.map((cursor) => row?.[cursor] ?? last_seq))
}

/** Up to which number nothing is wanted of a conversation; for any query that joins rows and conversations. */
export function floorAfter(cursors: After['cursors']): RawBuilder<number> {
  return cursors.map((cursor) => sql.ref<number>(`conversation_rows.${cursor}`)).reduce(larger, hiddenUpTo)
}

export function larger(a: RawBuilder<number>, b: RawBuilder<number>): RawBuilder<number> {
  return sql`CASE WHEN ${a} > ${b} THEN ${a} ELSE ${b} END`
}
