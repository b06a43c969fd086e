import { sql } from 'kysely'
import { escapeLike } from './sql.ts'
import { prepared, preparedRows, type TenantDb } from './tenant.ts'

/**
 * Exact totals and cheap deep pages for long lists ordered by time.
 *
 * Counting a million rows, or stepping over them to reach page 9,000, costs more than all the rest of a request. So the
 * transaction that adds, changes or removes a record also moves it in a small table of counts: how many records of a list
 * lie in a span of time, once for all of them and once for each combination of facets (the values that filters compare).
 *
 * Spans come in levels: all time, then 6 days, 4.5 hours and 8.5 minutes. A total is one or a few rows of the first
 * level; the page at an offset is found by walking down from coarse to fine, at most a few dozen rows a level.
 */
const allTime = 0
const spanBits = [undefined, 19, 14, 9] as const
const coarse = 1
const fine = 2
const finest = 3
const everything = '*'
const separator = '|'

/** A record's place in a list: when it happened, and the values that filters compare. */
export interface PlaceInList {
  at: number
  facets: string
}

/** Which records a filter wants: a value per facet, `undefined` where any will do. */
export type WantedValues = readonly (string | number | undefined)[]

/** The same, told as the combinations of facets themselves. */
export interface WantedFacets {
  anyOf: readonly string[]
}

export function facetsOf(values: readonly (string | number)[]): string {
  return values.join(separator)
}

export function wantsEverything(wanted: WantedValues | WantedFacets): boolean {
  return !('anyOf' in wanted) && wanted.every((value) => value === undefined)
}

/** The LIKE pattern that facets of a wanted record match. */
export function patternOf(wanted: WantedValues): string {
  return wanted.map((value) => (value === undefined ? '%' : escapeLike(String(value)))).join(separator)
}

/** Records that `list` lost the record at `before` and gained it at `after`; call it in the transaction of the change. */
export async function moveTally(
  db: TenantDb,
  list: string,
  before: PlaceInList | undefined,
  after: PlaceInList | undefined,
  depth: 'total' | 'pages' = 'pages',
): Promise<void> {
  if (before?.at === after?.at && before?.facets === after?.facets) return
  await addChanges(db, list, [...changesFor(before, -1, depth), ...changesFor(after, 1, depth)])
}

/** Where a record was counted, and where it is now. */
export interface Move {
  before: PlaceInList | undefined
  after: PlaceInList | undefined
}

/**
 * The same for several records. Whoever moves more than one must do it so: counts are changed in a fixed order only
 * within one call, and two transactions that change them in different order wait for each other.
 */
export async function moveTallies(db: TenantDb, list: string, moves: Move[]): Promise<void> {
  const moved = moves.filter(({ before, after }) => before?.at !== after?.at || before?.facets !== after?.facets)
  await addChanges(
    db,
    list,
    moved.flatMap(({ before, after }) => [...changesFor(before, -1, 'pages'), ...changesFor(after, 1, 'pages')]),
  )
}

/** Records that `list` gained many records at once; counting them one by one would change the same rows again and again. */
export async function addToTally(db: TenantDb, list: string, places: PlaceInList[]): Promise<void> {
  await addChanges(
    db,
    list,
    places.flatMap((place) => changesFor(place, 1, 'pages')),
  )
}

