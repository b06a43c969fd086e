import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { SearchIndex } from './flavour.ts'
import type { WantedEntry, WantedGrams } from './grams.ts'
import type { Tables } from './tables.ts'

/** The index on grams in PostgreSQL: over a function of an entry that tells its grams, each with its app, list and field. */

export const searchIndex: SearchIndex = {
  entriesWithGrams,
  gramHits: entriesWithGrams,
  gramsInOrder: false,
}

// OFFSET 0 keeps the planner from reading all of the app's entries instead: a gram names its app and list already.
function entriesWithGrams(appId: string, list: string, wanted: WantedEntry): RawBuilder<unknown> {
  return sql`
    FROM (SELECT * FROM search_entries
      WHERE search_grams(search_entries.app_id, search_entries.list, search_entries.text, search_entries.marks)
        @@ ${entryQuery(appId, list, wanted)}::tsquery
      OFFSET 0) AS search_entries
    WHERE search_entries.app_id = ${appId} AND search_entries.list = ${list}`
}

function entryQuery(appId: string, list: string, { alternatives, marks }: WantedEntry): string {
  const anyOf = alternatives.map((all) => `(${all.map((wanted) => gramQuery(appId, list, wanted)).join(' & ')})`)
  return [`(${anyOf.join(' | ')})`, ...marks.map((mark) => quoted(`${appId}|${list}|m|${mark}`))].join(' & ')
}

function gramQuery(appId: string, list: string, { field, grams, asBeginning }: WantedGrams): string {
  const words = grams.map((gram) => `${quoted(`${appId}|${list}|${field}|${gram}`)}${asBeginning ? ':*' : ''}`)
  return `(${words.join(' & ')})`
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`
}

// The planner is told a high cost so that it never computes grams while reading rows: it always asks the index. A long
// text is cut into pieces first: to find a character, PostgreSQL counts all those before it.
const gramFunction = sql`
  CREATE FUNCTION search_grams(app_id text, list text, body text, marks text) RETURNS tsvector
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100000 AS $$
  BEGIN
    RETURN coalesce((
      SELECT array_to_tsvector(array_agg(DISTINCT app_id || '|' || list || '|' || word)) FROM (
        SELECT (field.at - 1) || '|' || substr(piece.text, start, 3) AS word
        FROM unnest(string_to_array(body, E'\\n')) WITH ORDINALITY AS field(line, at),
          generate_series(1, length(field.line), 128) AS first,
          substr(field.line, first, 130) AS piece(text),
          generate_series(1, least(128, length(piece.text))) AS start
        UNION ALL SELECT 'm|' || mark FROM unnest(string_to_array(marks, E'\\n')) AS mark WHERE mark != ''
      ) AS words
    ), ''::tsvector);
  END $$`

// What was written last waits in a list that every search reads, so it is kept short.
const gramIndex = sql`
  CREATE INDEX search_entries_by_gram ON search_entries USING gin (search_grams(app_id, list, text, marks))
  WITH (gin_pending_list_limit = 64)`

/** Creates the table of search entries, and the index on it. */
export async function createSearch(database: Kysely<Tables>): Promise<void> {
  await database.schema
    .createTable('search_entries')
    .addColumn('app_id', 'text', (column) => column.notNull())
    .addColumn('list', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('marks', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('search_entries_key', ['app_id', 'list', 'id'])
    .execute()
  await gramFunction.execute(database)
  await gramIndex.execute(database)
}

/** Makes the index anew after a change of very many entries. */
export async function rewriteSearch(database: Kysely<Tables>, change: () => Promise<void>): Promise<void> {
  await database.schema.dropIndex('search_entries_by_gram').execute()
  await change()
  await gramIndex.execute(database)
}
