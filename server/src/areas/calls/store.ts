import { type RawBuilder, sql } from 'kysely'
import { paginationOf, sliceOf } from '../../common/page.ts'
import { ReadyMade } from '../../plain/ready-made.ts'
import { askedOfEach } from '../../storage/plans.ts'
import {
  type FacetTotal,
  facetTotals,
  patternOf,
  seekPage,
  totalOf,
  type WantedValues,
  wantsEverything,
} from '../../storage/tally.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { callNotFound } from './errors.ts'
import { callsList, callsListOf, ledgersOf, toNumberedFact } from './ledger.ts'
import { recordOf, sum } from './record.ts'
import type { CallListQuery } from './schemas.ts'
import { fold } from './state.ts'
import type { CallRow } from './tables.ts'

type Stored = Pick<CallRow, 'session_id' | 'live' | 'document' | 'transcriptions'>
type Single = Stored & Pick<CallRow, 'extras' | 'message_id'>

const storedColumns = ['calls.session_id', 'calls.live', 'calls.document', 'calls.transcriptions'] as const

const callById = prepared<{ sessionId: string }, Single>((db, { sessionId }) =>
  db
    .select('calls')
    .select([...storedColumns, 'calls.extras', 'calls.message_id'])
    .where('calls.session_id', '=', sessionId),
)

const membership = prepared<{ sessionId: string; uid: string }, { uid: string }>((db, { sessionId, uid }) =>
  db
    .select('call_members')
    .select('call_members.uid')
    .where('call_members.session_id', '=', sessionId)
    .where('call_members.uid', '=', uid),
)

/** The call, unless it is unknown or `uid` is given and has no part in it. */
export async function requireCall(db: TenantDb, sessionId: string, uid: string | undefined): Promise<Single> {
  const [row] = await callById(db, { sessionId })
  if (!row) throw callNotFound({ sessionId })
  if (uid !== undefined && (await membership(db, { sessionId, uid })).length === 0) throw callNotFound({ sessionId })
  return row
}

/** What documents become before they are answered; a server gets them as they are. */
export type Shown = (documents: string[]) => Promise<string[]>

const asTheyAre: Shown = async (documents) => documents

/** One call as the JSON text that is answered. */
export async function callText(db: TenantDb, row: Single, now: number, shown = asTheyAre): Promise<ReadyMade> {
  const [document = ''] = await shown(await documentsOf(db, [row], now))
  return new ReadyMade(`{"data":${extended(extended(document, row.extras), transcriptionsText(row))}}`)
}

/** Adds members to an object that is JSON text already. */
function extended(document: string, members: string | undefined): string {
  return members === undefined ? document : `${document.slice(0, -1)},${members}}`
}

function transcriptionsText({ transcriptions }: Stored): string | undefined {
  return transcriptions === null ? undefined : `"transcriptions":${transcriptions}`
}

/** A finished call's document stands as it is stored; a live one's minutes run up to now. */
async function documentsOf(db: TenantDb, rows: Stored[], now: number): Promise<string[]> {
  const live = rows.filter((row) => row.live === 1).map((row) => row.session_id)
  const ledgers = await ledgersOf(db, live)
  return rows.map((row) => {
    const ledger = ledgers.get(row.session_id)
    if (!ledger) return row.document
    return JSON.stringify(recordOf(row.session_id, fold(ledger.map((each) => toNumberedFact(each).fact)), now))
  })
}

/** One page of calls as the JSON text that is answered. */
export async function callsPage(
  db: TenantDb,
  query: CallListQuery,
  select: (slice: Slice) => Promise<Selected>,
  now: number,
  shown = asTheyAre,
): Promise<ReadyMade> {
  const slice = sliceOf(query)
  const { total, rows } = await select(slice)
  const documents = await shown(await documentsOf(db, rows, now))
  const parts = query.hideTranscription
    ? documents
    : rows.map((row, index) => extended(documents[index] ?? '', transcriptionsText(row)))
  const pagination = JSON.stringify(paginationOf(total, rows.length, slice))
  return new ReadyMade('{"data":[', parts, `],"meta":{"pagination":${pagination}}}`)
}

export interface Slice {
  limit: number
  offset: number
}

export interface Selected {
  total: number
  rows: Stored[]
}

/** Chooses the cheapest way to an exact total and the page: counts kept for lists where they apply, else a query. */
export function selectOfServer(db: TenantDb, query: CallListQuery, slice: Slice): Promise<Selected> {
  const uid = query.uid?.toLowerCase()
  const byTime = query.startedAt !== undefined || query.endedAt !== undefined
  if (byTime) return selectCounted(db, query, uid, slice)
  return uid === undefined ? selectOfApp(db, query, slice) : selectOfUser(db, query, uid, slice)
}

