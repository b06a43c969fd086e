import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../storage/tables.ts'
import { systemUid } from '../users/index.ts'
import { type ConversationKey, conversationIdOf, type Place, placeOfGroup, placeOfUsers, placesNamed } from './place.ts'
import type { ConversationRow, MessageRow } from './tables.ts'

/**
 * Takes apart what several conversations had stored under one id. Each message belongs to the conversation that its own
 * columns name. What is gone for everyone keeps its numbers, by which work under way goes; what follows is numbered anew
 * in each conversation, without gaps, and cursors, counts and marks are moved to the new numbers of what they stood at.
 */

/** What was stored under an id on the wire. Type and users are those of whoever came first. */
export interface Stored {
  conversationId: string
  row: Omit<ConversationRow, 'conversation_key'>
}

/** Where each message goes; made for the time of a migration. */
const splits = sql.table('conversation_splits')

export async function makeSplits(database: Kysely<Tables>): Promise<void> {
  await sql`CREATE TABLE ${splits} (app_id text NOT NULL, message_id bigint PRIMARY KEY, conversation_key text NOT NULL,
    old_seq bigint NOT NULL, seq bigint NOT NULL, counted bigint NOT NULL)`.execute(database)
  await sql`CREATE INDEX conversation_splits_by_seq ON ${splits} (app_id, conversation_key, old_seq)`.execute(database)
}

export async function dropSplits(database: Kysely<Tables>): Promise<void> {
  await sql`DROP TABLE ${splits}`.execute(database)
}

/** A conversation that is found in what was stored, as far as its messages have been counted. */
interface Part {
  place: Place
  seq: number
  counted: number
  shownSeq: number
  activeAt: number | undefined
  firstAt: number | undefined
  lastAt: number | undefined
}

interface Whole extends Stored {
  database: Kysely<Tables>
  own: Place
  parts: Map<ConversationKey, Part>
}

export async function splitConversation(database: Kysely<Tables>, stored: Stored): Promise<void> {
  const { type, first, second } = stored.row
  const own = type === 'group' ? placeOfGroup(first) : placeOfUsers(first, second)
  const whole: Whole = { ...stored, database, own, parts: new Map() }
  partOf(whole, own)
  await sortMessages(whole)
  await moveRows(whole)
  for (const { place } of whole.parts.values()) await moveMarks(whole, place)
  await moveMessages(whole)
  await removeEarlier(whole)
  for (const part of whole.parts.values()) await addConversation(whole, part)
}

function partOf({ row, parts }: Whole, place: Place): Part {
  const known = parts.get(place.conversationKey)
  if (known) return known
  const times = { activeAt: undefined, firstAt: undefined, lastAt: undefined }
  const part = { place, seq: row.purged_seq, counted: row.purged_counted, shownSeq: 0, ...times }
  parts.set(place.conversationKey, part)
  return part
}

type Told = 'id' | 'seq' | 'counted' | 'counts' | 'sender' | 'receiver' | 'receiver_type' | 'category' | 'sent_at'

/** What is looked at of a message; its content only where the app did something. */
type EarlierMessage = Pick<MessageRow, Told> & { data: string | null }

const messagesAtOnce = 500

/** Notes for each message which conversation it belongs to, and its number there. */
async function sortMessages(whole: Whole): Promise<void> {
  const { database, conversationId, row } = whole
  for (let after = -1; ; ) {
    const { rows } = await sql<EarlierMessage>`
      SELECT id, seq, counted, counts, sender, receiver, receiver_type, category, sent_at,
        CASE WHEN category = 'action' AND sender = ${systemUid} THEN data END AS data
      FROM messages WHERE app_id = ${row.app_id} AND conversation_key = ${conversationId} AND seq > ${after}
      ORDER BY seq LIMIT ${messagesAtOnce}`.execute(database)
    const last = rows.at(-1)
    if (!last) return
    const placed = new Map<number, ConversationKey>()
    const sorted = []
    for (const message of rows) {
      const part = partOf(whole, await placeOfMessage(whole, message, placed))
      placed.set(message.id, part.place.conversationKey)
      const { seq, counted } = numberIn(whole, part, message)
      const { conversationKey } = part.place
      sorted.push(sql`(${row.app_id}, ${message.id}, ${conversationKey}, ${message.seq}, ${seq}, ${counted})`)
    }
    await sql`INSERT INTO ${splits} (app_id, message_id, conversation_key, old_seq, seq, counted)
      VALUES ${sql.join(sorted)}`.execute(database)
    after = last.seq
  }
}

function numberIn({ row }: Whole, part: Part, message: EarlierMessage): { seq: number; counted: number } {
  if (message.seq <= row.purged_seq) return message
  part.seq += 1
  part.counted += message.counts
  // What counts is also shown; of what does not count it is known only of the last.
  if (message.seq === row.shown_seq || (message.counts === 1 && message.seq < row.shown_seq)) {
    part.shownSeq = part.seq
    part.activeAt = message.sent_at
  }
  part.firstAt ??= message.sent_at
  part.lastAt = message.sent_at
  return part
}

