import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { cursorsOf, justBefore } from '../../common/cursor.ts'
import { wholeSeconds } from '../../common/page.ts'
import type { Actor } from '../../kit/operation.ts'
import type { View } from '../../kit/work.ts'
import { lookUpEach } from '../../storage/plans.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { listedFor } from '../messages/index.ts'
import {
  type ConversationKey,
  messagesOf,
  notErased,
  type SeenMessage,
  toMessages,
  visibleTo,
} from '../timeline/index.ts'
import type { Message } from '../timeline/schemas.ts'
import { blockedBy } from '../users/index.ts'
import { type ThreadListQuery, threadLimits } from './schemas.ts'

type Condition = RawBuilder<SqlBool>

/** Where a thread stands; of several that were active in the same second the id tells. */
interface Keys {
  updatedAt: number
  id: string
}

/** Whose threads are looked for, and where. */
interface Scope {
  viewer: Actor | undefined
  conversationKey: ConversationKey | undefined
}

/** A thread by the message that began it. */
interface Found {
  id: number
  updated_at: number
}

/**
 * Threads by their last activity. `append` reads on to older ones, as the list is read; `prepend` back to newer ones.
 * However many there are on a page, they are read with the same few statements.
 */
export async function listThreads(view: View, query: ThreadListQuery, scope: Scope) {
  const { db, now } = view
  // All threads that somebody can see are looked at for a page of them.
  db.leaveSharedReader()
  const limit = Math.min(query.limit ?? threadLimits.usual, threadLimits.max)
  const found = await findThreads(db, query, scope, limit + 1)
  // Whoever reads on by the time alone gets whole seconds.
  const page = wholeSeconds(found.slice(0, limit), found[limit], ({ updated_at }) => updated_at).toSorted(
    (a, b) => b.updated_at - a.updated_at || b.id - a.id,
  )
  const threads = await withReplies(view, await load(db, page, scope.viewer?.uid), query, scope.viewer)
  const current = { limit, count: threads.length }
  return { threads, meta: { current, ...cursorsOf(page.map(keysOf), stoodAt(query, now)) } }
}

function keysOf({ updated_at, id }: Found): Keys {
  return { updatedAt: updated_at, id: String(id) }
}

function stoodAt({ updatedAt, id }: ThreadListQuery, now: number): Partial<Keys> {
  if (updatedAt === undefined) return { updatedAt: justBefore(now) }
  return { updatedAt, ...(id !== undefined && { id: String(id) }) }
}

async function findThreads(db: TenantDb, query: ThreadListQuery, scope: Scope, limit: number): Promise<Found[]> {
  const direction = query.affix === 'prepend' ? sql`ASC` : sql`DESC`
  const listed = scope.viewer ? await listedFor(db, scope.viewer, true) : []
  const rows = await db.sql<Found>`${threadsIn(db, query, scope, listed)}
    ORDER BY messages.updated_at ${direction}, messages.id ${direction} LIMIT ${limit}`.execute()
  return rows
}

/** The threads to choose from, found by way of whatever leads to the fewest of them. */
function threadsIn(
  db: TenantDb,
  query: ThreadListQuery,
  { viewer: actor, conversationKey }: Scope,
  listed: Condition[],
): RawBuilder<unknown> {
  const viewer = actor?.uid
  const wanted: Condition[] = [
    sql`messages.purged = 0`,
    sql`messages.parent_id IS NULL`,
    ...(conversationKey === undefined ? [] : [sql`messages.conversation_key = ${conversationKey}` as Condition]),
    ...sinceCursor(query),
    ...listed,
  ]
  const all = (...more: Condition[]) => sql.join([...wanted, ...more], sql` AND `)
  const select = sql`messages.id, messages.updated_at`
  const replied: Condition = sql`messages.reply_count > 0`
  if (viewer === undefined) {
    return sql`SELECT ${select} FROM messages WHERE messages.app_id = ${db.appId} AND ${all(replied, notErased(db))}`
  }
  const threads = query.participatedByMe
    ? lookUpEach(db, {
        few: sql`(${followedBy(db, viewer)})`,
        name: 'followed',
        columns: ['id'],
        select,
        table: 'messages',
        match: all(sql`messages.id = followed.id`),
      })
    : lookUpEach(db, {
        few: sql`(SELECT conversation_rows.conversation_key FROM conversation_rows
          WHERE conversation_rows.app_id = ${db.appId} AND conversation_rows.uid = ${viewer}
          ${conversationKey === undefined ? sql`` : sql`AND conversation_rows.conversation_key = ${conversationKey}`})`,
        name: 'side',
        columns: ['conversation_key'],
        select,
        table: 'messages',
        match: all(replied, sql`messages.conversation_key = side.conversation_key`),
      })
  return sql`${threads} AND ${visibleTo(db, viewer)}`
}

function sinceCursor({ affix = 'append', updatedAt, id }: ThreadListQuery): Condition[] {
  // As with every word that a list does not know: it finds nothing.
  if (!['append', 'prepend'].includes(affix)) return [sql`1 = 0`]
  return updatedAt === undefined ? [] : [beyond(updatedAt, id, affix)]
}

