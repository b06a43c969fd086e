import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Actor } from '../../kit/operation.ts'
import type { View } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { blockedBy } from '../users/index.ts'
import { everybody } from './cursors.ts'
import { shownData } from './files-in.ts'
import { interactionsOf, isFollowed, listedTo, reactionsTo, savedAt } from './gates.ts'
import { conversationIdOf } from './place.ts'
import type { Message } from './schemas.ts'
import { hiddenUpTo } from './sides.ts'
import type { MessageRow, ReceiptKind } from './tables.ts'
import { veilFor } from './veil.ts'

/** Who looks at messages, and how much of them is to be shown. */
export interface MessageView {
  viewer?: Actor | undefined
  withTags?: boolean | undefined
  withQuoted?: boolean | undefined
  withParent?: boolean | undefined
}

/** A message with what one statement tells of it beside its row. */
export interface SeenMessage extends MessageRow {
  /** When it was received and read. */
  delivered_at: number | null
  read_at: number | null
  delivered_to_me_at: number | null
  read_by_me_at: number | null
  /** When the viewer saved it, and whether they follow the thread that it begins. */
  saved_at: number | null
  is_followed: 0 | 1
}

function columnsSeenBy(db: TenantDb, viewer: string | undefined) {
  return {
    delivered_at: seenAt('delivered', receiving),
    read_at: seenAt('read', receiving),
    delivered_to_me_at: viewer === undefined ? nothing : seenAt('delivered', sql`${viewer}`),
    read_by_me_at: viewer === undefined ? nothing : seenAt('read', sql`${viewer}`),
    saved_at: viewer === undefined ? nothing : savedAt.ask(db, viewer),
    is_followed: viewer === undefined ? sql<0 | 1>`0` : isFollowed.ask(db, viewer),
  }
}

const nothing = sql<number | null>`NULL`

/** What is selected of messages as a viewer finds them, where a statement is written out. */
export function selectedFor(db: TenantDb, viewer: string | undefined): RawBuilder<unknown> {
  const beside = Object.entries(columnsSeenBy(db, viewer)).map(([name, value]) => sql`${value} AS ${sql.ref(name)}`)
  return sql.join([sql`messages.*`, ...beside])
}

/** The app's messages as a viewer finds them; those deleted for good are not among them. */
export function messagesOf(db: TenantDb, viewer: string | undefined) {
  const { delivered_at, read_at, delivered_to_me_at, read_by_me_at, saved_at, is_followed } = columnsSeenBy(db, viewer)
  return db
    .select('messages')
    .selectAll('messages')
    .select([
      delivered_at.as('delivered_at'),
      read_at.as('read_at'),
      delivered_to_me_at.as('delivered_to_me_at'),
      read_by_me_at.as('read_by_me_at'),
      saved_at.as('saved_at'),
      is_followed.as('is_followed'),
    ])
    .where('messages.purged', '=', 0)
}

/** The message is in a conversation of the user's, and neither a reset of the user's nor one for everyone hides it. */
export function visibleTo(db: TenantDb, uid: string): RawBuilder<SqlBool> {
  return sql`messages.seq > coalesce((SELECT ${hiddenUpTo} FROM conversation_rows
    JOIN conversations ON conversations.app_id = conversation_rows.app_id
      AND conversations.conversation_key = conversation_rows.conversation_key
    WHERE conversation_rows.app_id = ${db.appId} AND conversation_rows.uid = ${uid}
    AND conversation_rows.conversation_key = messages.conversation_key), messages.seq)`
}

// Nobody receives what they send: a note to oneself has no receipts.
const receiving = sql`CASE WHEN messages.receiver_type = 'group' THEN ${sql.lit(everybody)}
  WHEN messages.receiver = messages.sender THEN NULL ELSE messages.receiver END`

/** When the receiver, or everybody in a group, last did something with a message: read it, or else received it. */
export const receiptAt = sql<number | null>`coalesce(${seenAt('read', receiving)}, ${seenAt('delivered', receiving)})`

function seenAt(kind: ReceiptKind, uid: Expression<unknown>) {
  return sql<number | null>`(SELECT receipt_marks.at FROM receipt_marks
    WHERE receipt_marks.app_id = messages.app_id AND receipt_marks.conversation_key = messages.conversation_key
    AND receipt_marks.uid = ${uid} AND receipt_marks.uid != messages.sender AND receipt_marks.kind = ${sql.lit(kind)}
    AND receipt_marks.seq >= messages.seq ORDER BY receipt_marks.seq LIMIT 1)`
}

