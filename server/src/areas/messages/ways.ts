import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { lastOfIndexUpTo, lookUpEach, plannedForValues, textAsFound } from '../../storage/plans.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import {
  type ConversationKey,
  findConversation,
  findRow,
  hiddenUpTo,
  leaveIfManySides,
  lookedAtMax,
  notErased,
} from '../timeline/index.ts'
import { floorAfter, larger, mostIn } from './amount.ts'
import { beyondCursors, type Condition, type SideCursor } from './filters.ts'

/** One conversation, from after a number on. */
export interface InConversation {
  kind: 'conversation'
  conversationKey: ConversationKey
  clearedSeq: number
}

/** Where messages are looked for. */
export type WayScope =
  | { kind: 'app' }
  | InConversation
  | { kind: 'conversations'; among: InConversation[] }
  | { kind: 'viewer'; uid: string }
  | { kind: 'thread'; parentId: number }

/** The conversations that a scope names; nothing, if it names none. */
export function keysIn(scope: WayScope): ConversationKey[] | undefined {
  if (scope.kind === 'conversation') return [scope.conversationKey]
  return scope.kind === 'conversations' ? scope.among.map(({ conversationKey }) => conversationKey) : undefined
}

export type WayAffix = 'append' | 'prepend'

/** What is asked of every message, however it is found, and how many are to be found in which direction. */
export interface Quest {
  conditions: Condition[]
  /** Only some kinds of messages are wanted, so that many may have to be looked at before one is found. */
  isNarrowed: boolean
  /** Only what comes after these cursors of a user. */
  after: { uid: string; cursors: SideCursor[] }
  /** Only what lies past this message, in the direction of reading. */
  past: number | undefined
  affix: WayAffix
  limit: number
}

/**
 * A way through messages in an order that an index has. Within a conversation numbers have the order of ids, and no index
 * has it without the conversation: with ids, a planner may walk through the whole app to meet one conversation.
 */
interface Way {
  conditions: Condition[]
  order: 'id' | 'seq'
}

/** Ids that were found; or, where one walk finds them all, the subquery that does, so that they are loaded with it. */
export type Ids = number[] | RawBuilder<number>

/**
 * The ids of the first messages of a scope, met on a walk through it. While everybody waits it is a short walk: in a
 * conversation that is the nearest part of it, which mostly has enough of what is wanted.
 */
export async function walk(db: TenantDb, scope: WayScope, senders: string[], quest: Quest): Promise<Ids> {
  if (!db.isShared) return walkToEnd(db, scope, senders, quest)
  if (scope.kind === 'viewer') await leaveIfManySides(db, scope.uid)
  const isNarrowed = quest.isNarrowed || senders.length > sendersApart
  if (!isNarrowed || (await mostIn(db, scope, quest.after)) <= lookedAtMax) {
    return walkToEnd(db, scope, senders, quest)
  }
  const near = scope.kind === 'conversation' ? await walkNear(db, scope, senders, quest) : []
  if (near.length < quest.limit) db.leaveSharedReader()
  return near
}

async function walkToEnd(db: TenantDb, scope: WayScope, senders: string[], quest: Quest): Promise<Ids> {
  const ways: Way[] = []
  for (const ofSender of bySender(senders)) {
    const asked = { ...quest, conditions: [...ofSender, ...quest.conditions] }
    const some = scope.kind === 'viewer' ? await waysOfUser(db, scope.uid, asked) : await waysThrough(db, scope, quest)
    ways.push(...some.map((way) => ({ ...way, conditions: [...way.conditions, ...ofSender] })))
  }
  const [one, ...others] = ways
  return one && others.length === 0 ? walking(db, one, quest) : walkAll(db, ways, quest)
}

/** The same among the next messages of a conversation. */
async function walkNear(db: TenantDb, scope: InConversation, senders: string[], quest: Quest): Promise<number[]> {
  const { above, below } = await numbersIn(db, scope, quest)
  const { last_seq = 0 } = (await findConversation(db, scope.conversationKey)) ?? {}
  const end = below ?? last_seq + 1
  const way =
    quest.affix === 'append'
      ? wayBetween(scope.conversationKey, above, Math.min(end, above + lookedAtMax + 1))
      : wayBetween(scope.conversationKey, Math.max(above, end - lookedAtMax - 1), end)
  const ways = bySender(senders).map((ofSender) => ({ ...way, conditions: [...way.conditions, ...ofSender] }))
  return walkAll(db, ways, quest)
}

// So many senders are followed one by one.
const sendersApart = 10

/**
 * One sender after the other, since what each has said is in order. Of very many, not all that they ever said is fetched:
 * they are met on the way.
 */