/** Of a call, whether it is among those that a pattern of facets wants. */
export function facetsMatch(pattern: string): RawBuilder<boolean> {
  return sql<boolean>`calls.facets LIKE ${pattern} ESCAPE '\\'`
}

/** In the order of `facetsOfCall`. */
export function wantedFacets(query: CallListQuery): WantedValues {
  const flag = (value: boolean | undefined) => (value === undefined ? undefined : Number(value))
  return [
    query.type,
    query.mode,
    query.status,
    query.receiverType,
    query.participantsCount,
    flag(query.hasRecording),
    flag(query.hasTranscription),
  ]
}

const endOfTime = Number.MAX_SAFE_INTEGER

interface Walk {
  until: number
  limit: number
  skip: number
}

const walkByTime = prepared<Walk, Stored>((db, { until, limit, skip }) => inOrder(db, until, limit, skip))

const walkWanted = prepared<Walk & { pattern: string }, Stored>((db, { until, limit, skip, pattern }) =>
  inOrder(db, until, limit, skip).where(facetsMatch(pattern)),
)

function inOrder(db: TenantDb, until: number, limit: number, skip: number) {
  return db
    .select('calls')
    .select(storedColumns)
    .where('calls.initiated_at', '<', until)
    .orderBy('calls.initiated_at', 'desc')
    .orderBy('calls.session_id')
    .limit(sql<number>`${limit}`)
    .offset(sql<number>`${skip}`)
}

async function selectOfApp(db: TenantDb, query: CallListQuery, { limit, offset }: Slice): Promise<Selected> {
  const wanted = wantedFacets(query)
  const all = await totalOf(db, callsList)
  const combinations = wantsEverything(wanted) ? [] : await facetTotals(db, callsList, wanted)
  const total = wantsEverything(wanted) ? all : sum(combinations.map(({ n }) => n))
  if (offset >= total) return { total, rows: [] }
  const { until = endOfTime, skip } = await seekPage(db, callsList, wanted, offset)
  const walk = { until, limit, skip }
  if (wantsEverything(wanted)) return { total, rows: await walkByTime(db, walk) }
  if (gatheringIsCheaper(combinations, all, total, walk)) return { total, rows: await gather(db, combinations, walk) }
  return { total, rows: await walkWanted(db, { ...walk, pattern: patternOf(wanted) }) }
}

const combinationsMax = 100

/** Walking by time passes over unwanted calls; where few are wanted, their own index entries are fewer. */
function gatheringIsCheaper(combinations: FacetTotal[], all: number, wanted: number, { limit, skip }: Walk): boolean {
  if (combinations.length > combinationsMax) return false
  const walked = (Math.min(skip + limit, wanted) * all) / wanted
  const gathered = sum(combinations.map(({ n }) => Math.min(n, skip + limit)))
  return gathered * 2 < walked
}

type Gathered = Stored & Pick<CallRow, 'initiated_at'>
type Gatherer = (db: TenantDb, values: Record<string, string | number>) => Promise<Gathered[]>

const gatherers = new Map<number, Gatherer>()

/** The query that gathers from so many combinations of facets: `facets0`, `facets1` and so on. */
function gathererOf(count: number): Gatherer {
  let gatherer = gatherers.get(count)
  if (!gatherer) {
    gatherer = prepared((db, value) => {
      const newest = Array.from(
        { length: count },
        (_, n) => sql`SELECT * FROM (
          SELECT calls.session_id, calls.initiated_at FROM calls
          WHERE calls.app_id = ${db.appId} AND calls.facets = ${value[`facets${n}`]}
            AND calls.initiated_at < ${value.until}
          ORDER BY calls.initiated_at DESC, calls.session_id LIMIT ${value.last}) AS newest`,
      )
      const page = sql<string>`(SELECT session_id FROM (${sql.join(newest, sql` UNION ALL `)}) AS newest
        ORDER BY initiated_at DESC, session_id LIMIT ${value.limit} OFFSET ${value.skip})`
      return db
        .select('calls')
        .select([...storedColumns, 'calls.initiated_at'])
        .where('calls.session_id', 'in', page)
    })
    gatherers.set(count, gatherer)
  }
  return gatherer
}

