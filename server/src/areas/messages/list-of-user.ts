import { sql } from 'kysely'
import { hasShortWordsOnly, type Search } from '../../storage/grams.ts'
import { countMatching, placesMatching } from '../../storage/search.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { lookedAtMax, notErased, type SeenMessage } from '../timeline/index.ts'
import { mostIn } from './amount.ts'
import { type Condition, conditionsOf, searchOf, sendersAsked, sentBy } from './filters.ts'
import { eachMatches, messagesAt } from './find.ts'
import { load } from './list.ts'
import type { MessageListQuery } from './schemas.ts'

/** A page of every direct message that a user has sent or received, oldest first. */
export async function messagesOfUser(
  db: TenantDb,
  uid: string,
  query: MessageListQuery,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; rows: SeenMessage[] }> {
  db.leaveSharedReader()
  const search = searchOf(query, undefined)
  const isFound = search !== undefined && (await findsLess(db, search, uid))
  const conditions: Condition[] = [
    sql`messages.purged = 0`,
    sql`messages.receiver_type = 'user'`,
    notErased(db),
    sql`messages.conversation_key IN (SELECT conversation_rows.conversation_key FROM conversation_rows
      WHERE conversation_rows.app_id = ${db.appId} AND conversation_rows.uid = ${uid})`,
    ...conditionsOf(db, query, undefined),
    ...sentBy(sendersAsked(query)),
    ...(search && !isFound ? [eachMatches(db, search)] : []),
  ]
  const where = sql.join(conditions, sql` AND `)
  const select = (columns: ReturnType<typeof sql>) =>
    isFound
      ? sql`${messagesAt(db, placesMatching(db, search), columns)} AND ${where}`
      : sql`SELECT ${columns} FROM messages WHERE messages.app_id = ${db.appId} AND ${where}`
  const [counted] = await db.sql<{ total: number }>`${select(sql`count(*) AS total`)}`.execute()
  const total = counted?.total ?? 0
  if (offset >= total) return { total, rows: [] }
  const ids = await db.sql<{ id: number }>`${select(sql`messages.id`)}
    ORDER BY messages.id LIMIT ${limit} OFFSET ${offset}`.execute()
  return {
    total,
    rows: await load(
      db,
      ids.map(({ id }) => id),
      undefined,
    ),
  }
}

/**
 * Whether a search finds fewer messages, whoever sees them, than there are of a user. Short words are not even asked for
 * where there is little: that alone costs the index much.
 */
async function findsLess(db: TenantDb, search: Search, uid: string): Promise<boolean> {
  const most = await mostIn(db, { kind: 'viewer', uid }, { uid, cursors: [] })
  if (hasShortWordsOnly(search) && most <= lookedAtMax) return false
  return (await countMatching(db, search, most + 1)) <= most
}