type Placed = Map<number, ConversationKey>

async function placeOfMessage(whole: Whole, message: EarlierMessage, placed: Placed): Promise<Place> {
  const { conversationId, own, parts } = whole
  const named = namedByColumns(message) ?? (await namedByAction(whole, message, placed))
  if (named && conversationIdOf(named.conversationKey) === conversationId) return named
  // It names nobody: nothing is left of it but its number, or of what it tells.
  const alike = [own, ...[...parts.values()].map(({ place }) => place)]
  return alike.find(({ type }) => type === message.receiver_type) ?? own
}

function namedByColumns({ sender, receiver, receiver_type, category }: EarlierMessage): Place | undefined {
  if (receiver === '') return undefined
  if (receiver_type === 'group') return placeOfGroup(receiver)
  return sender === systemUid && category === 'action' ? undefined : placeOfUsers(sender, receiver)
}

/**
 * What the app did with a message between two users happened where the message is. Where nothing is left of that, it was
 * in a conversation of the receiver.
 */
async function namedByAction(
  { database, conversationId, parts }: Whole,
  { receiver, data }: EarlierMessage,
  placed: Placed,
): Promise<Place | undefined> {
  const on = JSON.parse(data ?? '{}').entities?.on?.entity ?? {}
  if (typeof on.sender === 'string' && typeof on.receiver === 'string') return placeOfUsers(on.sender, on.receiver)
  const { rows } = await sql<{ conversation_key: ConversationKey }>`
    SELECT conversation_key FROM ${splits} WHERE message_id = ${Number(on.id ?? 0)}`.execute(database)
  const key = placed.get(Number(on.id)) ?? rows[0]?.conversation_key
  const ofReceiver = placesNamed(conversationId).filter(({ first, second }) => [first, second].includes(receiver))
  const known = ofReceiver.filter(({ conversationKey }) => parts.has(conversationKey))
  return known.find(({ conversationKey }) => conversationKey === key) ?? known[0] ?? ofReceiver[0]
}

interface EarlierSide {
  uid: string
  /** Whether they are in the group of the id; unknown, if there is none. */
  is_member: 0 | 1 | null
}

const sidesAtOnce = 500

/** Each user keeps their side of every part that is theirs. */
async function moveRows(whole: Whole): Promise<void> {
  const { database, conversationId, row } = whole
  const group = placesNamed(conversationId).find(({ type }) => type === 'group')
  for (let after = ''; ; ) {
    // Only members may see what a group says, so here it is asked who is one.
    const { rows } = await sql<EarlierSide>`
      SELECT conversation_rows.uid, (SELECT CASE WHEN EXISTS (SELECT 1 FROM group_members
          WHERE group_members.app_id = groups.app_id AND group_members.group_id = groups.id
          AND group_members.uid = conversation_rows.uid) THEN 1 ELSE 0 END
        FROM groups WHERE groups.app_id = ${row.app_id} AND groups.guid = ${group?.first ?? ''}) AS is_member
      FROM conversation_rows WHERE conversation_rows.app_id = ${row.app_id}
      AND conversation_rows.conversation_key = ${conversationId} AND conversation_rows.uid > ${after}
      ORDER BY conversation_rows.uid LIMIT ${sidesAtOnce}`.execute(database)
    const last = rows.at(-1)
    if (!last) return
    const moved = rows.flatMap((side) => placesOfSide(whole, side).map((place) => ({ place, uid: side.uid })))
    for (const [key, sides] of Map.groupBy(moved, ({ place: { conversationKey } }) => conversationKey)) {
      const uids = sides.map(({ uid }) => uid)
      await copyRows(whole, key, uids)
    }
    after = last.uid
  }
}

/** The conversations that a user has a side of. */
function placesOfSide(whole: Whole, { uid, is_member }: EarlierSide): Place[] {
  const { conversationId, parts } = whole
  const readings = placesNamed(conversationId)
  const group = readings.find(({ type }) => type === 'group')
  const ofUser = readings.filter(({ type, first, second }) => type === 'user' && [first, second].includes(uid))
  const pairs = ofUser.filter(({ conversationKey }) => parts.has(conversationKey))
  // What is left of a group that is gone waits to be cleared away.
  const isLeftOver = is_member === null && pairs.length === 0 && group && parts.has(group.conversationKey)
  const found = [...pairs, ...(group && (is_member === 1 || isLeftOver) ? [group] : [])]
  // Whoever is in none of these has opened a conversation in which nothing was said.
  const all = found.length > 0 ? found : ofUser.slice(0, 1)
  for (const place of all) partOf(whole, place)
  return all
}

