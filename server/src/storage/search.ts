import { type Compilable, type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Flavour } from './connection.ts'
import { escapeLike } from './sql.ts'
import type { SearchEntryRow } from './tables.ts'
import { preparedRows, type TenantDb } from './tenant.ts'

/**
 * Finds records by a part of a text, in any script and letter case, without reading the whole table.
 *
 * Beside a list stands one entry per record: its texts, folded so that letters compare as people read them. The database
 * keeps an index of their grams, which begin at each character and are three long, or shorter at the end. A key of one or
 * two characters is the beginning of a gram; one of three is a gram; a longer one must hold all of its grams, side by
 * side. Where the index does not know the order of grams, the text settles it.
 *
 * The index is made from the entries by the database itself, so it can neither be forgotten nor restored wrongly. It
 * knows a gram together with its app, list and field: one index serves every list, and no search meets another app's
 * entries.
 */
const gramCharactersMax = 3
const fieldSeparator = '\n'

/** What an entry's field must hold: these grams in this order, or one that begins with the only one. */
export interface WantedGrams {
  field: number
  grams: string[]
  asBeginning: boolean
}

/** Text as search compares it: one form of each letter, one letter case, single spaces. */
export function folded(text: string): string {
  return text
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replaceAll('ς', 'σ')
    .replaceAll(/\s+/g, ' ')
}

export interface SearchEntry {
  id: string
  /** The record's place in its list, which never changes. */
  at: number
  texts: string[]
}

/** Puts records' texts under their ids, in place of any earlier ones; the order of `texts` names the fields. */
export async function putSearchEntries(db: TenantDb, list: string, entries: SearchEntry[]): Promise<void> {
  if (entries.length === 0) return
  const rows = entries.map(({ id, at, texts }) => ({ list, id, at, text: entryText(texts) }))
  await putRows(db, rows)
}

/** A record's texts as its entry keeps them. */
export function entryText(texts: string[]): string {
  return texts.map(folded).join(fieldSeparator)
}

const putRows = preparedRows<Omit<SearchEntryRow, 'app_id'>, never>(
  (db, rows) =>
    db
      .insert('search_entries', rows)
      .onConflict((conflict) =>
        conflict
          .columns(['app_id', 'list', 'id'])
          .doUpdateSet({ text: sql`excluded.text` })
          .whereRef('search_entries.text', '!=', sql`excluded.text`),
      ) as unknown as Compilable<never>,
)

export async function removeSearchEntry(db: TenantDb, list: string, id: string): Promise<void> {
  await db.delete('search_entries').where('list', '=', list).where('id', '=', id).execute()
}

/** The ids of the records that have `key` in one of `fields` (by their order), as a subquery of one column. */
export function idsMatching(db: TenantDb, list: string, key: string, fields: readonly number[]): Expression<string> {
  if (fields.length === 0) return sql<string>`(SELECT NULL WHERE 1 = 0)`
  return sql<string>`(SELECT search_entries.id ${entriesMatching(db, list, key, fields)})`
}

/** The ids of a page of the records that have `key` in one of `fields`, from the highest place down, but for some. */
export async function idsOnPage(
  db: TenantDb,
  list: string,
  key: string,
  fields: readonly number[],
  { limit, offset, without }: { limit: number; offset: number; without: string[] },
): Promise<string[]> {
  if (fields.length === 0) return []
  const others = without.length === 0 ? sql`` : sql`AND search_entries.id NOT IN (${sql.join(without)})`
  const { rows } = await sql<{ id: string }>`SELECT search_entries.id
    ${entriesMatching(db, list, key, fields)} ${others}
    ORDER BY search_entries.at DESC, search_entries.id LIMIT ${limit} OFFSET ${offset}`.execute(db.connection.query)
  return rows.map(({ id }) => id)
}

/** How many records have `key` in one of `fields`; answered by the index alone wherever grams settle it. */
export async function countMatching(
  db: TenantDb,
  list: string,
  key: string,
  fields: readonly number[],
): Promise<number> {
  if (fields.length === 0) return 0
  const { flavour, query } = db.connection
  const hits = gramsSettle(flavour, key)
    ? flavour.gramHits(db.appId, list, gramsWanted(key, fields))
    : sql`FROM ${idsMatching(db, list, key, fields)} AS hit`
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total ${hits}`.execute(query)
  return rows[0]?.total ?? 0
}

/** From where on: the entries that have `key` in one of `fields`. */
function entriesMatching(
  { appId, connection: { flavour } }: TenantDb,
  list: string,
  key: string,
  fields: readonly number[],
) {
  const entries = flavour.entriesWithGrams(appId, list, gramsWanted(key, fields))
  return gramsSettle(flavour, key) ? entries : sql`${entries} AND ${textHas(folded(key), fields)}`
}

function gramsWanted(key: string, fields: readonly number[]): WantedGrams[] {
  const wanted = gramsOfKey([...folded(key)])
  return fields.map((field) => ({ field, ...wanted }))
}

/** Whether every record with the grams of `key` has `key`. */
function gramsSettle(flavour: Flavour, key: string): boolean {
  return flavour.gramsInOrder || [...folded(key)].length <= gramCharactersMax
}

/** The same question asked of one record after the other: for walking a list in which many match. */
export function matches(
  db: TenantDb,
  list: string,
  id: RawBuilder<unknown>,
  key: string,
  fields: readonly number[],
): Expression<SqlBool> {
  if (fields.length === 0) return sql<SqlBool>`1 = 0`
  // Not EXISTS: that may be planned as a join, which without fresh statistics reads all entries for each record.
  return sql<SqlBool>`1 = (SELECT 1 FROM search_entries WHERE search_entries.app_id = ${db.appId}
    AND search_entries.list = ${list} AND search_entries.id = ${id} AND ${textHas(folded(key), fields)})`
}

function textHas(part: string, fields: readonly number[]): RawBuilder<SqlBool> {
  const pattern = `%${escapeLike(part)}%`
  const alternatives = fields.map(
    (field) =>
      sql`split_part(search_entries.text, ${fieldSeparator}, ${sql.lit(field + 1)}) LIKE ${pattern} ESCAPE '\\'`,
  )
  return sql<SqlBool>`(${sql.join(alternatives, sql` OR `)})`
}

function gramsOfKey(characters: string[]): Omit<WantedGrams, 'field'> {
  const width = Math.min(gramCharactersMax, characters.length)
  const grams = characters.slice(width - 1).map((_, at) => characters.slice(at, at + width).join(''))
  return { grams, asBeginning: width < gramCharactersMax }
}

/** The grams of an entry's text in their order, field by field. */
export function gramsOf(text: string): string[][] {
  return text.split(fieldSeparator).map((line) => {
    const characters = [...line]
    return characters.map((_, at) => characters.slice(at, at + gramCharactersMax).join(''))
  })
}
