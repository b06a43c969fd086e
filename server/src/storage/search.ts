import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { escapeLike } from './sql.ts'
import type { TenantDb } from './tenant.ts'

/**
 * Finds records by a part of a text, in any script and letter case, without reading the whole table.
 *
 * Beside a list stands one entry per record: its texts, folded so that letters compare as people read them, and their
 * grams, which are all their runs of one, two and three characters. A key of up to three characters is a gram itself; a
 * longer one must hold all of its three-character grams. The database has an index on grams; the folded text then
 * settles what grams alone cannot, such as their order.
 *
 * A gram is stored as a short hash of itself, the app, the list and the field. So entries stay small, an app's search
 * meets only its own entries, and one index serves every list. Two grams with one hash cost a look at the text, no more.
 */
const gramCharactersMax = 3
const hashRange = 36 ** 4
const fieldSeparator = '\n'

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

/** Puts a record's texts under `id`, in place of any earlier ones; the order of `texts` names the fields. */
export async function putSearchEntries(
  db: TenantDb,
  list: string,
  entries: { id: string; texts: string[] }[],
): Promise<void> {
  if (entries.length === 0) return
  const rows = entries.map(({ id, texts }) => {
    const fields = texts.map(folded)
    return { list, id, text: fields.join(fieldSeparator), grams: gramsOfFields(db.appId, list, fields) }
  })
  await db
    .insert('search_entries', rows)
    .onConflict((conflict) =>
      conflict
        .columns(['app_id', 'list', 'id'])
        .doUpdateSet({ text: sql`excluded.text`, grams: sql`excluded.grams` })
        .whereRef('search_entries.text', '!=', sql`excluded.text`),
    )
    .execute()
}

export async function removeSearchEntry(db: TenantDb, list: string, id: string): Promise<void> {
  await db.delete('search_entries').where('list', '=', list).where('id', '=', id).execute()
}

/** The ids of the records that have `key` in one of `fields` (by their order), as a subquery of one column. */
export function idsMatching(db: TenantDb, list: string, key: string, fields: readonly number[]): Expression<string> {
  if (fields.length === 0) return sql<string>`(SELECT NULL WHERE 1 = 0)`
  const part = folded(key)
  const alternatives = fields.map((field) => gramsOfKey(db.appId, list, field, part))
  const entries = db.connection.flavour.entriesWithGrams(db.appId, list, alternatives)
  return sql<string>`(SELECT search_entries.id ${entries} AND ${textHas(part, fields)})`
}

/** The same question asked of one record: for walking a list in which many match. */
export function matches(
  db: TenantDb,
  list: string,
  id: RawBuilder<unknown>,
  key: string,
  fields: readonly number[],
): Expression<SqlBool> {
  return sql<SqlBool>`EXISTS (SELECT 1 FROM search_entries WHERE search_entries.app_id = ${db.appId}
    AND search_entries.list = ${list} AND search_entries.id = ${id} AND ${textHas(folded(key), fields)})`
}

function textHas(part: string, fields: readonly number[]): RawBuilder<SqlBool> {
  const anyField = `%${fieldSeparator}`
  const patterns = fields.map(
    (field) =>
      sql`search_entries.text || ${fieldSeparator} LIKE ${`${anyField.repeat(field)}%${escapeLike(part)}%${fieldSeparator}%`} ESCAPE '\\'`,
  )
  return sql<SqlBool>`(${sql.join(patterns, sql` OR `)})`
}

function gramsOfFields(appId: string, list: string, fields: string[]): string {
  const hashes = fields.flatMap((text, field) => {
    const start = hashed(hashStart, `${appId}|${list}|${field}|`)
    return [...gramsOf(text)].map((gram) => token(hashed(start, gram)))
  })
  return [...new Set(hashes)].join(' ')
}

function gramsOf(text: string): Set<string> {
  const characters = [...text]
  const grams = new Set<string>()
  for (let at = 0; at < characters.length; at += 1) {
    let gram = ''
    for (const character of characters.slice(at, at + gramCharactersMax)) {
      gram += character
      grams.add(gram)
    }
  }
  return grams
}

/** The grams that a text must hold to hold `key`. */
function gramsOfKey(appId: string, list: string, field: number, key: string): string[] {
  const start = hashed(hashStart, `${appId}|${list}|${field}|`)
  const characters = [...key]
  const width = Math.min(gramCharactersMax, characters.length)
  const grams = characters.slice(width - 1).map((_, at) => characters.slice(at, at + width).join(''))
  return [...new Set(grams.map((gram) => token(hashed(start, gram))))]
}

/** FNV-1a, which can be continued from where it stands. */
const hashStart = 0x811c9dc5

function hashed(from: number, text: string): number {
  let hash = from
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

function token(hash: number): string {
  return (hash % hashRange).toString(36).padStart(4, '0')
}