/** What stood at a number of the whole stands at the last number of the part that is not beyond it. */
function inPart({ row }: Whole, key: ConversationKey, seq: string, value: 'seq' | 'counted', otherwise: string) {
  const { app_id, purged_seq, purged_counted } = row
  const before = value === 'seq' ? purged_seq : purged_counted
  return sql<number>`CASE WHEN ${sql.ref(seq)} <= ${purged_seq} THEN ${sql.ref(otherwise)} ELSE coalesce((
    SELECT ${sql.ref(`split.${value}`)} FROM ${splits} AS split WHERE split.app_id = ${app_id}
    AND split.conversation_key = ${key} AND split.old_seq > ${purged_seq} AND split.old_seq <= ${sql.ref(seq)}
    ORDER BY split.old_seq DESC LIMIT 1), ${before}) END`
}

async function copyRows(whole: Whole, key: ConversationKey, uids: string[]): Promise<void> {
  const { database, conversationId, row } = whole
  const column = (name: string) => `conversation_rows.${name}`
  const moved = (name: string) => inPart(whole, key, column(name), 'seq', column(name))
  await sql`INSERT INTO conversation_rows (app_id, uid, conversation_key, delivered_seq, read_seq, read_counted,
      cleared_seq, kept, tags, pinned_at, created_at)
    SELECT app_id, uid, CAST(${key} AS text), ${moved('delivered_seq')}, ${moved('read_seq')},
      ${inPart(whole, key, column('read_seq'), 'counted', column('read_counted'))}, ${moved('cleared_seq')}, kept, tags, pinned_at,
      created_at
    FROM conversation_rows WHERE app_id = ${row.app_id} AND conversation_key = ${conversationId}
    AND uid IN (${sql.join(uids)})`.execute(database)
}

/** When people received and read what is in a part. */
async function moveMarks(whole: Whole, { type, conversationKey: key, first, second }: Place): Promise<void> {
  const { database, conversationId, row, parts } = whole
  const inPairs = [...parts.values()].flatMap(({ place }) => (place.type === 'user' ? [place.first, place.second] : []))
  const theirs =
    type === 'user'
      ? sql`uid IN (${first}, ${second})`
      : sql`(uid NOT IN (${sql.join(['/', ...inPairs])}) OR uid IN (SELECT conversation_rows.uid FROM conversation_rows
          WHERE conversation_rows.app_id = ${row.app_id} AND conversation_rows.conversation_key = ${key}))`
  const seq = inPart(whole, key, 'receipt_marks.seq', 'seq', 'receipt_marks.seq')
  // Of marks that have come together the first tells when.
  await sql`INSERT INTO receipt_marks (app_id, conversation_key, uid, kind, seq, at)
    SELECT CAST(${row.app_id} AS text), CAST(${key} AS text), uid, kind, seq, min(at) FROM (
      SELECT uid, kind, ${seq} AS seq, at FROM receipt_marks
      WHERE receipt_marks.app_id = ${row.app_id} AND conversation_key = ${conversationId} AND ${theirs}) AS moved
    WHERE seq > 0 GROUP BY uid, kind, seq`.execute(database)
}

async function moveMessages({ database, conversationId, row }: Whole): Promise<void> {
  const of = (column: string, id: string) =>
    sql`(SELECT ${sql.ref(`split.${column}`)} FROM ${splits} AS split WHERE split.message_id = ${sql.ref(id)})`
  const here = (table: string) =>
    sql`${sql.ref(`${table}.app_id`)} = ${row.app_id} AND ${sql.ref(`${table}.conversation_key`)} = ${conversationId}`
  await sql`UPDATE message_mentions SET conversation_key = ${of('conversation_key', 'message_mentions.message_id')},
    seq = ${of('seq', 'message_mentions.message_id')}
    WHERE ${here('message_mentions')} AND EXISTS ${of('message_id', 'message_mentions.message_id')}`.execute(database)
  await sql`UPDATE messages SET conversation_key = ${of('conversation_key', 'messages.id')},
    seq = ${of('seq', 'messages.id')}, counted = ${of('counted', 'messages.id')} WHERE ${here('messages')}`.execute(
    database,
  )
}

async function removeEarlier({ database, conversationId, row }: Whole): Promise<void> {
  // Mentions that are left are of messages which are gone.
  for (const name of ['message_mentions', 'receipt_marks', 'conversation_rows', 'conversations'] as const) {
    await sql`DELETE FROM ${sql.table(name)} WHERE app_id = ${row.app_id}
      AND conversation_key = ${conversationId}`.execute(database)
  }
}

async function addConversation({ database, row, own }: Whole, part: Part): Promise<void> {
  const { type, conversationKey: conversation_key, first, second } = part.place
  const begunAt = conversation_key === own.conversationKey ? row.created_at : (part.firstAt ?? row.created_at)
  await database
    .insertInto('conversations')
    .values({
      ...row,
      conversation_key,
      type,
      first,
      second,
      last_seq: part.seq,
      last_counted: part.counted,
      shown_seq: part.shownSeq,
      active_at: part.activeAt ?? begunAt,
      last_at: part.lastAt ?? begunAt,
      created_at: begunAt,
    })
    .execute()
}
