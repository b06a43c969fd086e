import { sql } from 'kysely'
import { cursorsOf, justBefore } from '../../common/cursor.ts'
import type { Actor, Caller } from '../../kit/operation.ts'
import { plannedForValues } from '../../storage/plans.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { messagesOf, type SeenMessage, selectedFor } from '../timeline/index.ts'
import { blockedBy } from '../users/index.ts'
import {
  asksWhoIsBlocked,
  type Condition,
  conditionsOf,
  cursorsAsked,
  namedBy,
  searchOf,
  sendersAsked,
  type ViewerOfMessages,
} from './filters.ts'
import { findIds, messagesAt, notByHiddenNames, type WantedMessages } from './find.ts'
import { listedFor } from './listed.ts'
import { type MessageListQuery, messageLimits } from './schemas.ts'
import { type Ids, keysIn, type WayAffix, type WayScope } from './ways.ts'

/** Where a message stands: by its id, and among pinned ones by when it was pinned. */
interface Keys {
  sentAt: number
  id: string
  pinnedAt?: number
}

export interface Stretch {
  rows: SeenMessage[]
  meta: {
    current: { limit: number; count: number }
    next: Partial<Keys> & { affix: 'append' }
    previous: Partial<Keys> & { affix: 'prepend' }
  }
}

/** Who asks for a list, and when. */
export interface Asking {
  actor: Actor | undefined
  caller: Caller
  now: number
}

export async function viewerFor(db: TenantDb, actor: Actor): Promise<ViewerOfMessages> {
  return { uid: actor.uid, blocked: await blockedBy(db, actor) }
}

/** The same for a list: most do not ask whom the viewer has blocked. */
async function viewerOf(db: TenantDb, actor: Actor, query: MessageListQuery): Promise<ViewerOfMessages> {
  return asksWhoIsBlocked(query) ? viewerFor(db, actor) : { uid: actor.uid, blocked: [] }
}

const clientLimitMax = 100

/** How many messages one answer may hold. */
export function limitMaxFor({ kind }: Caller): number {
  return kind === 'client' ? clientLimitMax : messageLimits.max
}

/** One stretch of a list, in the order of ids. Reading on neither skips nor repeats what is written meanwhile. */
export async function readStretch(
  db: TenantDb,
  scope: WayScope,
  query: MessageListQuery,
  asking: Asking,
): Promise<Stretch> {
  const { actor, caller, now } = asking
  const limit = Math.min(query.limit ?? messageLimits.usual, limitMaxFor(caller))
  const rows = await rowsOf(db, scope, query, actor, affixFor(query, caller), limit)
  const current = { limit, count: rows.length }
  return { rows, meta: { current, ...cursorsOf(rows.map(query.pinned ? keysOfPinned : keysOf), stoodAt(query, now)) } }
}

async function rowsOf(
  db: TenantDb,
  scope: WayScope,
  query: MessageListQuery,
  actor: Actor | undefined,
  affix: WayAffix,
  limit: number,
): Promise<SeenMessage[]> {
  const viewer = actor && (await viewerOf(db, actor, query))
  const search = searchOf(query, keysIn(scope))
  const narrowing = [
    ...conditionsOf(db, query, viewer, scope.kind === 'thread'),
    ...(actor ? await listedFor(db, actor) : []),
    ...(await notByHiddenNames(db, search, actor)),
  ]
  const wanted: WantedMessages = {
    conditions: [...narrowing, ...(await settledIn(db, scope))],
    isNarrowed: narrowing.length > 0,
    search,
    named: namedBy(db, query, viewer),
    senders: sendersAsked(query),
    after: { uid: viewer?.uid ?? '', cursors: viewer ? cursorsAsked(query) : [] },
  }
  if (query.pinned && keysIn(scope)) {
    // An index leads to them, and there are few.
    const few = { ...wanted, isNarrowed: false }
    const pinned = await load(db, await findIds(db, scope, few, 'prepend', messageLimits.max), viewer?.uid)
    return stretchOfPinned(pinned, query, affix, limit)
  }
  // What a user has saved begins with the newest, so reading on goes back in time.
  const way: WayAffix = query.saved ? (affix === 'append' ? 'prepend' : 'append') : affix
  const found = await findIds(db, scope, startingAt(query, wanted, way), way, limit)
  const ascending = await load(db, found, viewer?.uid)
  return query.saved ? ascending.toReversed() : ascending
}

