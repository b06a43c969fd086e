import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { gramsSettle, type Search, wantedBy, wordsOf } from './grams.ts'
import { entryText, fieldSeparator, markSeparator } from './search-text.ts'
import { escapeLike } from './sql.ts'
import type { SearchEntryRow } from './tables.ts'
import { preparedRows, type TenantDb } from './tenant.ts'
import { connectionUnder } from './underneath.ts'

/**
 * Finds records by a part of a text, in any script and letter case, without reading the whole table.
 *
 * Beside a list stands one entry per record: its texts, folded so that letters compare as people read them
 * (search-text.ts). The database keeps an index of their grams (grams.ts). Where the index does not know the order of
 * grams, the text settles it.
 *
 * The index is made from the entries by the database itself, so it can neither be forgotten nor restored wrongly. It
 * knows a gram together with its app, list and field: one index serves every list, and no search meets another app's
 * entries.
 *
 * What a search costs grows with what an app has stored, so it is done where nobody waits for it.
 */

export interface SearchEntry {
  id: string
  /** The record's place in its list, which never changes. */
  at: number
  texts: string[]
  /** What searches can be narrowed to, such as the conversation of a message. */
  marks?: string[]
}

/** Puts records' texts under their ids, in place of any earlier ones; the order of `texts` names the fields. */
export async function putSearchEntries(db: TenantDb, list: string, entries: SearchEntry[]): Promise<void> {
  if (entries.length === 0) return
  const rows = entries.map(({ id, at, texts, marks = [] }) => ({
    list,
    id,
    at,
    text: entryText(texts),
    marks: marks.join(markSeparator),
  }))
  await putRows(db, rows)
}

const putRows = preparedRows<Omit<SearchEntryRow, 'app_id'>, never>((db, rows) =>
  db
    .insert('search_entries', rows)
    .onConflict((conflict) =>
      conflict
        .columns(['app_id', 'list', 'id'])
        .doUpdateSet({ text: sql`excluded.text` })
        .whereRef('search_entries.text', '!=', sql`excluded.text`),
    ),
)

export async function removeSearchEntries(db: TenantDb, list: string, ids: string[]): Promise<void> {
  await db.delete('search_entries').where('list', '=', list).where('id', 'in', ids).execute()
}

const searchIndex = (db: TenantDb) => connectionUnder(db).flavour.searchIndex

const looksNowhere = ({ fields }: Search) => fields?.length === 0

/** The ids of the records that a search finds, as a subquery of one column. */
export function idsMatching(db: TenantDb, search: Search): Expression<string> {
  if (looksNowhere(search)) return sql<string>`(SELECT NULL WHERE 1 = 0)`
  return sql<string>`(SELECT search_entries.id ${entriesMatching(db, search)})`
}

/** The places of the records that a search finds, as a subquery of one column; for lists whose ids are the places. */
export function placesMatching(db: TenantDb, search: Search): RawBuilder<number> {
  return sql<number>`(SELECT search_entries.at ${entriesMatching(db, search)})`
}

/** From which end of the list, past which place, and how many. */
interface Nearest {
  limit: number
  upwards: boolean
  past: number | undefined
}

/** Whether the first of what a search finds are found before the rest. */
export function findsFirst(db: TenantDb): boolean {
  return searchIndex(db).entryOrder !== undefined
}

/**
 * The places of the first records that a search finds, for lists whose ids are the places. Where entries are found in the
 * order in which they were made, that must be the order of places, and stay so for as long as the records: a backup writes
 * them in it, too. Elsewhere all that is found is sorted.
 */
export function firstPlaces(db: TenantDb, search: Search, { limit, upwards, past }: Nearest): RawBuilder<number> {
  const order = searchIndex(db).entryOrder?.ofHit ?? sql`search_entries.at`
  const bound =
    past === undefined ? sql`` : sql`AND ${order} ${upwards ? sql`>` : sql`<`} ${placeIn(db, search, past, upwards)}`
  return sql<number>`(SELECT search_entries.at ${entriesMatching(db, search)} ${bound}
    ORDER BY ${order} ${upwards ? sql`ASC` : sql`DESC`} LIMIT ${limit})`
}

