import { sql } from 'kysely'
import type { Work } from '../../kit/work.ts'
import { prepared, preparedRows, type TenantDb } from '../../storage/tenant.ts'
import { type ConversationKey, otherSide } from './place.ts'
import { findRow, holdConversation, openSides } from './rows.ts'
import type { ConversationRow, MemberRow, MessageRow, ReceiptKind, ReceiptMarkRow } from './tables.ts'

/**
 * How far everyone has come in a conversation. A user has two cursors, numbers of messages; moving one leaves a mark that
 * says when, so the time at which any message was received or read is the time of the first mark at or after it. Nothing
 * is written per message and reader: a group of 100,000 costs what two users cost.
 */

/** Whose marks stand for everybody in a group. */
export const everybody = ''

export const receiptKinds = ['delivered', 'read'] as const

const cursorOf = { delivered: 'delivered_seq', read: 'read_seq' } as const

type Doing = Pick<Work, 'db' | 'now'>

type OwnCursors = Pick<MemberRow, 'delivered_seq' | 'read_seq'>

/** Both sides have one where two users speak; then there is nothing to open. */
const ownCursors = prepared<
  { conversationKey: ConversationKey; uid: string; other: string },
  OwnCursors & { other_has_side: number | null }
>((db, { conversationKey, uid, other }) =>
  db
    .select('conversation_rows')
    .select(['conversation_rows.delivered_seq', 'conversation_rows.read_seq'])
    .select(
      sql<number | null>`(SELECT 1 FROM conversation_rows AS theirs WHERE theirs.app_id = conversation_rows.app_id
        AND theirs.uid = ${other} AND theirs.conversation_key = conversation_rows.conversation_key)`.as(
        'other_has_side',
      ),
    )
    .where('conversation_rows.conversation_key', '=', conversationKey)
    .where('conversation_rows.uid', '=', uid)
    .modifyEnd(db.holdRows),
)

/** How far somebody who has just spoken had come; both of two users have a side from then on. */
async function cursorsOfSender(
  { db, now }: Doing,
  conversation: ConversationRow,
  row: MessageRow,
): Promise<OwnCursors | undefined> {
  const { type, conversation_key: conversationKey } = conversation
  const { sender: uid } = row
  const find = () => ownCursors(db, { conversationKey, uid, other: otherSide(conversation, uid) })
  const [own] = await find()
  if (type === 'group' || (own && own.other_has_side !== null)) return own
  await openSides(db, conversation, row, now)
  const [opened] = await find()
  return opened
}

const moveToOwn = prepared<
  { conversationKey: ConversationKey; uid: string; seq: number; counted: number },
  { uid: string }
>((db, { conversationKey, uid, seq, counted }) =>
  db
    .update('conversation_rows')
    .set({ read_seq: seq, read_counted: counted, delivered_seq: seq })
    .where('conversation_key', '=', conversationKey)
    .where('uid', '=', uid)
    .where('read_seq', '<', seq)
    .returning('uid'),
)

/** From which message a cursor has moved, and to which. */
export interface CursorStep {
  from: number
  to: number
}

/**
 * Who sends a message has seen what was said before it; answers how far that took them, if they were behind. The row is held
 * before its marks are written, here as everywhere, so that two who move one cursor cannot wait for each other.
 */
export async function markRead(
  work: Doing,
  conversation: ConversationRow,
  row: MessageRow,
): Promise<Partial<Record<ReceiptKind, CursorStep>> | undefined> {
  const { db, now } = work
  const { purged_seq } = conversation
  const { conversation_key: conversationKey, sender: uid, seq, counted } = row
  const before = seq - 1
  const own = await cursorsOfSender(work, conversation, row)
  if (!own || own.read_seq >= seq) return undefined
  await moveToOwn(db, { conversationKey, uid, seq, counted })
  const [delivered, read] = [Math.max(own.delivered_seq, purged_seq), Math.max(own.read_seq, purged_seq)]
  if (read >= before) return undefined
  await putMarks(db, conversationKey, uid, ['read'], before, now)
  return {
    ...(delivered < before && { delivered: { from: delivered, to: before } }),
    read: { from: read, to: before },
  }
}

/** What a move has brought about: how far each cursor came, and which of them was the last in a group. */
export interface Moved {
  steps: Partial<Record<ReceiptKind, CursorStep>>
  wasLast: ReceiptKind[]
}

