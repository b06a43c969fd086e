import { type RawBuilder, sql } from 'kysely'
import type { Actor, Caller } from '../../kit/operation.ts'
import { countMatching, matches, placesMatching, type Search } from '../../storage/search.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { policyOf } from '../rbac/index.ts'
import { findConversation, hiddenUpTo, messagesOf, notErased, type SeenMessage, visibleTo } from '../timeline/index.ts'
import { uidsBlockedBy } from '../users/index.ts'
import { type Condition, conditionsOf, searchOf, type Viewer } from './filters.ts'
import { type MessageListQuery, messageLimits } from './schemas.ts'

/** Where messages are looked for. */
export type Scope =
  | { kind: 'app' }
  | { kind: 'conversation'; conversationId: string; clearedSeq: number }
  | { kind: 'viewer'; uid: string }
  | { kind: 'thread'; parentId: number }

type Affix = 'append' | 'prepend'

interface Cursor {
  affix: Affix
  sentAt: number
  id: string
}

export interface Stretch {
  rows: SeenMessage[]
  current: { limit: number; count: number }
  next?: Cursor
  previous?: Cursor
}

export async function viewerFor(db: TenantDb, { uid }: Actor): Promise<Viewer> {
  return { uid, blocked: await uidsBlockedBy.ask(db, uid) }
}

const clientLimitMax = 100

/** How many messages one answer may hold. */
export function limitMaxFor({ kind }: Caller): number {
  return kind === 'client' ? clientLimitMax : messageLimits.max
}

/** What a list asks for, in one form for all the ways in which it can be answered. */
interface Wanted {
  conditions: Condition[]
  search: Search | undefined
}

/** One stretch of a list, in the order of ids. Reading on neither skips nor repeats what is written meanwhile. */
export async function readStretch(
  db: TenantDb,
  scope: Scope,
  query: MessageListQuery,
  actor: Actor | undefined,
  limitMax: number,
): Promise<Stretch> {
  const viewer = actor && (await viewerFor(db, actor))
  const limit = Math.min(query.limit ?? messageLimits.usual, limitMax)
  const affix = query.affix ?? 'append'
  const conversationId = scope.kind === 'conversation' ? scope.conversationId : undefined
  const wanted: Wanted = {
    conditions: [
      ...conditionsOf(db, query, viewer, scope.kind === 'thread'),
      ...(actor ? await allowedBy(db, actor) : []),
      ...(await settledIn(db, scope)),
    ],
    search: searchOf(query, conversationId),
  }
  if (query.pinned && scope.kind === 'conversation') {
    const pinned = await load(db, await idsFrom(db, scope, wanted, 'prepend', messageLimits.max), viewer?.uid)
    return stretchOfPinned(pinned, query.id, affix, limit)
  }
  // What a user has saved begins with the newest, so reading on goes back in time.
  const way = (side: Affix): Affix => (query.saved ? (side === 'append' ? 'prepend' : 'append') : side)
  const start = startOf(query, way(affix))
  const found = await idsFrom(db, scope, withCondition(wanted, start), way(affix), limit + 1)
  const ascending = await load(db, found.slice(0, limit), viewer?.uid)
  const rows = query.saved ? ascending.toReversed() : ascending
  const [first, last] = [rows[0], rows.at(-1)]
  const isThere = async (edge: SeenMessage | undefined, side: Affix) =>
    edge !== undefined &&
    (await idsFrom(db, scope, withCondition(wanted, [past(edge.id, way(side))]), way(side), 1)).length > 0
  const more = found.length > limit
  const after = affix === 'append' ? more : await isThere(last, 'append')
  const before = affix === 'prepend' ? more : await isThere(first, 'prepend')
  return {
    rows,
    current: { limit, count: rows.length },
    ...(last && after && { next: cursorAt(last, 'append') }),
    ...(first && before && { previous: cursorAt(first, 'prepend') }),
  }
}

/**
 * Within a conversation messages come in the order of their ids. Across conversations a smaller id can come after a
 * larger one, and such lists end before the first that may still be missing.
 */
async function settledIn(db: TenantDb, { kind }: Scope): Promise<Condition[]> {
  if (kind === 'conversation' || kind === 'thread') return []
  const { run, flavour } = db.connection
  return [sql`messages.id <= ${await flavour.settledId(run, 'messages')}`]
}