/** Where a place lies in the order of hits. One that has no entry is no bound, and leaves it to others to keep to it. */
function placeIn(db: TenantDb, { list }: Search, place: number, upwards: boolean) {
  const { entryOrder } = searchIndex(db)
  if (!entryOrder) return sql`${place}`
  return sql`coalesce((SELECT ${entryOrder.ofEntry} FROM search_entries WHERE search_entries.app_id = ${db.appId}
    AND search_entries.list = ${list} AND search_entries.id = ${String(place)}), ${upwards ? 0 : Number.MAX_SAFE_INTEGER})`
}

/** Which part of what is found is wanted. */
export interface FoundPage {
  limit: number
  offset?: number
  without?: string[]
  /** Only places above, or below, this one. */
  above?: number | undefined
  below?: number | undefined
  /** From the lowest place up instead of from the highest down. */
  upwards?: boolean
}

/** The ids of a page of what a search finds, in the order of places. */
export async function idsOnPage(db: TenantDb, search: Search, page: FoundPage): Promise<string[]> {
  if (looksNowhere(search)) return []
  const { limit, offset = 0, without = [], above, below, upwards = false } = page
  const narrowed = [
    entriesMatching(db, search),
    ...(without.length === 0 ? [] : [sql`search_entries.id NOT IN (${sql.join(without)})`]),
    ...(above === undefined ? [] : [sql`search_entries.at > ${above}`]),
    ...(below === undefined ? [] : [sql`search_entries.at < ${below}`]),
  ]
  const rows = await db.sql<{ id: string }>`SELECT search_entries.id ${sql.join(narrowed, sql` AND `)}
    ORDER BY search_entries.at ${upwards ? sql`ASC` : sql`DESC`}, search_entries.id
    LIMIT ${limit} OFFSET ${offset}`.execute()
  return rows.map(({ id }) => id)
}

/** How many records a search finds, or `most`; answered by the index alone wherever grams settle it. */
export async function countMatching(db: TenantDb, search: Search, most?: number): Promise<number> {
  db.leaveSharedReader()
  if (looksNowhere(search)) return 0
  const { gramHits, gramsInOrder } = searchIndex(db)
  const hits = gramsSettle(search, gramsInOrder)
    ? gramHits(db.appId, search.list, wantedBy(search))
    : sql`FROM ${idsMatching(db, search)} AS hit`
  const counted = most === undefined ? hits : sql`FROM (SELECT 1 AS one ${hits} LIMIT ${most}) AS counted`
  // The index has the app in its grams, so it may be that the statement does not name it.
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total ${counted}`.execute(connectionUnder(db).query)
  return rows[0]?.total ?? 0
}

/** From where on: the entries that a search finds. */
function entriesMatching(db: TenantDb, search: Search): RawBuilder<unknown> {
  db.leaveSharedReader()
  const { entriesWithGrams, gramsInOrder } = searchIndex(db)
  const entries = entriesWithGrams(db.appId, search.list, wantedBy(search))
  return gramsSettle(search, gramsInOrder) ? entries : sql`${entries} AND ${textHas(search)}`
}

/** The same question, without marks, asked of one record after the other: for walking a list in which many match. */
export function matches(db: TenantDb, search: Search, id: RawBuilder<unknown>): Expression<SqlBool> {
  db.leaveSharedReader()
  if (looksNowhere(search)) return sql<SqlBool>`1 = 0`
  // Not EXISTS: that may be planned as a join, which without fresh statistics reads all entries for each record.
  return sql<SqlBool>`1 = (SELECT 1 FROM search_entries WHERE search_entries.app_id = ${db.appId}
    AND search_entries.list = ${search.list} AND search_entries.id = ${id} AND ${textHas(search)})`
}

/** Most that do not have the words in a field do not have them at all, and the database sees that by itself. */
function textHas(search: Search): RawBuilder<SqlBool> {
  const patterns = wordsOf(search).map((word) => `%${escapeLike(word.join(''))}%`)
  const has = (text: RawBuilder<unknown>) =>
    sql.join(
      patterns.map((pattern) => sql`${text} LIKE ${pattern} ESCAPE '\\'`),
      sql` AND `,
    )
  const anywhere = sql<SqlBool>`(${has(sql`search_entries.text`)})`
  if (!search.fields) return anywhere
  const alternatives = search.fields.map((field) =>
    has(sql`split_part(search_entries.text, ${fieldSeparator}, ${sql.lit(field + 1)})`),
  )
  return sql`${anywhere} AND (${sql.join(alternatives, sql` OR `)})`
}
