import { sql } from 'kysely'
import type { Actor, Caller } from '../../kit/operation.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { messagesOf, type SeenMessage } from '../timeline/index.ts'
import { uidsBlockedBy } from '../users/index.ts'
import { type Condition, conditionsOf, cursorsAsked, namedBy, searchOf, sendersAsked, type Viewer } from './filters.ts'
import { findIds, notByHiddenNames, type Wanted } from './find.ts'
import { listedFor } from './listed.ts'
import { type MessageListQuery, messageLimits } from './schemas.ts'
import { type Affix, keysIn, type Scope } from './ways.ts'

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
  const search = searchOf(query, keysIn(scope))
  const narrowing = [
    ...conditionsOf(db, query, viewer, scope.kind === 'thread'),
    ...(actor ? await listedFor(db, actor) : []),
    ...(await notByHiddenNames(db, search, actor?.uid)),
  ]
  const wanted: Wanted = {
    conditions: [...narrowing, ...(await settledIn(db, scope))],
    isNarrowed: narrowing.length > 0,
    search,
    named: namedBy(db, query, viewer),
    senders: sendersAsked(query),
    after: { uid: viewer?.uid ?? '', cursors: cursorsAsked(query) },
  }
  if (query.pinned && keysIn(scope)) {
    // An index leads to them, and there are few.
    const few = { ...wanted, isNarrowed: false }
    const pinned = await load(db, await findIds(db, scope, few, 'prepend', messageLimits.max), viewer?.uid)
    return stretchOfPinned(pinned, query.id, affix, limit)
  }
  // What a user has saved begins with the newest, so reading on goes back in time.
  const way = (side: Affix): Affix => (query.saved ? (side === 'append' ? 'prepend' : 'append') : side)
  const found = await findIds(db, scope, startingAt(query, wanted, way(affix)), way(affix), limit + 1)
  const ascending = await load(db, found.slice(0, limit), viewer?.uid)
  const rows = query.saved ? ascending.toReversed() : ascending
  const [first, last] = [rows[0], rows.at(-1)]
  // Whoever has begun at an end of the list has nothing behind them.
  const fromEnd = query.id === undefined && query.sentAt === undefined
  const isThere = async (edge: SeenMessage | undefined, side: Affix) =>
    !fromEnd && edge !== undefined && (await findIds(db, scope, { ...wanted, past: edge.id }, way(side), 1)).length > 0
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
  const settled = await flavour.settledId(run, 'messages')
  return settled === undefined ? [] : [sql`messages.id <= ${settled}`]
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

function startingAt({ id, sentAt }: MessageListQuery, wanted: Wanted, affix: Affix): Wanted {
  if (id !== undefined) return { ...wanted, past: id }
  if (sentAt === undefined) return wanted
  const start: Condition = affix === 'append' ? sql`messages.sent_at > ${sentAt}` : sql`messages.sent_at < ${sentAt}`
  return { ...wanted, conditions: [...wanted.conditions, start], isNarrowed: true }
}

export async function load(db: TenantDb, ids: number[], viewer: string | undefined): Promise<SeenMessage[]> {
  if (ids.length === 0) return []
  return (await messagesOf(db, viewer)
    .where('messages.id', 'in', ids)
    .orderBy('messages.id')
    .execute()) as SeenMessage[]
}
