import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Kysely, sql } from 'kysely'
import type { SearchIndex } from './flavour.ts'
import { gramsOf, type WantedEntry, type WantedGrams } from './grams.ts'
import { letOthersIn } from './in-turns.ts'
import { markSeparator } from './search-text.ts'
import type { Tables } from './tables.ts'

/** The index on grams in SQLite: a full-text table whose words are grams, each with its app, list and field. */

export const searchIndex: SearchIndex = {
  // The join is crossed because that fixes its order: grams first, never all entries of the app.
  entriesWithGrams: (appId, list, wanted) => sql`
    FROM search_grams CROSS JOIN search_entries ON search_entries.row_address = search_grams.rowid
    WHERE search_grams MATCH ${entryQuery(appId, list, wanted)}
    AND search_entries.app_id = ${appId} AND search_entries.list = ${list}`,
  gramHits: (appId, list, wanted) => sql`
    FROM search_grams WHERE search_grams MATCH ${entryQuery(appId, list, wanted)}`,
  gramsInOrder: true,
  entryOrder: { ofHit: sql`search_grams.rowid`, ofEntry: sql`search_entries.row_address` },
}

/** The index takes words of letters and digits as they are, so characters are written as numbers. */
function hexOf(character: string): string {
  const first = hexOfUnit(character.charCodeAt(0))
  return character.length === 1 ? first : first + hexOfUnit(character.charCodeAt(1))
}

const hexOfUnits: string[] = []

function hexOfUnit(unit: number): string {
  const known = hexOfUnits[unit]
  if (known !== undefined) return known
  const hex = unit.toString(16).padStart(4, '0')
  hexOfUnits[unit] = hex
  return hex
}

function gramToken(appId: string, list: string, field: number, gram: string): string {
  return `${appId}${list}${field}x${Array.from(gram, hexOf).join('')}`
}

/** Several grams make a phrase: side by side and in this order. */
function gramQuery(appId: string, list: string, { field, grams, asBeginning }: WantedGrams): string {
  const phrase = grams.map((gram) => gramToken(appId, list, field, gram)).join(' ')
  return `"${phrase}"${asBeginning ? ' *' : ''}`
}

function entryQuery(appId: string, list: string, { alternatives, marks }: WantedEntry): string {
  const anyOf = alternatives.map((all) => `(${all.map((wanted) => gramQuery(appId, list, wanted)).join(' AND ')})`)
  return [`(${anyOf.join(' OR ')})`, ...marks.map((mark) => `"${markToken(appId, list, mark)}"`)].join(' AND ')
}

function markToken(appId: string, list: string, mark: string): string {
  return `${appId}${list}m${Buffer.from(mark).toString('hex')}`
}

/** All words of an entry. Marks come first and one by one, so that no phrase of grams runs into them. */
function entryTokens(appId: string, list: string, text: string, marks: string): string {
  const marked = marks === '' ? [] : marks.split(markSeparator)
  const tokens = marked.map((mark) => markToken(appId, list, mark))
  for (const [field, grams] of gramsOf(text, hexOf).entries()) {
    const prefix = `${appId}${list}${field}x`
    for (const gram of grams) tokens.push(prefix + gram)
  }
  return tokens.join(' ')
}

/** Makes a connection one that can keep the index. */
export function teachGrams(writer: DatabaseSync): void {
  writer.function('entry_tokens', { deterministic: true }, (appId, list, text, marks) =>
    entryTokens(String(appId), String(list), String(text), String(marks)),
  )
}

/**
 * Triggers note what changes, so that whatever changes an entry (a restore, the purge of an app) cannot forget the index.
 * The index itself follows before the commit: at the end of every savepoint it would write what it holds, and a message
 * would cost twice as much. What is noted already is looked up: inside an upsert a trigger's OR IGNORE is not heard.
 *
 * Deletions alone begin no merge of the index: one that finds nothing left to keep has no bound, and held up everything
 * for a second after some ten thousand deletions. What was deleted goes with the merges that later entries bring.
 */