/** Pinned messages stand by when they were pinned, the latest first. A conversation has few of them. */
function stretchOfPinned(pinned: SeenMessage[], id: number | undefined, affix: Affix, limit: number): Stretch {
  const all = pinned.toSorted((a, b) => (b.pinned_at ?? 0) - (a.pinned_at ?? 0) || b.id - a.id)
  const cursor = all.findIndex((row) => row.id === id)
  const [from, to] = affix === 'append' ? [cursor + 1, all.length] : [0, cursor < 0 ? all.length : cursor]
  const first = affix === 'append' ? from : Math.max(from, to - limit)
  const rows = all.slice(first, Math.min(first + limit, to))
  const [newest, oldest] = [rows[0], rows.at(-1)]
  return {
    rows,
    current: { limit, count: rows.length },
    ...(oldest && first + rows.length < all.length && { next: cursorAt(oldest, 'append') }),
    ...(newest && first > 0 && { previous: cursorAt(newest, 'prepend') }),
  }
}

function cursorAt({ id, sent_at }: SeenMessage, affix: Affix): Cursor {
  return { affix, sentAt: sent_at, id: String(id) }
}

function past(id: number, affix: Affix): Condition {
  return affix === 'append' ? sql`messages.id > ${id}` : sql`messages.id < ${id}`
}

function startOf({ id, sentAt }: MessageListQuery, affix: Affix): Condition[] {
  if (id !== undefined) return [past(id, affix)]
  if (sentAt === undefined) return []
  return [affix === 'append' ? sql`messages.sent_at > ${sentAt}` : sql`messages.sent_at < ${sentAt}`]
}

function withCondition({ conditions, search }: Wanted, more: Condition[]): Wanted {
  return { conditions: [...conditions, ...more], search }
}

/** What the viewer's role lets a list hold. */
export async function allowedBy(db: TenantDb, actor: Actor): Promise<Condition[]> {
  const { values } = await policyOf(db, actor)
  const categories = values['listMessages.allowedMessageCategories']
  const types = values['listMessages.allowedMessageTypes']
  return [
    ...(categories.length === 0 ? [] : [sql`messages.category IN (${sql.join(categories)})` as Condition]),
    ...(types.length === 0
      ? []
      : [sql`(messages.category != 'message' OR messages.type IN (${sql.join(types)}))` as Condition]),
  ]
}

export async function load(db: TenantDb, ids: number[], viewer: string | undefined): Promise<SeenMessage[]> {
  if (ids.length === 0) return []
  return (await messagesOf(db, viewer)
    .where('messages.id', 'in', ids)
    .orderBy('messages.id')
    .execute()) as SeenMessage[]
}

/** The ids of the first messages of a scope, from the oldest on or from the newest back. */
async function idsFrom(db: TenantDb, scope: Scope, wanted: Wanted, affix: Affix, limit: number): Promise<number[]> {
  if (scope.kind === 'viewer') return idsOfViewer(db, scope.uid, wanted, affix, limit)
  const within = conditionsFor(db, scope)
  const { search } = wanted
  if (!search) return walk(db, [...within, ...wanted.conditions], affix, limit)
  const worthGathering = gatheredMax(await sizeOf(db, scope), limit)
  return (await countMatching(db, search, worthGathering + 1)) <= worthGathering
    ? gather(db, search, [...within, ...wanted.conditions], affix, limit)
    : walk(db, [...within, ...wanted.conditions, eachMatches(db, search)], affix, limit)
}

