import type { DatabaseSync } from 'node:sqlite'

/**
 * What SQLite's planner is told about the tables. It would take every index for one over a few dozen rows, and where two
 * fit it can choose one that walks through a whole app. Counted statistics would change plans from one day to the next;
 * these describe a large install once and for all: ten apps of a hundred thousand rows in each table, and with every
 * further column of an index a hundredth of the rows left.
 */
const rowsOfTable = 1_000_000
const rowsOfApp = 100_000
const shareOfNextColumn = 100
/** Partial indexes hold the few rows that are special. */
const shareOfPartialIndex = 100

interface Index {
  table: string
  name: string
  isUnique: 0 | 1
  isPartial: 0 | 1
  columns: number
  first: string
}

/** Tells a file what it does not know, or knows otherwise; answers whether there was anything to tell. */
export function describeTables(writer: DatabaseSync): boolean {
  const told = new Map(storedStatistics(writer).map(({ idx, stat }) => [idx, stat]))
  const news = indexesOf(writer)
    .map((index) => ({ ...index, stat: statisticsOf(index) }))
    .filter(({ name, stat }) => told.get(name) !== stat)
  if (news.length === 0) return false
  // Makes the table of statistics, if there is none yet.
  learnStatistics(writer)
  writer.exec('SAVEPOINT statistics')
  try {
    const forget = writer.prepare('DELETE FROM sqlite_stat1 WHERE idx = ?')
    const tell = writer.prepare('INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)')
    for (const { table, name, stat } of news) {
      forget.run(name)
      tell.run(table, name, stat)
    }
    writer.exec('RELEASE statistics')
  } catch (error) {
    writer.exec('ROLLBACK TO statistics; RELEASE statistics')
    throw error
  }
  learnStatistics(writer)
  return true
}

function storedStatistics(writer: DatabaseSync): { idx: string; stat: string }[] {
  if (!writer.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'").get()) return []
  return writer.prepare('SELECT idx, stat FROM sqlite_stat1').all() as { idx: string; stat: string }[]
}

/** Makes a connection that is open take what stands in the table of statistics; one that is opened later does so anyway. */
export function learnStatistics(connection: DatabaseSync): void {
  connection.exec('ANALYZE sqlite_schema')
}

function indexesOf(writer: DatabaseSync): Index[] {
  return writer
    .prepare(
      `SELECT tables.name AS "table", indexes.name, indexes."unique" AS isUnique, indexes.partial AS isPartial,
         (SELECT count(*) FROM pragma_index_info(indexes.name)) AS columns,
         (SELECT name FROM pragma_index_info(indexes.name) WHERE seqno = 0) AS first
       FROM sqlite_schema AS tables, pragma_index_list(tables.name) AS indexes
       WHERE tables.type = 'table' AND tables.sql NOT LIKE 'CREATE VIRTUAL%'`,
    )
    .all() as unknown as Index[]
}

/** How many rows there are, and how many have the same first column, the same first two, and so on. */
function statisticsOf({ isUnique, isPartial, columns, first }: Index): string {
  const share = isPartial ? shareOfPartialIndex : 1
  const rowsOfFirst = (first === 'app_id' ? rowsOfApp : rowsOfTable / shareOfNextColumn) / share
  const rows = Array.from({ length: columns }, (_, n) => {
    const left = Math.max(2, Math.round(rowsOfFirst / shareOfNextColumn ** n))
    return isUnique && n === columns - 1 ? 1 : left
  })
  return [rowsOfTable / share, ...rows, 'noskipscan'].join(' ')
}