/** Moves a cursor forward to a message; reading is also receiving. */
export async function advance(
  { db, now }: Doing,
  conversation: ConversationRow,
  uid: string,
  kind: ReceiptKind,
  upTo: Pick<MessageRow, 'seq' | 'counted'>,
): Promise<Moved> {
  const { conversation_key: conversationKey } = conversation
  const behind = (row: OwnCursors) =>
    receiptKinds.filter((each) => (each === 'delivered' || kind === 'read') && row[cursorOf[each]] < upTo.seq)
  // A conversation is held before its rows. Whether it will be needed can only be guessed; a wrong guess is rare.
  const seen = conversation.type === 'group' ? await findRow(db, conversationKey, uid) : undefined
  const isHeld = seen !== undefined && (await lastInGroup(db, conversation, seen, behind(seen))).length > 0
  if (isHeld) await holdConversation(db, conversationKey)
  const row = await holdRow(db, conversationKey, uid)
  const kinds = row ? behind(row) : []
  if (!row || kinds.length === 0) return { steps: {}, wasLast: [] }
  const wasLast = await lastInGroup(db, conversation, row, kinds)
  if (wasLast.length > 0 && !isHeld) await holdConversation(db, conversationKey)
  const isRead = kinds.includes('read')
  await moveCursors(db, {
    conversationKey,
    uid,
    delivered: kinds.includes('delivered') ? upTo.seq : row.delivered_seq,
    read: isRead ? upTo.seq : row.read_seq,
    counted: isRead ? upTo.counted : row.read_counted,
  })
  await putMarks(db, conversationKey, uid, kinds, upTo.seq, now)
  const steps = Object.fromEntries(kinds.map((each) => [each, { from: row[cursorOf[each]], to: upTo.seq }]))
  return { steps, wasLast }
}

interface Cursors {
  conversationKey: ConversationKey
  uid: string
  delivered: number
  read: number
  counted: number
}

const moveCursors = prepared<Cursors, MemberRow>((db, { conversationKey, uid, delivered, read, counted }) =>
  db
    .update('conversation_rows')
    .set({ delivered_seq: delivered, read_seq: read, read_counted: counted })
    .where('conversation_key', '=', conversationKey)
    .where('uid', '=', uid)
    .returningAll(),
)

const lockRow = prepared<{ conversationKey: ConversationKey; uid: string }, MemberRow>((db, { conversationKey, uid }) =>
  db
    .update('conversation_rows')
    .set({ uid })
    .where('conversation_key', '=', conversationKey)
    .where('uid', '=', uid)
    .returningAll(),
)

async function holdRow(db: TenantDb, conversationKey: ConversationKey, uid: string): Promise<MemberRow | undefined> {
  const [row] = await lockRow(db, { conversationKey, uid })
  return row
}

const addMarks = preparedRows<Omit<ReceiptMarkRow, 'app_id'>, never>((db, rows) =>
  db
    .insert('receipt_marks', rows)
    .onConflict((conflict) => conflict.columns(['app_id', 'conversation_key', 'uid', 'kind', 'seq']).doNothing()),
)

async function putMarks(
  db: TenantDb,
  conversationKey: ConversationKey,
  uid: string,
  kinds: readonly ReceiptKind[],
  seq: number,
  at: number,
): Promise<void> {
  await addMarks(
    db,
    kinds.map((kind) => ({ conversation_key: conversationKey, uid, kind, seq, at })),
  )
}

/** For which kinds this user is the furthest behind in a group; only then can everybody have come further. */
async function lastInGroup(
  db: TenantDb,
  { type, conversation_key: conversationKey }: ConversationRow,
  row: OwnCursors,
  kinds: readonly ReceiptKind[],
): Promise<ReceiptKind[]> {
  if (type === 'user') return []
  const last: ReceiptKind[] = []
  for (const kind of kinds) {
    const [first] = await furthestBehind(db, conversationKey, kind)
    if (row[cursorOf[kind]] === first?.seq) last.push(kind)
  }
  return last
}

/**
 * The same, once none of them is on the move: whoever is just reading is waited for, because they were not the last and will
 * not look themself.
 */
async function furthestAtRest(
  db: TenantDb,
  conversationKey: ConversationKey,
  kind: ReceiptKind,
): Promise<{ seq: number }[]> {
  let last = await furthestBehind(db, conversationKey, kind)
  for (;;) {
    const rows = await db.sql<{ seq: number }>`SELECT conversation_rows.${sql.ref(cursorOf[kind])} AS seq
      FROM conversation_rows WHERE conversation_rows.app_id = ${db.appId}
      AND conversation_rows.conversation_key = ${conversationKey}
      ORDER BY conversation_rows.${sql.ref(cursorOf[kind])} LIMIT 2 ${db.holdRows}`.execute()
    const held = rows.toSorted((a, b) => a.seq - b.seq)
    if (held.length === last.length && held.every(({ seq }, n) => seq === last[n]?.seq)) return held
    last = held
  }
}

