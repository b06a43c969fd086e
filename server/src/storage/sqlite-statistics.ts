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

export function describeTables(writer: DatabaseSync): void {
  // Makes the table of statistics, if there is none yet; on a new file there is nothing to count.
  writer.exec('ANALYZE sqlite_schema')
  const known = new Set(
    writer
      .prepare('SELECT idx FROM sqlite_stat1')
      .all()
      .map(({ idx }) => idx),
  )
  const indexes = indexesOf(writer).filter(({ name }) => !known.has(name))
  if (indexes.length === 0) return
  const put = writer.prepare('INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)')
  writer.exec('BEGIN IMMEDIATE')
  for (const index of indexes) put.run(index.table, index.name, statisticsOf(index))
  writer.exec('COMMIT')
  learnStatistics(writer)
}

/** Makes a connection take what stands in the table of statistics. */
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