/** Everything by which one says where in time a list is to begin or end. */
const times = [
  'sentAt',
  'sentAt[from]',
  'sentAt[to]',
  'fromTimestamp',
  'toTimestamp',
  'updatedAt',
  'updatedAt[from]',
  'updatedAt[to]',
  'editedAt[from]',
  'editedAt[to]',
] as const

/** Servers begin with the oldest. An app that somebody looks at, and that says nothing of where, shows the newest. */
function affixFor(query: MessageListQuery, { kind }: Caller): WayAffix {
  if (query.affix !== undefined) return query.affix
  const beginsWithNewest = query.pinned || query.saved
  const saysWhere = query.id !== undefined || times.some((name) => query[name] !== undefined)
  return kind === 'client' && !beginsWithNewest && !saysWhere ? 'prepend' : 'append'
}

function keysOf({ id, sent_at }: SeenMessage): Keys {
  return { sentAt: sent_at, id: String(id) }
}

function keysOfPinned(row: SeenMessage): Keys {
  return { ...keysOf(row), ...(row.pinned_at !== null && { pinnedAt: row.pinned_at }) }
}

/** Where the reader of an empty page stands: where they stood before, or after all that there was. */
function stoodAt({ id, sentAt, pinnedAt }: MessageListQuery, now: number): Partial<Keys> {
  if (id === undefined && sentAt === undefined) return { sentAt: justBefore(now) }
  return {
    ...(sentAt !== undefined && { sentAt }),
    ...(id !== undefined && { id: String(id) }),
    ...(pinnedAt !== undefined && { pinnedAt }),
  }
}

/**
 * Within a conversation messages come in the order of their ids. Across conversations a smaller id can come after a
 * larger one, and such lists end before the first that may still be missing.
 */
async function settledIn(db: TenantDb, { kind }: WayScope): Promise<Condition[]> {
  if (kind === 'conversation' || kind === 'thread') return []
  return [sql`messages.id <= ${await db.settledId('messages')}`]
}

/** Pinned messages stand by when they were pinned, the latest first. A conversation has few of them. */
function stretchOfPinned(
  pinned: SeenMessage[],
  query: MessageListQuery,
  affix: WayAffix,
  limit: number,
): SeenMessage[] {
  const all = pinned.toSorted(byPin)
  const place = placeOfPin(all, query)
  if (query.id !== undefined && !place) return []
  if (affix === 'append') return all.filter((row) => !place || byPin(row, place) > 0).slice(0, limit)
  return all.filter((row) => !place || byPin(row, place) < 0).slice(-limit)
}

type Pin = Pick<SeenMessage, 'id' | 'pinned_at'>

function byPin(a: Pin, b: Pin): number {
  return (b.pinned_at ?? 0) - (a.pinned_at ?? 0) || b.id - a.id
}

/** Where one has come to. The message may be unpinned or pinned anew by now, so the time that was told comes first. */
function placeOfPin(all: Pin[], { id, pinnedAt }: MessageListQuery): Pin | undefined {
  if (id === undefined) return undefined
  return pinnedAt === undefined ? all.find((row) => row.id === id) : { id, pinned_at: pinnedAt }
}

function startingAt({ id, sentAt }: MessageListQuery, wanted: WantedMessages, affix: WayAffix): WantedMessages {
  if (id !== undefined) return { ...wanted, past: id }
  if (sentAt === undefined) return wanted
  const start: Condition = affix === 'append' ? sql`messages.sent_at > ${sentAt}` : sql`messages.sent_at < ${sentAt}`
  return { ...wanted, conditions: [...wanted.conditions, start], isNarrowed: true }
}

export async function load(db: TenantDb, ids: Ids, viewer: string | undefined): Promise<SeenMessage[]> {
  if (!Array.isArray(ids)) {
    const found = messagesAt(db, sql`(${ids})`, selectedFor(db, viewer))
    return db.sql<SeenMessage>`${plannedForValues(db)}${found} ORDER BY messages.id`.execute()
  }
  if (ids.length === 0) return []
  return (await messagesOf(db, viewer)
    .where('messages.id', 'in', ids)
    .orderBy('messages.id')
    .execute()) as SeenMessage[]
}
