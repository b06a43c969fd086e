import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { countMatching, firstPlaces, matches, placesMatching, type Search } from '../../storage/search.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { findConversation, findRow, hiddenUpTo, notErased, visibleTo } from '../timeline/index.ts'
import { beyondCursors, type Condition, type Cursor, type Named } from './filters.ts'

/** Where messages are looked for. */
export type Scope =
  | { kind: 'app' }
  | { kind: 'conversation'; conversationId: string; clearedSeq: number }
  | { kind: 'viewer'; uid: string }
  | { kind: 'thread'; parentId: number }

export type Affix = 'append' | 'prepend'

/** What a list asks for, in one form for all the ways in which it can be answered. */
export interface Wanted {
  conditions: Condition[]
  search: Search | undefined
  /** Which ids other tables tell; the conditions say so, too. */
  named?: Named[]
  /** Whose messages are asked for; the conditions say so, too. */
  senders?: string[]
  /** Only what comes after these cursors of a user. */
  after?: { uid: string; cursors: Cursor[] }
  /** Only what lies past this message, in the direction of reading. */
  past?: number | undefined
}

/** What is asked of every message on any way, and how many are to be found in which direction. */
interface Quest {
  conditions: Condition[]
  past: number | undefined
  affix: Affix
  limit: number
}

/**
 * A way through messages in an order that an index has. Within a conversation numbers have the order of ids, and only one
 * index has it: with ids, a planner may well walk through the whole app to meet the messages of one conversation.
 */
interface Way {
  conditions: Condition[]
  order: 'id' | 'seq'
  /** What is wanted of the messages; their ids, if nothing is said. */
  found?: 'id' | 'seq'
}

/** The ids of the first messages of a scope, from the oldest on or from the newest back. */
export async function findIds(
  db: TenantDb,
  scope: Scope,
  wanted: Wanted,
  affix: Affix,
  limit: number,
): Promise<number[]> {
  const { conditions, search, named = [], past, after } = wanted
  const quest = { conditions, past, affix, limit }
  if (scope.kind === 'viewer') {
    const cursors = after?.cursors ?? []
    const walk = (each: Condition[]) => walkConversations(db, scope.uid, cursors, within(quest, each))
    const visible = within(quest, [visibleTo(db, scope.uid), ...beyondCursors(db, scope.uid, cursors)])
    return find(db, wanted, { worthGathering: gatheredOfViewer, walk }, visible)
  }
  const ways = await waysThrough(db, scope, wanted, quest)
  const walk = (each: Condition[]) => walkAll(db, ways, within(quest, each))
  const isSimple = !search && named.length === 0
  const worthGathering = isSimple ? 0 : gatheredMax(await sizeOf(db, scope), limit)
  return find(db, wanted, { worthGathering, walk }, within(quest, ways[0]?.conditions ?? []))
}

/** From what is found elsewhere, if that is little; else on a walk. */
async function find(db: TenantDb, { search, named: [named] = [] }: Wanted, ways: Ways, quest: Quest) {
  if (search) return searched(db, search, ways, quest)
  return named && (await hasFew(db, named.ids, ways.worthGathering)) ? gather(db, named.ids, quest) : ways.walk([])
}

function within(quest: Quest, more: Condition[]): Quest {
  return { ...quest, conditions: [...more, ...quest.conditions] }
}

function beyond({ past, affix }: Pick<Quest, 'past' | 'affix'>): Condition[] {
  if (past === undefined) return []
  return [affix === 'append' ? sql`messages.id > ${past}` : sql`messages.id < ${past}`]
}

async function waysThrough(
  db: TenantDb,
  scope: Exclude<Scope, { kind: 'viewer' }>,
  wanted: Wanted,
  quest: Quest,
): Promise<Way[]> {
  const { search, named = [], senders = [] } = wanted
  const way = await wayThrough(db, scope, wanted, quest)
  if (senders.length < 2 || search || named.length > 0) return [way]
  // Of several senders, each has an order of his own to follow.
  return senders.map((uid) => ({ ...way, conditions: [...way.conditions, sql`messages.sender = ${uid}`] }))
}

async function wayThrough(
  db: TenantDb,
  scope: Exclude<Scope, { kind: 'viewer' }>,
  { after }: Wanted,
  quest: Quest,
): Promise<Way> {
  switch (scope.kind) {
    case 'app':
      return { conditions: [notErased(db), ...beyond(quest)], order: 'id' }
    case 'thread': {
      const cursors = after ? beyondCursors(db, after.uid, after.cursors) : []
      return { conditions: [sql`messages.parent_id = ${scope.parentId}`, ...cursors, ...beyond(quest)], order: 'id' }
    }
    case 'conversation': {
      const { above, below } = await numbersIn(db, scope, after, quest)
      return wayBetween(scope.conversationId, above, below)
    }
  }
}