function conditionsFor(db: TenantDb, scope: Exclude<Scope, { kind: 'viewer' }>): Condition[] {
  switch (scope.kind) {
    case 'app':
      return [notErased(db)]
    case 'thread':
      return [sql`messages.parent_id = ${scope.parentId}`]
    case 'conversation':
      return [
        sql`messages.conversation_id = ${scope.conversationId}`,
        ...(scope.clearedSeq > 0 ? [sql`messages.seq > ${scope.clearedSeq}` as Condition] : []),
      ]
  }
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

/** The words asked of one message after the other. */
export function eachMatches(db: TenantDb, search: Search): Condition {
  return matches(db, search, sql`CAST(messages.id AS text)`) as Condition
}

async function idsOf(db: TenantDb, text: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await text.execute(db.connection.query)
  return (rows as { id: number }[]).map(({ id }) => id)
}

const direction = (affix: Affix) => (affix === 'append' ? sql`ASC` : sql`DESC`)

function walk(db: TenantDb, conditions: Condition[], affix: Affix, limit: number): Promise<number[]> {
  return idsOf(db, walking(db, conditions, affix, limit))
}

function walking(db: TenantDb, conditions: Condition[], affix: Affix, limit: number): RawBuilder<unknown> {
  const all = [sql`messages.app_id = ${db.appId}`, sql`messages.purged = 0`, ...conditions]
  return sql`SELECT messages.id FROM messages WHERE ${sql.join(all, sql` AND `)}
    ORDER BY messages.id ${direction(affix)} LIMIT ${limit}`
}

function gather(db: TenantDb, search: Search, conditions: Condition[], affix: Affix, limit: number): Promise<number[]> {
  const match = sql`messages.app_id = ${db.appId} AND messages.id = hit.id`
  return idsOf(
    db,
    sql`WITH hit (id) AS MATERIALIZED ${placesMatching(db, search)}
      SELECT messages.id ${db.connection.flavour.lookUpEach('hit', 'messages', match)}
      AND ${sql.join([sql`messages.purged = 0`, ...conditions], sql` AND `)}
      ORDER BY messages.id ${direction(affix)} LIMIT ${limit}`,
  )
}

interface Side {
  conversation_id: string
  cleared_seq: number
  last_id: number
}

// So many conversations are asked in one statement.
const sidesAtOnce = 40
const hitsMax = 20_000

/** Of all conversations of a user. Each gives its first few; of those the first are taken. */
async function idsOfViewer(db: TenantDb, uid: string, wanted: Wanted, affix: Affix, limit: number): Promise<number[]> {
  const { search } = wanted
  if (search && (await countMatching(db, search, hitsMax + 1)) <= hitsMax) {
    return gather(db, search, [...wanted.conditions, visibleTo(db, uid)], affix, limit)
  }
  const conditions = search ? [...wanted.conditions, eachMatches(db, search)] : wanted.conditions
  const sides = await sidesOf(db, uid)
  const ascending = (a: number, b: number) => (affix === 'append' ? a - b : b - a)
  let found: number[] = []
  for (let first = 0; first < sides.length; first += sidesAtOnce) {
    const some = sides.slice(first, first + sidesAtOnce)
    // From the newest back, conversations whose last message is older than all that was found have nothing to give.
    const [newest] = some
    if (affix === 'prepend' && found.length === limit && newest && newest.last_id < (found.at(-1) ?? 0)) break
    const parts = some.map(({ conversation_id, cleared_seq }) => {
      const within: Condition[] = [
        sql`messages.conversation_id = ${conversation_id}`,
        sql`messages.seq > ${cleared_seq}`,
      ]
      return sql`SELECT * FROM (${walking(db, [...within, ...conditions], affix, limit)}) AS part`
    })
    const ids = await idsOf(db, sql.join(parts, sql` UNION ALL `))
    found = [...found, ...ids].toSorted(ascending).slice(0, limit)
  }
  return found
}

/** A user's conversations that have messages, those with the newest first. */
async function sidesOf(db: TenantDb, uid: string): Promise<Side[]> {
  // The sign keeps SQLite from walking through all messages of the app in their order.
  const { rows } = await sql<Side>`
    SELECT conversation_rows.conversation_id, ${hiddenUpTo} AS cleared_seq, messages.id AS last_id
    FROM conversation_rows
    JOIN conversations ON conversations.app_id = conversation_rows.app_id
      AND conversations.conversation_id = conversation_rows.conversation_id
    JOIN messages ON messages.app_id = conversations.app_id
      AND messages.conversation_id = conversations.conversation_id AND messages.seq = conversations.last_seq
    WHERE conversation_rows.app_id = ${db.appId} AND conversation_rows.uid = ${uid}
      AND conversations.last_seq > ${hiddenUpTo}
    ORDER BY +messages.id DESC`.execute(db.connection.query)
  return rows
}