/** Records of messages, with what other areas know about them. */
export async function toMessages(view: View, rows: SeenMessage[], how: MessageView): Promise<Message[]> {
  const { db } = view
  const { viewer, withQuoted = true, withParent = false } = how
  const related = await relatedTo(db, rows, how)
  const all = [...rows, ...related.values()]
  const reacted = all.filter(({ flags }) => flags.includes('r')).map(({ id }) => id)
  const interactive = all.filter(({ category }) => category === 'interactive').map(({ id }) => id)
  const [reactions, interactions, unreadReplies] = await Promise.all([
    ask(reactionsTo.ask, db, reacted, viewer?.uid),
    viewer ? ask(interactionsOf.ask, db, interactive, viewer.uid) : new Map(),
    viewer ? unreadRepliesOf(db, all, viewer) : new Map(),
  ])
  const bare = (row: SeenMessage): Message =>
    toMessage(view, row, how, {
      reactions: reactions.get(row.id),
      savedAt: row.saved_at ?? undefined,
      subscribed: viewer && row.is_followed === 1,
      interactions: interactions.get(row.id),
      unreadReplies: unreadReplies.get(row.id),
    })
  const messages = rows.map((row) => {
    const quoted = withQuoted && row.quoted_id !== null ? related.get(row.quoted_id) : undefined
    const parent = withParent && row.parent_id !== null ? related.get(row.parent_id) : undefined
    return { ...bare(row), ...(quoted && { quotedMessage: bare(quoted) }), ...(parent && { parent: bare(parent) }) }
  })
  return veilFor(db, viewer, messages)
}

function ask<Value>(
  question: (db: TenantDb, ids: number[], viewer: string | undefined) => Promise<Map<number, Value>>,
  db: TenantDb,
  ids: number[],
  viewer: string | undefined,
): Promise<Map<number, Value>> {
  return ids.length === 0 ? Promise.resolve(new Map()) : question(db, ids, viewer)
}

/** The messages that some quote or reply to; what the viewer's lists do not hold is not shown there either. */
async function relatedTo(
  db: TenantDb,
  rows: SeenMessage[],
  { viewer, withQuoted = true, withParent = false }: MessageView,
): Promise<Map<number, SeenMessage>> {
  const ids = rows.flatMap(({ quoted_id, parent_id }) => [
    ...(withQuoted && quoted_id !== null ? [quoted_id] : []),
    ...(withParent && parent_id !== null ? [parent_id] : []),
  ])
  if (ids.length === 0) return new Map()
  const conditions = viewer ? [visibleTo(db, viewer.uid), ...(await listedTo.ask(db, viewer))] : []
  const all = messagesOf(db, viewer?.uid).where('messages.id', 'in', [...new Set(ids)])
  const found = await conditions.reduce((some, condition) => some.where(condition), all).execute()
  return new Map(found.map((row) => [row.id, row]))
}

// So many replies are counted while everybody waits, and by one statement where it runs in the server's own thread.
const repliesSharedMax = 10_000
const repliesAtOnce = 5_000

/** For messages that begin threads: how many replies the viewer has not read, of others whom they have not blocked. */
async function unreadRepliesOf(db: TenantDb, rows: SeenMessage[], viewer: Actor): Promise<Map<number, number>> {
  const { uid } = viewer
  const threads = rows.filter(({ reply_count }) => reply_count > 0)
  if (threads.length === 0) return new Map()
  if (threads.reduce((sum, { reply_count }) => sum + reply_count, 0) > repliesSharedMax) db.leaveSharedReader()
  const ignored = [uid, ...(await blockedBy(db, viewer))]
  const counted = [sql`messages.sender NOT IN (${sql.join(ignored)})`, ...(await listedTo.ask(db, viewer))]
  const isLong = ({ reply_count }: SeenMessage) => db.runsInThread && reply_count > repliesAtOnce
  const short = threads.filter((thread) => !isLong(thread)).map(({ id }) => id)
  const counts = new Map(short.length === 0 ? [] : await countUnread(db, uid, counted, sql`IN (${sql.join(short)})`))
  for (const { id } of threads.filter(isLong)) counts.set(id, await countUnreadInTurn(db, uid, counted, id))
  return new Map(threads.map(({ id }) => [id, counts.get(id) ?? 0]))
}

/** The same for one thread, some replies after the other. */
async function countUnreadInTurn(
  db: TenantDb,
  viewer: string,
  counted: RawBuilder<unknown>[],
  id: number,
): Promise<number> {
  let count = 0
  for (let from = 0; ; ) {
    const to = await replyAfter(db, id, from, repliesAtOnce)
    const upTo = to === undefined ? sql`` : sql`AND messages.id <= ${to}`
    const [some] = await countUnread(db, viewer, counted, sql`= ${id} AND messages.id > ${from} ${upTo}`)
    count += some?.[1] ?? 0
    if (to === undefined) return count
    from = to
  }
}