/** Through the messages of a conversation with numbers between these. */
function wayBetween(conversationId: string, above: number, below: number | undefined): Way {
  return {
    conditions: [
      sql`messages.conversation_id = ${conversationId}`,
      sql`messages.seq > ${above}`,
      ...(below === undefined ? [] : [sql<SqlBool>`messages.seq < ${below}`]),
    ],
    order: 'seq',
  }
}

/** Between which numbers of a conversation the messages are that are wanted. */
async function numbersIn(
  db: TenantDb,
  { conversationId, clearedSeq }: Extract<Scope, { kind: 'conversation' }>,
  after: Wanted['after'],
  { past, affix }: Quest,
): Promise<{ above: number; below?: number }> {
  const row = after && after.cursors.length > 0 ? await findRow(db, conversationId, after.uid) : undefined
  const cursors = after?.cursors.map((cursor) => row?.[cursor] ?? Number.MAX_SAFE_INTEGER) ?? []
  const above = Math.max(clearedSeq, ...cursors)
  if (past === undefined) return { above }
  const { number, isThere } = await numberOf(db, conversationId, past)
  if (affix === 'append') return { above: Math.max(above, number) }
  return { above, below: isThere ? number : number + 1 }
}

/** The number of a message in a conversation; of one that is elsewhere, that of the last before it. */
async function numberOf(db: TenantDb, conversationId: string, id: number) {
  const messages = db.select('messages').select('messages.seq').where('messages.conversation_id', '=', conversationId)
  const same = await messages.where('messages.id', '=', id).executeTakeFirst()
  if (same) return { number: same.seq, isThere: true }
  const before = messages.where('messages.id', '<', id).orderBy('messages.id', 'desc').limit(1)
  return { number: (await before.executeTakeFirst())?.seq ?? 0, isThere: false }
}

// Nobody counts all messages of an app for this; it only has to be large.
const appSize = 1_000_000

/** About how many messages there are to walk through. */
async function sizeOf(db: TenantDb, scope: Scope): Promise<number> {
  if (scope.kind === 'thread') return 0
  return scope.kind === 'conversation' ? ((await findConversation(db, scope.conversationId))?.last_seq ?? 0) : appSize
}

/** Up to so many hits are fetched and sorted; where more match, walking in order is soon done. */
function gatheredMax(size: number, limit: number): number {
  return Math.floor(Math.sqrt(size * limit))
}

// To walk through all conversations of a user costs more.
const gatheredOfViewer = 20_000

// Of so many hits for each message that is wanted, the filters mostly leave enough.
const hitsPerWanted = 20

interface Ways {
  worthGathering: number
  /** Through the scope in its order, with these conditions asked of every message. */
  walk(each: Condition[]): Promise<number[]>
}

/**
 * Where the index gives hits in their order, the first few of a common word fill the page. Else the hits are gathered if
 * they are few, and looked for on the way through the messages if they are many.
 */
async function searched(db: TenantDb, search: Search, ways: Ways, quest: Quest): Promise<number[]> {
  const { worthGathering, walk } = ways
  const { past, affix, limit } = quest
  const near = limit * hitsPerWanted
  const upwards = affix === 'append'
  const nearest = firstPlaces(db, search, { limit: near, upwards, past: past === undefined ? past : String(past) })
  const found = nearest ? await gather(db, nearest, quest) : []
  if (found.length === limit) return found
  const hits = await countMatching(db, search, worthGathering + 1)
  if (nearest && hits <= near) return found
  return hits <= worthGathering ? gather(db, placesMatching(db, search), quest) : walk([eachMatches(db, search)])
}