async function addChanges(db: TenantDb, list: string, all: Change[]): Promise<void> {
  const changes = new Map<string, Change>()
  for (const change of all) {
    const key = `${change.level} ${change.bucket} ${change.facets}`
    changes.set(key, { ...change, n: change.n + (changes.get(key)?.n ?? 0) })
  }
  // Always in the same order, so that two transactions cannot wait for each other.
  const rows = [...changes.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .filter(([, { n }]) => n !== 0)
    .map(([, change]) => ({ list, ...change }))
  if (rows.length > 0) await addCounts(db, rows)
}

const addCounts = preparedRows<Tally, never>((db, rows) =>
  db
    .insert('tallies', rows)
    .onConflict((conflict) =>
      conflict.columns(['app_id', 'list', 'level', 'bucket', 'facets']).doUpdateSet({ n: sql`tallies.n + excluded.n` }),
    ),
)

interface Change {
  level: number
  bucket: number
  facets: string
  n: number
}

function changesFor(place: PlaceInList | undefined, n: number, depth: 'total' | 'pages'): Change[] {
  if (!place) return []
  const { at, facets } = place
  const total = [everything, facets].map((each) => ({ level: allTime, bucket: 0, facets: each, n }))
  if (depth === 'total') return total
  return [
    ...total,
    ...[coarse, fine, finest].map((level) => ({ level, bucket: bucketOf(at, level), facets: everything, n })),
    ...[coarse, fine].map((level) => ({ level, bucket: bucketOf(at, level), facets, n })),
  ]
}

function bucketOf(at: number, level: number): number {
  return Math.floor(at / spanSeconds(level))
}

function spanSeconds(level: number): number {
  return 2 ** (spanBits[level] ?? 0)
}

const totalOfAll = prepared<{ list: string }, { n: number }>((db, { list }) =>
  db
    .select('tallies')
    .select('tallies.n')
    .where('tallies.list', '=', list)
    .where('tallies.level', '=', allTime)
    .where('tallies.bucket', '=', 0)
    .where('tallies.facets', '=', everything),
)

const totalsByFacets = prepared<{ list: string; pattern: string }, FacetTotal>((db, { list, pattern }) =>
  db
    .select('tallies')
    .select(['tallies.facets', 'tallies.n'])
    .where('tallies.list', '=', list)
    .where('tallies.level', '=', allTime)
    .where('tallies.bucket', '=', 0)
    .where('tallies.facets', '!=', everything)
    .where('tallies.n', '>', 0)
    .where(sql<boolean>`tallies.facets LIKE ${pattern} ESCAPE '\\'`),
)

export interface FacetTotal {
  facets: string
  n: number
}

/** How many records the list holds. */
export async function totalOf(db: TenantDb, list: string): Promise<number> {
  const [row] = await totalOfAll(db, { list })
  return row?.n ?? 0
}

/** How many records there are of each combination of facets that a filter wants. */
export function facetTotals(db: TenantDb, list: string, wanted: WantedValues): Promise<FacetTotal[]> {
  return totalsByFacets(db, { list, pattern: patternOf(wanted) })
}

/** Where a page begins: among the records before `until` (newest first), after leaving out `skip` of them. */
export interface PageStart {
  until: number | undefined
  skip: number
}

// Stepping over this many rows is cheaper than looking up where they end.
const worthLookingUp = 200

/** Finds the page that begins after `offset` of the wanted records, newest first. */
export async function seekPage(
  db: TenantDb,
  list: string,
  wanted: WantedValues | WantedFacets,
  offset: number,
): Promise<PageStart> {
  let start: PageStart = { until: undefined, skip: offset }
  const levels = wantsEverything(wanted) ? [coarse, fine, finest] : [coarse, fine]
  for (const level of levels) {
    if (start.skip < worthLookingUp) return start
    start = await descend(db, list, wanted, level, start)
  }
  return start
}

/** One level down: passes over the spans that lie wholly before the page. */
async function descend(
  db: TenantDb,
  list: string,
  wanted: WantedValues | WantedFacets,
  level: number,
  { until, skip }: PageStart,
): Promise<PageStart> {
  const seconds = spanSeconds(level)
  const last = until === undefined ? endOfTime : until / seconds - 1
  // The level above has settled on one of its spans; only that span's children matter.
  const first = until === undefined ? 0 : last - 2 ** ((spanBits[level - 1] ?? 0) - (spanBits[level] ?? 0)) + 1
  const span = { list, level, first, last }
  const spans = await spansOf(db, span, wanted)
  let rest = skip
  for (const { bucket, n } of spans) {
    if (rest < n) return { until: (bucket + 1) * seconds, skip: rest }
    rest -= n
  }
  return { until, skip }
}

const endOfTime = Number.MAX_SAFE_INTEGER

interface SpanRange {
  list: string
  level: number
  first: number
  last: number
}

interface Span {
  bucket: number
  n: number
}

const spansOfAll = prepared<SpanRange, Span>((db, range) => spansIn(db, range).where('tallies.facets', '=', everything))

const spansOfWanted = prepared<SpanRange & { pattern: string }, Span>((db, value) =>
  spansIn(db, value)
    .where('tallies.facets', '!=', everything)
    .where(sql<boolean>`tallies.facets LIKE ${value.pattern} ESCAPE '\\'`),
)

/** The spans of a level that hold wanted records, newest first. */
function spansOf(db: TenantDb, range: SpanRange, wanted: WantedValues | WantedFacets): Promise<Span[]> {
  if (wantsEverything(wanted)) return spansOfAll(db, range)
  if (!('anyOf' in wanted)) return spansOfWanted(db, { ...range, pattern: patternOf(wanted) })
  return spansIn(db, range).where('tallies.facets', 'in', wanted.anyOf).execute()
}

function spansIn(db: TenantDb, { list, level, first, last }: SpanRange) {
  return db
    .select('tallies')
    .where('tallies.list', '=', list)
    .where('tallies.level', '=', level)
    .where('tallies.bucket', '>=', first)
    .where('tallies.bucket', '<=', last)
    .groupBy('tallies.bucket')
    .orderBy('tallies.bucket', 'desc')
    .select(['tallies.bucket', sql<number>`sum(tallies.n)`.as('n')])
}

/** A count as it is kept: so many records of a list are in a span of a level, of all or of one combination of facets. */
export interface Tally extends Change {
  list: string
}

/** Spans of the finest level are this long; records of one such span and the same facets count alike. */
export const finestSpanSeconds = spanSeconds(finest)

/** The counts in which `n` records at a place take part; for checking those that are kept. */
export function talliesAt(list: string, place: PlaceInList, n: number, depth: 'total' | 'pages' = 'pages'): Tally[] {
  return changesFor(place, n, depth).map((change) => ({ list, ...change }))
}
