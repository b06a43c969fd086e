import { sql } from 'kysely'
import { cursorsOf, justBefore } from '../../kit/cursor.ts'
import type { Actor, Caller } from '../../kit/operation.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { messagesOf, type SeenMessage } from '../timeline/index.ts'
import { uidsBlockedBy } from '../users/index.ts'
import { type Condition, conditionsOf, cursorsAsked, namedBy, searchOf, sendersAsked, type Viewer } from './filters.ts'
import { findIds, notByHiddenNames, type Wanted } from './find.ts'
import { listedFor } from './listed.ts'
import { type MessageListQuery, messageLimits } from './schemas.ts'
import { type Affix, keysIn, type Scope } from './ways.ts'

export interface Stretch {
  rows: SeenMessage[]
  limit: number
}

/** What a list tells about a stretch of it, and how to read on from there. */
export function metaOf({ rows, limit }: Stretch, { id, sentAt }: MessageListQuery, now: number) {
  const page = rows.map((row) => ({ sentAt: row.sent_at, id: String(row.id) }))
  const asked = { sentAt, id: id === undefined ? undefined : String(id) }
  return { current: { limit, count: rows.length }, ...cursorsOf(page, asked, { sentAt: justBefore(now) }) }
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
  const way = query.saved ? (affix === 'append' ? 'prepend' : 'append') : affix
  const found = await findIds(db, scope, startingAt(query, wanted, way), way, limit)
  const ascending = await load(db, found, viewer?.uid)
  return { rows: query.saved ? ascending.toReversed() : ascending, limit }
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
  return { rows: all.slice(first, Math.min(first + limit, to)), limit }
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