async function countUnread(
  db: TenantDb,
  viewer: string,
  counted: RawBuilder<unknown>[],
  ofParents: RawBuilder<unknown>,
): Promise<[number, number][]> {
  const rows = await db.sql<{ id: number; n: number }>`
    SELECT messages.parent_id AS id, count(*) AS n FROM messages
    JOIN conversation_rows ON conversation_rows.app_id = messages.app_id AND conversation_rows.uid = ${viewer}
      AND conversation_rows.conversation_key = messages.conversation_key
    WHERE messages.app_id = ${db.appId} AND messages.parent_id ${ofParents}
      AND messages.deleted_at IS NULL AND messages.seq > conversation_rows.read_seq
      AND ${sql.join(counted, sql` AND `)}
    GROUP BY messages.parent_id`.execute()
  return rows.map(({ id, n }) => [id, n])
}

/** The reply that stands so many after another; nothing, if there are fewer. */
async function replyAfter(db: TenantDb, parentId: number, id: number, steps: number): Promise<number | undefined> {
  const row = await db
    .select('messages')
    .select('messages.id')
    .where('messages.parent_id', '=', parentId)
    .where('messages.id', '>', id)
    .orderBy('messages.id')
    .offset(steps - 1)
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

function contentOf({ db, tools }: View, { category, type, data }: MessageRow): Record<string, unknown> {
  return shownData({ category, type, data: JSON.parse(data) }, { appId: db.appId, tools })
}

interface Extras {
  reactions?: object[] | undefined
  savedAt?: number | undefined
  subscribed?: boolean | undefined
  interactions?: object[] | undefined
  unreadReplies?: number | undefined
}

/** The record alone; for events, which show no viewer's side. */
export function toMessage(
  view: View,
  row: MessageRow & Partial<SeenMessage>,
  { withTags = true }: MessageView,
  extras: Extras = {},
): Message {
  const { reactions, savedAt, subscribed, interactions, unreadReplies } = extras
  const [deliveredAt, readAt] = [earliest(row.delivered_at, row.read_at), row.read_at ?? null]
  const deliveredToMeAt = earliest(row.delivered_to_me_at, row.read_by_me_at)
  return {
    id: String(row.id),
    ...(row.muid !== null && { muid: row.muid }),
    conversationId: conversationIdOf(row.conversation_key),
    sender: row.sender,
    receiver: row.receiver,
    receiverType: row.receiver_type,
    category: row.category,
    type: row.type,
    data: {
      ...contentOf(view, row),
      ...(reactions && reactions.length > 0 && { reactions }),
      ...(interactions && interactions.length > 0 && { interactions }),
    },
    sentAt: row.sent_at,
    updatedAt: Math.max(row.updated_at, deliveredAt ?? 0, readAt ?? 0),
    ...(deliveredAt !== null && { deliveredAt }),
    ...(readAt !== null && { readAt }),
    ...(deliveredToMeAt !== null && { deliveredToMeAt }),
    ...(row.read_by_me_at != null && { readByMeAt: row.read_by_me_at }),
    ...(row.edited_at !== null && { editedAt: row.edited_at }),
    ...(row.edited_by !== null && { editedBy: row.edited_by }),
    ...(row.deleted_at !== null && { deletedAt: row.deleted_at }),
    ...(row.deleted_by !== null && { deletedBy: row.deleted_by }),
    ...(row.parent_id !== null && { parentId: String(row.parent_id) }),
    ...(row.reply_count > 0 && { replyCount: row.reply_count }),
    ...(unreadReplies !== undefined && { unreadRepliesCount: unreadReplies }),
    ...(subscribed !== undefined && { threadSubscribed: subscribed }),
    ...(row.quoted_id !== null && { quotedMessageId: String(row.quoted_id) }),
    ...(withTags && row.tags !== null && { tags: JSON.parse(row.tags) }),
    ...(row.pinned_by !== null && { pinnedBy: row.pinned_by }),
    ...(row.pinned_at !== null && { pinnedAt: row.pinned_at }),
    ...(savedAt !== undefined && { savedAt }),
  }
}

/** Who has read something has received it by then, whatever was said about that later. */
function earliest(delivered: number | null | undefined, read: number | null | undefined): number | null {
  const known = [delivered, read].filter((at) => at !== null && at !== undefined)
  return known.length === 0 ? null : Math.min(...known)
}