const walkByFacets = prepared<Walk & { facets: string }, Stored>((db, { facets, until, limit, skip }) =>
  inOrder(db, until, limit, skip).where('calls.facets', '=', facets),
)

/** The page from the newest calls of each wanted combination of facets. */
async function gather(db: TenantDb, combinations: FacetTotal[], walk: Walk): Promise<Stored[]> {
  const [only, ...more] = combinations
  if (only && more.length === 0) return walkByFacets(db, { ...walk, facets: only.facets })
  const facets = Object.fromEntries(combinations.map((each, n) => [`facets${n}`, each.facets]))
  const rows = await gathererOf(combinations.length)(db, { ...facets, ...walk, last: walk.skip + walk.limit })
  // The database would carry whole documents through its sort.
  return rows.sort((a, b) => b.initiated_at - a.initiated_at || (a.session_id < b.session_id ? -1 : 1))
}

const walkOfUser = prepared<{ uid: string; limit: number; offset: number }, Stored>((db, { uid, limit, offset }) =>
  ofUser(db, uid, limit, offset),
)

const walkWantedOfUser = prepared<{ uid: string; limit: number; offset: number; pattern: string }, Stored>(
  (db, { uid, limit, offset, pattern }) => ofUser(db, uid, limit, offset).where(callMatches(db, pattern)),
)

/**
 * Asked of one call after the other: a join may begin with all calls of the app that match. With the time beside the key,
 * the index by time answers, and whoever walks by time goes along it.
 */
export function callIs(db: TenantDb, condition: RawBuilder<unknown>): RawBuilder<boolean> {
  return askedOfEach(sql`FROM calls WHERE calls.app_id = ${db.appId} AND calls.session_id = call_members.session_id
    AND calls.initiated_at = call_members.initiated_at AND ${condition}`)
}

export function callMatches(db: TenantDb, pattern: string): RawBuilder<boolean> {
  return callIs(db, facetsMatch(pattern))
}

export function ofUser(db: TenantDb, uid: string, limit: number, offset: number) {
  return db
    .select('call_members')
    .innerJoin('calls', (join) =>
      join.onRef('calls.app_id', '=', 'call_members.app_id').onRef('calls.session_id', '=', 'call_members.session_id'),
    )
    .select(storedColumns)
    .where('call_members.uid', '=', uid)
    .orderBy('call_members.initiated_at', 'desc')
    .orderBy('call_members.session_id')
    .limit(sql<number>`${limit}`)
    .offset(sql<number>`${offset}`)
}

// So many calls of a user are stepped over while everybody waits.
export const callsSharedMax = 2_000

export async function selectOfUser(db: TenantDb, query: CallListQuery, uid: string, slice: Slice): Promise<Selected> {
  const { limit, offset } = slice
  const wanted = wantedFacets(query)
  const steps = wantsEverything(wanted) ? offset : await totalOf(db, callsListOf(uid))
  if (steps > callsSharedMax) db.leaveSharedReader()
  if (wantsEverything(wanted)) {
    const total = await totalOf(db, callsListOf(uid))
    return { total, rows: offset < total ? await walkOfUser(db, { uid, limit, offset }) : [] }
  }
  const total = sum((await facetTotals(db, callsListOf(uid), wanted)).map(({ n }) => n))
  const pattern = patternOf(wanted)
  return { total, rows: offset < total ? await walkWantedOfUser(db, { uid, limit, offset, pattern }) : [] }
}

/** A span of time, which no kept count covers. */
async function selectCounted(
  db: TenantDb,
  query: CallListQuery,
  uid: string | undefined,
  { limit, offset }: Slice,
): Promise<Selected> {
  db.leaveSharedReader()
  let rows = db.select('calls')
  const wanted = wantedFacets(query)
  if (!wantsEverything(wanted)) rows = rows.where(facetsMatch(patternOf(wanted)))
  if (query.startedAt !== undefined) rows = rows.where('calls.initiated_at', '>=', query.startedAt)
  if (query.endedAt !== undefined) rows = rows.where('calls.ended_at', '<=', query.endedAt)
  if (uid !== undefined) {
    const theirs = db.select('call_members').select('call_members.session_id').where('call_members.uid', '=', uid)
    rows = rows.where('calls.session_id', 'in', theirs)
  }
  const { total } = await rows.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  if (offset >= total) return { total, rows: [] }
  const page = await rows
    .select(storedColumns)
    .orderBy('calls.initiated_at', 'desc')
    .orderBy('calls.session_id')
    .limit(limit)
    .offset(offset)
    .execute()
  return { total, rows: page }
}
