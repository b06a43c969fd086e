import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Flavour, leaveSharedReader } from './connection.ts'
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
 *
 * What a search costs grows with what an app has stored, so it is done where nobody waits for it. The index is asked for
 * the longest words, and for few grams of each; all that it was not asked is looked up in the text of what it finds. A word
 * of one or two characters begins very many grams: the index is asked for one, and only where there is no longer word.
 */
const gramCharactersMax = 3
const wordsAskedMax = 4
const gramsAskedMax = 16
const fieldSeparator = '\n'
export const markSeparator = '\n'

/** What an entry's field must hold: these grams in this order, or one that begins with the only one. */
export interface WantedGrams {
  field: number
  grams: string[]
  asBeginning: boolean
}

/** What an entry must hold: all that one of the alternatives wants, and all marks. */
export interface WantedEntry {
  alternatives: WantedGrams[][]
  marks: readonly string[]
}

/** A question to a list: all words in one of some fields, among the entries with all marks. */
export interface Search {
  list: string
  words: readonly string[]
  /** By their order in the entries; absent where these have one text. */
  fields?: readonly number[]
  marks?: readonly string[]
}

/** Text as search compares it: one form of each letter, one letter case, single spaces. */
export function folded(text: string): string {
  if (isPlain(text)) return text.toLowerCase().replaceAll(/\s+/g, ' ')
  return text
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replaceAll('ς', 'σ')
    .replaceAll(/\s+/g, ' ')
}

/** The different words of a text, as search compares them. */
export function wordsIn(text: string): string[] {
  return [...new Set(folded(text).split(' '))].filter((word) => word !== '')
}

export interface SearchEntry {
  id: string
  /** The record's place in its list, which never changes. */
  at: number
  texts: string[]
  /** What searches can be narrowed to, such as the conversation of a message. */
  marks?: string[]
}

/** Most texts have no letter outside ASCII, where folding is nothing but lower case. */
function isPlain(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
  return /^[\x00-\x7f]*$/.test(text)
}

/** Letters without their accents; for lists in which nobody cares about them. Vowel signs of other scripts stay. */
export function withoutAccents(text: string): string {
  if (isPlain(text)) return text
  return text.normalize('NFKD').replaceAll(accents, '$1').normalize('NFKC')
}

const accents = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}])\p{Mn}+/gu

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

/** A record's texts as its entry keeps them. */
export function entryText(texts: string[]): string {
  return texts.map(folded).join(fieldSeparator)
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
  return db.connection.flavour.entryOrder !== undefined
}

/**
 * The places of the first records that a search finds, for lists whose ids are the places. Where entries are found in the
 * order in which they were made, that must be the order of places, and stay so for as long as the records: a backup writes
 * them in it, too. Elsewhere all that is found is sorted.
 */
export function firstPlaces(db: TenantDb, search: Search, { limit, upwards, past }: Nearest): RawBuilder<number> {
  const order = db.connection.flavour.entryOrder?.ofHit ?? sql`search_entries.at`
  const bound =
    past === undefined ? sql`` : sql`AND ${order} ${upwards ? sql`>` : sql`<`} ${placeIn(db, search, past, upwards)}`
  return sql<number>`(SELECT search_entries.at ${entriesMatching(db, search)} ${bound}
    ORDER BY ${order} ${upwards ? sql`ASC` : sql`DESC`} LIMIT ${limit})`
}

/** Where a place lies in the order of hits. One that has no entry is no bound, and leaves it to others to keep to it. */
function placeIn({ appId, connection }: TenantDb, { list }: Search, place: number, upwards: boolean) {
  const { entryOrder } = connection.flavour
  if (!entryOrder) return sql`${place}`
  return sql`coalesce((SELECT ${entryOrder.ofEntry} FROM search_entries WHERE search_entries.app_id = ${appId}
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
  const { rows } = await sql<{ id: string }>`SELECT search_entries.id ${sql.join(narrowed, sql` AND `)}
    ORDER BY search_entries.at ${upwards ? sql`ASC` : sql`DESC`}, search_entries.id
    LIMIT ${limit} OFFSET ${offset}`.execute(db.connection.query)
  return rows.map(({ id }) => id)
}

/** How many records a search finds, or `most`; answered by the index alone wherever grams settle it. */
export async function countMatching(db: TenantDb, search: Search, most?: number): Promise<number> {
  leaveSharedReader(db)
  if (looksNowhere(search)) return 0
  const { flavour, query } = db.connection
  const hits = gramsSettle(flavour, search)
    ? flavour.gramHits(db.appId, search.list, wantedBy(search))
    : sql`FROM ${idsMatching(db, search)} AS hit`
  const counted = most === undefined ? hits : sql`FROM (SELECT 1 AS one ${hits} LIMIT ${most}) AS counted`
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total ${counted}`.execute(query)
  return rows[0]?.total ?? 0
}

/** From where on: the entries that a search finds. */
function entriesMatching(db: TenantDb, search: Search): RawBuilder<unknown> {
  leaveSharedReader(db)
  const { flavour } = db.connection
  const entries = flavour.entriesWithGrams(db.appId, search.list, wantedBy(search))
  return gramsSettle(flavour, search) ? entries : sql`${entries} AND ${textHas(search)}`
}

/** What the index is asked; the text of what it finds settles the rest. */
function wantedBy(search: Search): WantedEntry {
  const { fields = [0], marks = [] } = search
  const wanted = wordsAsked(wordsOf(search)).map(gramsOfWord)
  return { alternatives: fields.map((field) => wanted.map((grams) => ({ field, ...grams }))), marks }
}

/** A word by its characters. */
type Word = string[]

function wordsOf({ words }: Search): Word[] {
  return [...new Set(words.map(folded))].map((word) => [...word])
}

const isShort = ({ length }: Word) => length < gramCharactersMax

/** Whether the index can only be asked for a word that begins very many grams. */
export function hasShortWordsOnly(search: Search): boolean {
  return wordsOf(search).every(isShort)
}

function wordsAsked(words: Word[]): Word[] {
  const longestFirst = words.toSorted((a, b) => b.length - a.length)
  const long = longestFirst.filter((word) => !isShort(word))
  return long.length > 0 ? long.slice(0, wordsAskedMax) : longestFirst.slice(0, 1)
}

/** Whether every record with the grams that are asked for has the words. */
function gramsSettle({ gramsInOrder }: Flavour, search: Search): boolean {
  const words = wordsOf(search)
  const settledCharacters = gramsInOrder ? gramsAskedMax + gramCharactersMax - 1 : gramCharactersMax
  return wordsAsked(words).length === words.length && words.every(({ length }) => length <= settledCharacters)
}

/** The same question, without marks, asked of one record after the other: for walking a list in which many match. */
export function matches(db: TenantDb, search: Search, id: RawBuilder<unknown>): Expression<SqlBool> {
  leaveSharedReader(db)
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

function gramsOfWord(word: Word): Omit<WantedGrams, 'field'> {
  const width = Math.min(gramCharactersMax, word.length)
  const grams = word.slice(width - 1, width - 1 + gramsAskedMax).map((_, at) => word.slice(at, at + width).join(''))
  return { grams, asBeginning: isShort(word) }
}

/** The grams of an entry's text in their order, field by field, with each character written as told. */
export function gramsOf(text: string, written: (character: string) => string): string[][] {
  return text.split(fieldSeparator).map((line) => {
    const characters = Array.from(line, written)
    return characters.map((each, at) => each + (characters[at + 1] ?? '') + (characters[at + 2] ?? ''))
  })
}