/** The ids of messages whose threads a user follows: those asked for, also without replies, and their own. */
function followedBy(db: TenantDb, viewer: string): RawBuilder<unknown> {
  return sql`SELECT thread_subscriptions.parent_id FROM thread_subscriptions
      WHERE thread_subscriptions.app_id = ${db.appId} AND thread_subscriptions.uid = ${viewer}
      AND thread_subscriptions.follows = 1
    UNION SELECT messages.id FROM messages WHERE messages.app_id = ${db.appId} AND messages.sender = ${viewer}
      AND messages.reply_count > 0 AND messages.id NOT IN (
        SELECT thread_subscriptions.parent_id FROM thread_subscriptions
        WHERE thread_subscriptions.app_id = ${db.appId} AND thread_subscriptions.uid = ${viewer}
        AND thread_subscriptions.follows = 0)`
}

/** Of threads that were active in the same second, the id tells which come after the cursor. */
function beyond(at: number, id: number | undefined, affix: 'append' | 'prepend'): Condition {
  const side = affix === 'append' ? sql`<` : sql`>`
  return id === undefined
    ? sql`messages.updated_at ${side} ${at}`
    : sql`(messages.updated_at, messages.id) ${side} (${at}, ${id})`
}

/** The messages of a page, in its order. */
async function load(db: TenantDb, page: { id: number }[], viewer: string | undefined): Promise<SeenMessage[]> {
  if (page.length === 0) return []
  const ids = page.map(({ id }) => id)
  const rows = (await messagesOf(db, viewer).where('messages.id', 'in', ids).execute()) as SeenMessage[]
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

async function withReplies(
  view: View,
  rows: SeenMessage[],
  query: ThreadListQuery,
  actor: Actor | undefined,
): Promise<Message[]> {
  if (rows.length === 0) return []
  const { db } = view
  const viewer = actor?.uid
  const listed = actor ? await listedFor(db, actor) : []
  const threads = await toMessages(view, rows, { viewer: actor })
  const replies = await load(db, await lastReplies(db, rows, listed), viewer)
  const shownReplies = await toMessages(view, replies, { viewer: actor, withQuoted: false })
  const lastReply = new Map(shownReplies.map((reply) => [reply.parentId, reply]))
  const mentions = query.withMentionCount && actor ? await mentionsIn(db, rows, actor, listed) : undefined
  return threads.map((thread) => {
    const last = lastReply.get(thread.id)
    return {
      ...thread,
      ...(last && { lastReply: last }),
      ...(query.withUnreadReplyCount && { unreadReplyCount: thread.unreadRepliesCount ?? 0 }),
      ...(mentions && { unreadMentionCount: mentions.get(thread.id) ?? 0 }),
    }
  })
}

/** The newest reply in each thread, each found at the end of the index. */
async function lastReplies(db: TenantDb, rows: SeenMessage[], listed: Condition[]): Promise<{ id: number }[]> {
  const parents = sql.join(rows.map(({ id }) => id))
  const wanted = sql.join([sql`messages.parent_id = parent.id`, ...listed], sql` AND `)
  const found = await db.sql<{ id: number | null }>`SELECT (
      SELECT messages.id FROM messages WHERE messages.app_id = parent.app_id AND ${wanted}
      ORDER BY messages.id DESC LIMIT 1) AS id
    FROM messages AS parent WHERE parent.app_id = ${db.appId} AND parent.id IN (${parents})`.execute()
  return found.flatMap(({ id }) => (id === null ? [] : [{ id }]))
}

/** How many replies in each thread name the viewer and are not read by them. */
async function mentionsIn(
  db: TenantDb,
  rows: SeenMessage[],
  actor: Actor,
  listed: Condition[],
): Promise<Map<string, number>> {
  const { uid: viewer } = actor
  const blocked = await blockedBy(db, actor)
  const counted = [sql`messages.sender NOT IN (${sql.join([viewer, ...blocked])})`, ...listed]
  const counts = await db.sql<{ parent_id: number; n: number }>`
    SELECT messages.parent_id, count(*) AS n FROM messages
    JOIN message_mentions ON message_mentions.app_id = messages.app_id AND message_mentions.uid = ${viewer}
      AND message_mentions.conversation_key = messages.conversation_key AND message_mentions.seq = messages.seq
    JOIN conversation_rows ON conversation_rows.app_id = messages.app_id AND conversation_rows.uid = ${viewer}
      AND conversation_rows.conversation_key = messages.conversation_key
    WHERE messages.app_id = ${db.appId} AND messages.parent_id IN (${sql.join(rows.map(({ id }) => id))})
      AND messages.deleted_at IS NULL AND messages.seq > conversation_rows.read_seq
      AND ${sql.join(counted, sql` AND `)}
    GROUP BY messages.parent_id`.execute()
  return new Map(counts.map(({ parent_id, n }) => [String(parent_id), n]))
}