function bySender(senders: string[]): Condition[][] {
  if (senders.length === 0) return [[]]
  if (senders.length > sendersApart) return [[sql`${textAsFound('messages.sender')} IN (${sql.join(senders)})`]]
  return senders.map((uid) => [sql`messages.sender = ${uid}`])
}

export function beyond({ past, affix }: Pick<Quest, 'past' | 'affix'>): Condition[] {
  if (past === undefined) return []
  return [affix === 'append' ? sql`messages.id > ${past}` : sql`messages.id < ${past}`]
}

type Walkable = Exclude<WayScope, { kind: 'viewer' | 'conversations' }>

function waysThrough(db: TenantDb, scope: Exclude<WayScope, { kind: 'viewer' }>, quest: Quest): Promise<Way[]> {
  const parts = scope.kind === 'conversations' ? scope.among : [scope]
  return Promise.all(parts.map((part) => wayThrough(db, part, quest)))
}

async function wayThrough(db: TenantDb, scope: Walkable, quest: Quest): Promise<Way> {
  switch (scope.kind) {
    case 'app':
      return { conditions: [notErased(db), ...beyond(quest)], order: 'id' }
    case 'thread': {
      const cursors = beyondCursors(db, quest.after.uid, quest.after.cursors)
      return { conditions: [sql`messages.parent_id = ${scope.parentId}`, ...cursors, ...beyond(quest)], order: 'id' }
    }
    case 'conversation': {
      const { above, below } = await numbersIn(db, scope, quest)
      return wayBetween(scope.conversationKey, above, below)
    }
  }
}

/** Through the messages of a conversation with numbers between these. */
function wayBetween(conversationKey: ConversationKey, above: number, below: number | undefined): Way {
  return {
    conditions: [
      sql`messages.conversation_key = ${conversationKey}`,
      sql`messages.seq > ${above}`,
      ...(below === undefined ? [] : [sql<SqlBool>`messages.seq < ${below}`]),
    ],
    order: 'seq',
  }
}

/** Between which numbers of a conversation the messages are that are wanted. */
async function numbersIn(
  db: TenantDb,
  { conversationKey, clearedSeq }: InConversation,
  { after, past, affix }: Quest,
): Promise<{ above: number; below?: number }> {
  const row = after.cursors.length > 0 ? await findRow(db, conversationKey, after.uid) : undefined
  const cursors = after.cursors.map((cursor) => row?.[cursor] ?? Number.MAX_SAFE_INTEGER)
  const above = Math.max(clearedSeq, ...cursors)
  if (past === undefined) return { above }
  const upTo = lastUpTo(db, sql`${conversationKey}`, affix === 'append' ? past : past - 1, sql.ref('messages.seq'))
  const [last] = await db.sql<{ seq: number | null }>`${plannedForValues(db)}SELECT ${upTo} AS seq`.execute()
  const number = last?.seq ?? 0
  return affix === 'append' ? { above: Math.max(above, number) } : { above, below: number + 1 }
}

/** Something of the last message of a conversation up to an id, as a subquery; NULL, if there is none. */
function lastUpTo(
  db: TenantDb,
  conversation: RawBuilder<unknown>,
  id: number,
  something: RawBuilder<number>,
): RawBuilder<number | null> {
  const key = lastOfIndexUpTo(db, ['messages.conversation_key', conversation], ['messages.id', sql`${id}`])
  return sql`(SELECT CASE WHEN messages.conversation_key = ${conversation} THEN ${something} END FROM messages
    WHERE messages.app_id = ${db.appId} AND ${key})`
}

interface Beginning {
  conversation_key: ConversationKey
  /** Up to this number nothing is wanted of it. */
  floor_seq: number
  /** Its first message. */
  first_seq: number
  first_id: number
}

/** Through all conversations of a user: the first messages of all can only be in the conversations that begin first. */
async function waysOfUser(db: TenantDb, uid: string, quest: Quest): Promise<Way[]> {
  const { affix, limit } = quest
  const begun = await beginnings(db, uid, quest)
  return begun
    .toSorted((a, b) => inOrder(affix)(a.first_id, b.first_id))
    .slice(0, limit)
    .map(({ conversation_key, first_seq, floor_seq }) =>
      affix === 'append'
        ? wayBetween(conversation_key, first_seq - 1, undefined)
        : wayBetween(conversation_key, floor_seq, first_seq + 1),
    )
}