const gramIndex = `
  CREATE VIRTUAL TABLE search_grams USING fts5(
    grams, content = '', contentless_delete = 1, tokenize = 'ascii');
  INSERT INTO search_grams (search_grams, rank) VALUES ('deletemerge', 0);
  CREATE TABLE search_changes (row_address integer PRIMARY KEY, was_indexed integer NOT NULL);
  CREATE TRIGGER search_entries_added AFTER INSERT ON search_entries BEGIN
    INSERT INTO search_changes SELECT new.row_address, 0
    WHERE NOT EXISTS (SELECT 1 FROM search_changes WHERE row_address = new.row_address);
  END;
  CREATE TRIGGER search_entries_removed AFTER DELETE ON search_entries BEGIN
    INSERT INTO search_changes SELECT old.row_address, 1
    WHERE NOT EXISTS (SELECT 1 FROM search_changes WHERE row_address = old.row_address);
  END;
  CREATE TRIGGER search_entries_changed AFTER UPDATE ON search_entries BEGIN
    INSERT INTO search_changes SELECT old.row_address, 1
    WHERE NOT EXISTS (SELECT 1 FROM search_changes WHERE row_address = old.row_address);
  END;`

const entriesPerFill = 5_000

/** Fills an index that has just been made, in the order of entries and some at a time: it keeps in memory what it takes. */
function fillGrams(writer: DatabaseSync): void {
  const fill = writer.prepare(`INSERT INTO search_grams (rowid, grams)
    SELECT row_address, entry_tokens(app_id, list, text, marks) FROM search_entries
    WHERE row_address > ? AND row_address <= ? ORDER BY row_address`)
  const { last } = writer.prepare('SELECT coalesce(max(row_address), 0) AS last FROM search_entries').get() as {
    last: number
  }
  for (let from = 0; from < last; from += entriesPerFill) fill.run(from, from + entriesPerFill)
}

/** Creates the table of search entries, and the index that follows it. */
export async function createSearch({ schema }: Kysely<Tables>, writer: DatabaseSync): Promise<void> {
  await schema
    .createTable('search_entries')
    // A declared address stays when the file is compacted; the index on grams goes by it.
    .addColumn('row_address', 'integer', (column) => column.primaryKey())
    .addColumn('app_id', 'text', (column) => column.notNull())
    .addColumn('list', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('marks', 'text', (column) => column.notNull())
    .addUniqueConstraint('search_entries_key', ['app_id', 'list', 'id'])
    .execute()
  writer.exec(gramIndex)
}

/** Makes the index anew after a change of very many entries. */
export async function rewriteSearch(writer: DatabaseSync, change: () => Promise<void>): Promise<void> {
  writer.exec(`DROP TRIGGER search_entries_added; DROP TRIGGER search_entries_removed;
    DROP TRIGGER search_entries_changed; DROP TABLE search_changes; DROP TABLE search_grams`)
  await change()
  writer.exec(gramIndex)
  fillGrams(writer)
}

/** Brings the index up to what a transaction has changed: entry by entry, since a long text alone takes some milliseconds. */
export function gramIndexing(writer: DatabaseSync): () => Promise<void> {
  let prepared: { changed: StatementSync; remove: StatementSync; add: StatementSync; forget: StatementSync } | undefined
  const prepare = () => ({
    changed: writer.prepare('SELECT row_address, was_indexed FROM search_changes'),
    remove: writer.prepare('DELETE FROM search_grams WHERE rowid = ?'),
    add: writer.prepare(`INSERT INTO search_grams (rowid, grams)
      SELECT row_address, entry_tokens(app_id, list, text, marks) FROM search_entries WHERE row_address = ?`),
    forget: writer.prepare('DELETE FROM search_changes'),
  })
  return async () => {
    // A new file has no tables yet.
    if (!prepared && !writer.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'search_changes'").get()) return
    prepared ??= prepare()
    const { changed, remove, add, forget } = prepared
    const changes = changed.all() as { row_address: number; was_indexed: number }[]
    if (changes.length === 0) return
    for (const { row_address, was_indexed } of changes) {
      await letOthersIn()
      if (was_indexed === 1) remove.run(row_address)
      add.run(row_address)
    }
    forget.run()
  }
}