async function hasFew(db: TenantDb, ids: RawBuilder<number>, most: number): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM (SELECT 1 AS one FROM ${ids} AS named
    LIMIT ${most + 1}) AS counted`.execute(db.connection.query)
  return (rows[0]?.n ?? 0) <= most
}

/** The words asked of one message after the other. */
export function eachMatches(db: TenantDb, search: Search): Condition {
  return matches(db, search, sql`CAST(messages.id AS text)`) as Condition
}

async function idsOf(db: TenantDb, text: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await text.execute(db.connection.query)
  return (rows as { id: number }[]).map(({ id }) => id)
}

const direction = (affix: Affix) => (affix === 'append' ? sql`ASC` : sql`DESC`)

function walking(db: TenantDb, way: Way, { conditions, affix, limit }: Quest): RawBuilder<unknown> {
  const all = [sql`messages.app_id = ${db.appId}`, sql`messages.purged = 0`, ...way.conditions, ...conditions]
  const order = sql.ref(`messages.${way.order}`)
  return sql`SELECT ${sql.ref(`messages.${way.found ?? 'id'}`)} FROM messages WHERE ${sql.join(all, sql` AND `)}
    ORDER BY ${order} ${direction(affix)} LIMIT ${limit}`
}

// So many ways are asked in one statement.
const waysAtOnce = 40

const inOrder = (affix: Affix) => (a: number, b: number) => (affix === 'append' ? a - b : b - a)

/** The first that are found along several ways. */
async function walkAll(db: TenantDb, ways: Way[], quest: Quest): Promise<number[]> {
  const [only, ...others] = ways
  if (only && others.length === 0) return idsOf(db, walking(db, only, quest))
  const found: number[] = []
  for (let first = 0; first < ways.length; first += waysAtOnce) {
    const parts = ways
      .slice(first, first + waysAtOnce)
      .map((way) => sql`SELECT * FROM (${walking(db, way, quest)}) AS part`)
    found.push(...(await idsOf(db, sql.join(parts, sql` UNION ALL `))))
  }
  return found.toSorted(inOrder(quest.affix)).slice(0, quest.limit)
}

function gather(db: TenantDb, places: RawBuilder<unknown>, quest: Quest): Promise<number[]> {
  const all = [sql`messages.purged = 0`, ...beyond(quest), ...quest.conditions]
  const match = sql`messages.app_id = ${db.appId} AND messages.id = hit.id`
  return idsOf(
    db,
    sql`WITH hit (id) AS MATERIALIZED ${places}
      SELECT messages.id ${db.connection.flavour.lookUpEach('hit', 'messages', match)}
      AND ${sql.join(all, sql` AND `)}
      ORDER BY messages.id ${direction(quest.affix)} LIMIT ${quest.limit}`,
  )
}

interface Beginning {
  conversation_id: string
  /** Up to this number nothing is wanted of it. */
  floor_seq: number
  /** Its first message. */
  first_seq: number
  first_id: number
}

/** Through all conversations of a user. The first messages of all can only be in the conversations that begin first. */
async function walkConversations(db: TenantDb, uid: string, cursors: Cursor[], quest: Quest): Promise<number[]> {
  const { affix, limit } = quest
  const begun = await beginnings(db, uid, cursors, quest)
  const ways = begun
    .toSorted((a, b) => inOrder(affix)(a.first_id, b.first_id))
    .slice(0, limit)
    .map(({ conversation_id, first_seq, floor_seq }) =>
      affix === 'append'
        ? wayBetween(conversation_id, first_seq - 1, undefined)
        : wayBetween(conversation_id, floor_seq, first_seq + 1),
    )
  return walkAll(db, ways, quest)
}

/** The first of what is wanted from each conversation of a user that has any of it. */
async function beginnings(db: TenantDb, uid: string, cursors: Cursor[], quest: Quest): Promise<Beginning[]> {
  const floor = cursors.map((cursor) => sql.ref<number>(`conversation_rows.${cursor}`)).reduce(larger, hiddenUpTo)
  const way: Way = { conditions: inEach(db, floor, quest), order: 'seq', found: 'seq' }
  const match = sql`messages.app_id = ${db.appId} AND messages.conversation_id = begun.conversation_id
    AND messages.seq = begun.first_seq`
  const { rows } = await sql<Beginning>`
    WITH begun AS MATERIALIZED (
      SELECT conversation_rows.conversation_id, ${floor} AS floor_seq,
        (${walking(db, way, { ...quest, limit: 1 })}) AS first_seq
      FROM conversation_rows
      JOIN conversations ON conversations.app_id = conversation_rows.app_id
        AND conversations.conversation_id = conversation_rows.conversation_id
      WHERE conversation_rows.app_id = ${db.appId} AND conversation_rows.uid = ${uid}
        AND conversations.last_seq > ${hiddenUpTo})
    SELECT begun.*, messages.id AS first_id ${db.connection.flavour.lookUpEach('begun', 'messages', match)}`.execute(
    db.connection.query,
  )
  return rows
}

/** The same conditions as `numbersIn` finds for one conversation, for all those that a statement goes through. */
function inEach(db: TenantDb, floor: RawBuilder<number>, { past, affix }: Quest): Condition[] {
  const conversation = sql<SqlBool>`messages.conversation_id = conversations.conversation_id`
  const lastUpTo = (id: number, number: RawBuilder<number>, none: RawBuilder<number>) =>
    sql<number>`coalesce((SELECT ${number} FROM messages WHERE messages.app_id = ${db.appId} AND ${conversation}
      AND messages.id <= ${id} ORDER BY messages.id DESC LIMIT 1), ${none})`
  const seq = sql.ref<number>('messages.seq')
  if (past === undefined) return [conversation, sql`messages.seq > ${floor}`]
  // Of two lower bounds SQLite would use one, however far back it lies.
  return affix === 'append'
    ? [conversation, sql`messages.seq > ${lastUpTo(past, larger(seq, floor), floor)}`]
    : [conversation, sql`messages.seq > ${floor}`, sql`messages.seq <= ${lastUpTo(past - 1, seq, sql`0`)}`]
}

function larger(a: RawBuilder<number>, b: RawBuilder<number>): RawBuilder<number> {
  return sql`CASE WHEN ${a} > ${b} THEN ${a} ELSE ${b} END`
}
