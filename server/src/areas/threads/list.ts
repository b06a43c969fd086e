import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { wholeSeconds } from '../../kit/page.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { messagesOf, type SeenMessage, toMessages, visibleTo } from '../timeline/index.ts'
import type { Message } from '../timeline/schemas.ts'
import { uidsBlockedBy } from '../users/index.ts'
import type { ThreadListQuery } from './schemas.ts'

type Condition = RawBuilder<SqlBool>

export const threadLimits = { usual: 100, max: 1_000 }

interface ThreadCursor {
  affix: 'append' | 'prepend'
  updatedAt: number
  id?: string
}

export interface ThreadPage {
  threads: Message[]
  limit: number
  next: ThreadCursor | undefined
}

/** Threads by their last activity. `append` reads on to older ones, as the list is read; `prepend` back to newer ones. */
export async function listThreads(
  db: TenantDb,
  query: ThreadListQuery,
  viewer: string | undefined,
  conversationId: string | undefined,
): Promise<ThreadPage> {
  const limit = Math.min(query.limit ?? threadLimits.usual, threadLimits.max)
  const affix = query.affix ?? 'append'
  const conditions: Condition[] = [
    sql`messages.parent_id IS NULL`,
    ...(query.participatedByMe && viewer !== undefined
      ? [followedBy(db, viewer)]
      : [sql`messages.reply_count > 0` as Condition]),
    ...(conversationId === undefined ? [] : [sql`messages.conversation_id = ${conversationId}` as Condition]),
    ...(viewer === undefined ? [] : [visibleTo(db, viewer)]),
    ...(query.updatedAt === undefined ? [] : [beyond(query.updatedAt, query.id, affix)]),
  ]
  const direction = affix === 'append' ? sql`DESC` : sql`ASC`
  const found = (await messagesOf(db, viewer)
    .where(sql<SqlBool>`${sql.join(conditions, sql` AND `)}`)
    .orderBy(sql`messages.updated_at ${direction}, messages.id ${direction}`)
    .limit(limit + 1)
    .execute()) as SeenMessage[]
  const page = wholeSeconds(found.slice(0, limit), found[limit], ({ updated_at }) => updated_at)
  const rows = page.toSorted((a, b) => b.updated_at - a.updated_at || b.id - a.id)
  const last = affix === 'append' ? rows.at(-1) : rows[0]
  return {
    threads: await withReplies(db, rows, query, viewer),
    limit,
    next: found.length > limit && last ? cursorAt(last, affix, found[limit]) : undefined,
  }
}

/** The time alone, unless a whole page is of one second and there is more of it. */
function cursorAt(
  { updated_at, id }: SeenMessage,
  affix: ThreadCursor['affix'],
  following: SeenMessage | undefined,
): ThreadCursor {
  return { affix, updatedAt: updated_at, ...(following?.updated_at === updated_at && { id: String(id) }) }
}

/** Of threads that were active in the same second, the id tells which come after the cursor. */
function beyond(at: number, id: number | undefined, affix: 'append' | 'prepend'): Condition {
  const side = affix === 'append' ? sql`<` : sql`>`
  return id === undefined
    ? sql`messages.updated_at ${side} ${at}`
    : sql`(messages.updated_at, messages.id) ${side} (${at}, ${id})`
}

function followedBy(db: TenantDb, viewer: string): Condition {
  return sql`(messages.id IN (SELECT thread_subscriptions.parent_id FROM thread_subscriptions
      WHERE thread_subscriptions.app_id = ${db.appId} AND thread_subscriptions.uid = ${viewer}
      AND thread_subscriptions.follows = 1)
    OR (messages.sender = ${viewer} AND messages.reply_count > 0 AND messages.id NOT IN (
      SELECT thread_subscriptions.parent_id FROM thread_subscriptions WHERE thread_subscriptions.app_id = ${db.appId}
      AND thread_subscriptions.uid = ${viewer} AND thread_subscriptions.follows = 0)))`
}

async function withReplies(
  db: TenantDb,
  rows: SeenMessage[],
  query: ThreadListQuery,
  viewer: string | undefined,
): Promise<Message[]> {
  const threads = await toMessages(db, rows, { viewer })
  const shown: Message[] = []
  for (const [index, thread] of threads.entries()) {
    const row = rows[index] as SeenMessage
    const [newest] = (await messagesOf(db, viewer)
      .where('messages.parent_id', '=', row.id)
      .orderBy('messages.id', 'desc')
      .limit(1)
      .execute()) as SeenMessage[]
    const [lastReply] = newest ? await toMessages(db, [newest], { viewer, withQuoted: false }) : []
    shown.push({
      ...thread,
      ...(lastReply && { lastReply }),
      ...(query.withUnreadReplyCount && { unreadReplyCount: thread.unreadRepliesCount ?? 0 }),
      ...(query.withMentionCount && viewer !== undefined && { unreadMentionCount: await mentionsIn(db, row, viewer) }),
    })
  }
  return shown
}

/** Replies that name the viewer and that he has not read. */
async function mentionsIn(db: TenantDb, { id, conversation_id }: SeenMessage, viewer: string): Promise<number> {
  const blocked = await uidsBlockedBy.ask(db, viewer)
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM messages
    JOIN message_mentions ON message_mentions.app_id = messages.app_id AND message_mentions.uid = ${viewer}
      AND message_mentions.conversation_id = messages.conversation_id AND message_mentions.seq = messages.seq
    JOIN conversation_rows ON conversation_rows.app_id = messages.app_id AND conversation_rows.uid = ${viewer}
      AND conversation_rows.conversation_id = messages.conversation_id
    WHERE messages.app_id = ${db.appId} AND messages.parent_id = ${id}
      AND messages.conversation_id = ${conversation_id} AND messages.sender NOT IN (${sql.join([viewer, ...blocked])})
      AND messages.deleted_at IS NULL AND messages.seq > conversation_rows.read_seq`.execute(db.connection.query)
  return rows[0]?.n ?? 0
}