/** The first of what is wanted from each conversation of a user that has any of it. */
async function beginnings(db: TenantDb, uid: string, quest: Quest): Promise<Beginning[]> {
  const floor = floorAfter(quest.after.cursors)
  const conditions = [...inEach(db, floor, quest), ...quest.conditions]
  const begun = lookUpEach(db, {
    few: sql`(SELECT conversation_rows.conversation_key, ${floor},
        (SELECT messages.seq FROM messages
          WHERE messages.app_id = ${db.appId} AND messages.purged = 0 AND ${sql.join(conditions, sql` AND `)}
          ORDER BY messages.seq ${direction(quest.affix)} LIMIT 1)
      FROM conversation_rows
      JOIN conversations ON conversations.app_id = conversation_rows.app_id
        AND conversations.conversation_key = conversation_rows.conversation_key
      WHERE conversation_rows.app_id = ${db.appId} AND conversation_rows.uid = ${uid}
        AND conversations.last_seq > ${hiddenUpTo})`,
    name: 'begun',
    columns: ['conversation_key', 'floor_seq', 'first_seq'],
    select: sql`begun.*, messages.id AS first_id`,
    table: 'messages',
    match: sql`messages.conversation_key = begun.conversation_key AND messages.seq = begun.first_seq`,
  })
  return db.sql<Beginning>`${plannedForValues(db)}${begun}`.execute()
}

/** The same bounds as `numbersIn` finds for one conversation, for all those that a statement goes through. */
function inEach(db: TenantDb, floor: RawBuilder<number>, { past, affix }: Quest): Condition[] {
  const conversation = sql`conversations.conversation_key`
  const here = sql<SqlBool>`messages.conversation_key = ${conversation}`
  if (past === undefined) return [here, sql`messages.seq > ${floor}`]
  const seq = sql.ref<number>('messages.seq')
  // Of two lower bounds SQLite would use one, however far back it lies.
  return affix === 'append'
    ? [here, sql`messages.seq > coalesce(${lastUpTo(db, conversation, past, larger(seq, floor))}, ${floor})`]
    : [here, sql`messages.seq > ${floor}`, sql`messages.seq <= ${lastUpTo(db, conversation, past - 1, seq)}`]
}

export const direction = (affix: WayAffix) => (affix === 'append' ? sql`ASC` : sql`DESC`)

const inOrder = (affix: WayAffix) => (a: number, b: number) => (affix === 'append' ? a - b : b - a)

function walking(db: TenantDb, way: Way, { conditions, affix, limit }: Quest): RawBuilder<number> {
  const all = [sql`messages.app_id = ${db.appId}`, sql`messages.purged = 0`, ...way.conditions, ...conditions]
  return sql`SELECT messages.id FROM messages WHERE ${sql.join(all, sql` AND `)}
    ORDER BY ${sql.ref(`messages.${way.order}`)} ${direction(affix)} LIMIT ${limit}`
}

/**
 * The first that are found along several ways. Each is asked for a few first: only where all of these are among the first
 * can more of it be.
 */
async function walkAll(db: TenantDb, ways: Way[], quest: Quest): Promise<number[]> {
  const [one, ...others] = ways
  if (!one) return []
  if (others.length === 0) return idsOf(db, walking(db, one, quest))
  const { limit } = quest
  const compare = inOrder(quest.affix)
  const few = Math.min(limit, Math.ceil((2 * limit) / ways.length) + 1)
  const begun = await walkEach(db, ways, { ...quest, limit: few })
  const last = begun.flat().toSorted(compare)[limit - 1]
  const isOpen = (ids: number[]) =>
    few < limit && ids.length === few && (last === undefined || compare(ids.at(-1) ?? 0, last) < 0)
  const open = ways.filter((_, n) => isOpen(begun[n] ?? []))
  const found = [...begun.filter((ids) => !isOpen(ids)), ...(await walkEach(db, open, quest))]
  return found.flat().toSorted(compare).slice(0, limit)
}

// So many ways are asked in one statement, and fewer if they have very many values.
const waysAtOnce = 40
const valuesAtOnce = 10_000

/** What is found along each of several ways. */
async function walkEach(db: TenantDb, ways: Way[], quest: Quest): Promise<number[][]> {
  const found: number[][] = ways.map(() => [])
  const values = ways[0] ? db.sql`${walking(db, ways[0], quest)}`.compile().parameters.length : 0
  const atOnce = Math.max(1, Math.min(waysAtOnce, Math.floor(valuesAtOnce / (values + 1))))
  for (let first = 0; first < ways.length; first += atOnce) {
    const parts = ways
      .slice(first, first + atOnce)
      .map((way, n) => sql`SELECT ${sql.lit(n)} AS way, part.id FROM (${walking(db, way, quest)}) AS part`)
    const text = sql`${plannedForValues(db)}${sql.join(parts, sql` UNION ALL `)}`
    const rows = await db.sql<{ way: number; id: number }>`${text}`.execute()
    for (const { way, id } of rows) found[first + way]?.push(id)
  }
  return found
}

export async function idsOf(db: TenantDb, text: RawBuilder<unknown>): Promise<number[]> {
  const rows = await db.sql<{ id: number }>`${plannedForValues(db)}${text}`.execute()
  return rows.map(({ id }) => id)
}
