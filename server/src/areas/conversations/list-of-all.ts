import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { escapeLike } from '../../storage/sql.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { type Side, sidesWhere } from '../timeline/index.ts'
import { uidsBlockedBy } from '../users/index.ts'
import { conditionsOf } from './list.ts'
import type { ConversationListQuery } from './schemas.ts'

/** Of a row's side, in the words of `sides.ts`: with whom it is, its last activity, and whether it is in the list. */
const partner = sql`CASE WHEN conversations.second IN ('', conversation_rows.uid)
  THEN conversations.first ELSE conversations.second END`
const activity = sql`CASE WHEN conversations.active_at > conversation_rows.created_at
  THEN conversations.active_at ELSE conversation_rows.created_at END`
const isListed = (row: string) => {
  const of = (name: string) => sql.ref(`${row}.${name}`)
  return sql<SqlBool>`((conversations.shown_seq > ${of('cleared_seq')}
    AND conversations.shown_seq > conversations.purged_seq)
    OR (${of('cleared_seq')} >= conversations.purged_seq AND (${of('kept')} = 1 OR ${of('cleared_seq')} = 0)))`
}

/** A page of every side of every conversation, or of each conversation's first side, for the app itself. */
export async function everySide(
  db: TenantDb,
  query: ConversationListQuery,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; sides: Side[] }> {
  db.leaveSharedReader()
  const conditions = [
    ...conditionsOf(db, query),
    isListed('conversation_rows'),
    ...(query.tags ? [anyTag(query.tags)] : []),
    ...(query.pinnedBy ? [isPinnedBy(db, query.pinnedBy)] : []),
    ...(query.unread ? [isUnread(db)] : []),
    ...(query.updatedAt === undefined ? [] : [isBeyond(query.updatedAt, query.affix)]),
    ...(query.unique ? [isFirst] : []),
  ]
  const where = sql.join([sql`conversation_rows.app_id = ${db.appId}`, ...conditions], sql` AND `)
  const [row] = await db.sql<{ total: number }>`SELECT count(*) AS total FROM conversation_rows
    JOIN conversations ON conversations.app_id = conversation_rows.app_id
      AND conversations.conversation_key = conversation_rows.conversation_key WHERE ${where}`.execute()
  const total = row?.total ?? 0
  if (offset >= total) return { total, sides: [] }
  const order = query.updatedAt !== undefined && query.affix !== 'prepend' ? sql`ASC` : sql`DESC`
  const page = sql`ORDER BY conversation_rows.uid, ${activity} ${order}, ${partner}, conversation_rows.conversation_key
    LIMIT ${limit} OFFSET ${offset}`
  return { total, sides: await sidesWhere(db, conditions, page) }
}

/** Of the sides that are in a list, the one of the first UID. */
const isFirst = sql<SqlBool>`conversation_rows.uid = (SELECT min(other.uid) FROM conversation_rows AS other
  WHERE other.app_id = conversation_rows.app_id AND other.conversation_key = conversation_rows.conversation_key
  AND ${isListed('other')})`

function isBeyond(at: number, affix: string | undefined): RawBuilder<SqlBool> {
  return affix === 'prepend' ? sql`${activity} < ${at}` : sql`${activity} > ${at}`
}

function isPinnedBy(db: TenantDb, by: string[]): RawBuilder<SqlBool> {
  const system = sql`EXISTS (SELECT 1 FROM conversation_pins WHERE conversation_pins.app_id = ${db.appId}
    AND conversation_pins.type = conversations.type AND conversation_pins.target = ${partner}
    AND conversation_pins.target != conversation_rows.uid)`
  const kinds = [
    ...(by.includes('system') ? [system] : []),
    ...(by.includes('me') ? [sql`(conversation_rows.pinned_at IS NOT NULL AND NOT ${system})`] : []),
  ]
  return kinds.length === 0 ? sql`1 = 0` : sql`(${sql.join(kinds, sql` OR `)})`
}

/** There is a message that counts for the side; the numbers alone tell of most that there is none. */
function isUnread(db: TenantDb): RawBuilder<SqlBool> {
  return sql`conversations.last_counted > conversation_rows.read_counted AND EXISTS (SELECT 1 FROM messages
    WHERE messages.app_id = ${db.appId} AND messages.conversation_key = conversation_rows.conversation_key
    AND messages.seq > conversation_rows.read_seq AND messages.seq > conversations.purged_seq
    AND messages.counts = 1 AND messages.deleted_at IS NULL AND messages.sender != conversation_rows.uid
    AND messages.sender NOT IN ${uidsBlockedBy.ask(db, sql.ref('conversation_rows.uid'))})`
}

/** Tags are kept as a JSON list. */
function anyTag(tags: string[]) {
  const each = tags.map((tag) => sql`conversation_rows.tags LIKE ${`%${escapeLike(JSON.stringify(tag))}%`} ESCAPE '\\'`)
  return sql<boolean>`(${sql.join(each, sql` OR `)})`
}