/** The cursors of the two who are furthest behind. */
async function furthestBehind(
  db: TenantDb,
  conversationKey: ConversationKey,
  kind: ReceiptKind,
): Promise<{ seq: number }[]> {
  return db
    .select('conversation_rows')
    .select(`conversation_rows.${cursorOf[kind]} as seq`)
    .where('conversation_rows.conversation_key', '=', conversationKey)
    .orderBy(`conversation_rows.${cursorOf[kind]}`)
    .limit(2)
    .execute()
}

/** Leaves a mark for everybody in a group if all have come further; answers how far. The conversation is held. */
export async function settleEverybody(
  { db, now }: Doing,
  { type, conversation_key: conversationKey }: ConversationRow,
  kind: ReceiptKind,
): Promise<CursorStep | undefined> {
  if (type === 'user') return undefined
  const [first, second] = await furthestAtRest(db, conversationKey, kind)
  // Alone in a group, nobody else has come anywhere.
  if (!first || !second || first.seq === 0) return undefined
  const { seq } = first
  const known = await marksOf(db, conversationKey, everybody, kind)
    .select(sql<number>`max(receipt_marks.seq)`.as('seq'))
    .executeTakeFirst()
  const from = known?.seq ?? 0
  if (from >= seq) return undefined
  await putMarks(db, conversationKey, everybody, [kind], seq, now)
  return { from, to: seq }
}

function marksOf(db: TenantDb, conversationKey: ConversationKey, uid: string, kind: ReceiptKind) {
  return db
    .select('receipt_marks')
    .where('receipt_marks.conversation_key', '=', conversationKey)
    .where('receipt_marks.uid', '=', uid)
    .where('receipt_marks.kind', '=', kind)
}

/** Takes the read cursor back to a message: what follows it is unread again. */
export async function retreat(
  db: TenantDb,
  conversation: ConversationRow,
  uid: string,
  downTo: Pick<MessageRow, 'seq' | 'counted'>,
): Promise<boolean> {
  const row = await holdRow(db, conversation.conversation_key, uid)
  if (!row || row.read_seq <= downTo.seq) return false
  await db
    .update('conversation_rows')
    .set({ read_seq: downTo.seq, read_counted: downTo.counted })
    .where('conversation_key', '=', conversation.conversation_key)
    .where('uid', '=', uid)
    .execute()
  const whose = conversation.type === 'group' ? [uid, everybody] : [uid]
  for (const each of whose) await cutMarks(db, conversation.conversation_key, each, downTo.seq)
  return true
}

/** Drops the marks after a message; that it was read, and when, stays, and that all of it was received. */
async function cutMarks(db: TenantDb, conversationKey: ConversationKey, uid: string, seq: number): Promise<void> {
  const first = await marksOf(db, conversationKey, uid, 'read')
    .select(['receipt_marks.seq', 'receipt_marks.at'])
    .where('receipt_marks.seq', '>=', seq)
    .orderBy('receipt_marks.seq')
    .limit(1)
    .executeTakeFirst()
  if (!first) return
  // Whoever speaks leaves no other mark than of having read. Where an earlier delivery is marked, that one stays.
  await db.sql`INSERT INTO receipt_marks (app_id, conversation_key, uid, kind, seq, at)
    SELECT receipt_marks.app_id, receipt_marks.conversation_key, receipt_marks.uid, 'delivered', receipt_marks.seq,
      receipt_marks.at
    FROM receipt_marks WHERE receipt_marks.app_id = ${db.appId} AND receipt_marks.conversation_key = ${conversationKey}
    AND receipt_marks.uid = ${uid} AND receipt_marks.kind = 'read' AND receipt_marks.seq > ${seq}
    AND NOT EXISTS (SELECT 1 FROM receipt_marks AS earlier WHERE earlier.app_id = receipt_marks.app_id
      AND earlier.conversation_key = receipt_marks.conversation_key AND earlier.uid = receipt_marks.uid
      AND earlier.kind = 'delivered' AND earlier.seq >= receipt_marks.seq AND earlier.at <= receipt_marks.at)
    ON CONFLICT (app_id, conversation_key, uid, kind, seq) DO NOTHING`.execute()
  await db
    .delete('receipt_marks')
    .where('conversation_key', '=', conversationKey)
    .where('uid', '=', uid)
    .where('kind', '=', 'read')
    .where('seq', '>', seq)
    .execute()
  if (first.seq > seq && seq > 0) await putMarks(db, conversationKey, uid, ['read'], seq, first.at)
}
