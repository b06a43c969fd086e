import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Actor } from '../../kit/operation.ts'
import type { Search } from '../../storage/grams.ts'
import { lookUpEach } from '../../storage/plans.ts'
import { countMatching, placesMatching } from '../../storage/search.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import {
  type ConversationKey,
  leaveIfManySides,
  lookedAtMax,
  type Side,
  sidesWhere,
  type Unread,
  unreadOf,
  visibleTo,
  withWhom,
} from '../timeline/index.ts'
import { floorAfter } from './amount.ts'
import {
  beyondCursors,
  type Condition,
  conditionsOf,
  counted,
  cursorsAsked,
  searchOf,
  sendersAsked,
  sentBy,
  type ViewerOfMessages,
} from './filters.ts'
import { eachMatches, messagesAt, notByHiddenNames } from './find.ts'
import { viewerFor } from './list.ts'
import { listedFor } from './listed.ts'
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
  if (!among) await leaveIfManySides(db, viewer.uid)
  const sides = await sidesWhere(
    db,
    [
      sql`conversation_rows.uid = ${viewer.uid}`,
      sql`conversations.last_counted > conversation_rows.read_counted`,
      ...(among ? [sql<SqlBool>`conversation_rows.conversation_key IN (${sql.join(among)})`] : []),
    ],
    sql`ORDER BY conversations.type DESC, conversation_rows.conversation_key`,
  )
  const search = searchOf(query, among)
  const conditions = [
    ...narrowing(db, query, viewer),
    ...(await listedFor(db, actor)),
    ...(await notByHiddenNames(db, search, actor)),
  ]
  const isNarrowed = search !== undefined || conditions.length > 0
  const counts = isNarrowed
    ? await countEach(db, viewer, sides, search, conditions)
    : await unreadOf(db, sides, viewer.blocked)
  return sides.flatMap((side) => {
    const count = counts.get(side.conversation_key)?.messages ?? 0
    return count > 0 ? [{ entityType: side.type, entityId: withWhom(side), count }] : []
  })
}

/** What a user has not read in some conversations, as far as their lists may hold it. */
export async function unreadAmong(db: TenantDb, actor: Actor, sides: Side[]): Promise<Map<ConversationKey, Unread>> {
  const [viewer, conditions] = await Promise.all([viewerFor(db, actor), listedFor(db, actor)])
  if (conditions.length === 0) return unreadOf(db, sides, viewer.blocked)
  return countEach(db, viewer, sides, undefined, conditions)
}

/** What is asked beyond what every count of unread messages means: those of blocked users never count. */
function narrowing(db: TenantDb, query: MessageListQuery, viewer: ViewerOfMessages): Condition[] {
  const { unread: _, hideMessagesFromBlockedUsers: __, ...asked } = query
  return [
    ...conditionsOf(db, asked, viewer),
    ...sentBy(sendersAsked(asked)),
    ...beyondCursors(db, viewer.uid, cursorsAsked(asked)),
  ]
}

/**
 * Where only some kinds of messages are asked for, these are looked at one by one: all that the user has not read, or all
 * that a search finds, whatever is less.
 */
async function countEach(
  db: TenantDb,
  viewer: ViewerOfMessages,
  sides: Side[],
  search: Search | undefined,
  conditions: Condition[],
): Promise<Map<ConversationKey, Unread>> {
  const unread = sides.reduce((sum, { last_counted, read_counted }) => sum + last_counted - read_counted, 0)
  if (unread > lookedAtMax) db.leaveSharedReader()
  if (unread === 0) return new Map()
  const all: Condition[] = [sql`messages.purged = 0`, ...conditions, ...counted(viewer)]
  const isFound = search !== undefined && (await countMatching(db, search, unread + 1)) <= unread
  const from = isFound
    ? amongHits(db, viewer, search, all)
    : amongUnread(db, viewer, sides, search ? [...all, eachMatches(db, search)] : all)
  const rows = await db.sql<Unread & { conversation_key: ConversationKey }>`${from}
    GROUP BY messages.conversation_key`.execute()
  return new Map(rows.map((row) => [row.conversation_key, row]))
}

function counting(db: TenantDb, uid: string): RawBuilder<unknown> {
  return sql`messages.conversation_key, count(*) AS messages, sum(CASE WHEN messages.flags LIKE '%m%'
    AND EXISTS (SELECT 1 FROM message_mentions WHERE message_mentions.app_id = ${db.appId}
      AND message_mentions.message_id = messages.id AND message_mentions.uid = ${uid}) THEN 1 ELSE 0 END) AS mentions`
}

function amongHits(
  db: TenantDb,
  { uid }: ViewerOfMessages,
  search: Search,
  conditions: Condition[],
): RawBuilder<unknown> {
  const all = [...conditions, visibleTo(db, uid), ...beyondCursors(db, uid, ['read_seq'])]
  return sql`${messagesAt(db, placesMatching(db, search), counting(db, uid))} AND ${sql.join(all, sql` AND `)}`
}

// So many conversations are named in a statement; where there are more, all of the user's are counted.
const keysNamedMax = 200

function amongUnread(
  db: TenantDb,
  { uid }: ViewerOfMessages,
  sides: Side[],
  conditions: Condition[],
): RawBuilder<unknown> {
  const keys = sides.map(({ conversation_key }) => conversation_key)
  const inThese =
    keys.length > keysNamedMax ? sql`` : sql`AND conversation_rows.conversation_key IN (${sql.join(keys)})`
  const unread = lookUpEach(db, {
    few: sql`(SELECT conversation_rows.conversation_key, ${floorAfter(['read_seq'])} FROM conversation_rows
      JOIN conversations ON conversations.app_id = conversation_rows.app_id
        AND conversations.conversation_key = conversation_rows.conversation_key
      WHERE conversation_rows.app_id = ${db.appId} AND conversation_rows.uid = ${uid}
        AND conversations.last_counted > conversation_rows.read_counted ${inThese})`,
    name: 'side',
    columns: ['conversation_key', 'floor_seq'],
    select: counting(db, uid),
    table: 'messages',
    match: sql`messages.conversation_key = side.conversation_key AND messages.seq > side.floor_seq`,
  })
  return sql`${unread} AND ${sql.join(conditions, sql` AND `)}`
}
