import { constants, DatabaseSync, type StatementSync } from 'node:sqlite'

/** The file of the embedded database, opened the same way in the server and in its reader processes. */

export const busyMilliseconds = 5_000

export function openFile(file: string, { readOnly = false } = {}): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly, timeout: busyMilliseconds })
  // The built-in lower() knows ASCII only; names are in any script.
  database.function('lower', { deterministic: true }, (text) => (typeof text === 'string' ? text.toLowerCase() : text))
  // As on the other database, LIKE takes letters as they are.
  database.exec('PRAGMA case_sensitive_like = ON')
  database.function(
    'split_part',
    { deterministic: true },
    (text, separator, n) =>
      String(text)
        .split(String(separator))
        .at(Number(n) - 1) ?? '',
  )
  // Every savepoint keeps pages as they were before it; in a temporary file that costs a third more for each write.
  database.exec('PRAGMA temp_store = MEMORY')
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16000')
  return database
}

/** What a statement answered, as the driver gives it. `columns` is empty where a statement answers no rows. */
export interface RawOutcome {
  columns: string[]
  rows: unknown[][]
  changes: number
}

interface Prepared {
  statement: StatementSync
  columns: string[]
  /** The tables that it asked for leave to read, and to write. */
  reads: readonly string[]
  writes: readonly string[]
}

export interface Statements {
  run(text: string, parameters: readonly unknown[]): RawOutcome
  /** Which tables a statement reads; for the few that are remembered. */
  reads(text: string): readonly string[]
  /** Which tables it writes, also by triggers; known for certain once it has run. */
  writes(text: string): readonly string[]
}

// Statement texts come from code, not from callers, so this is reached only by lists of varying length.
const preparedMax = 1_000

/** Prepares each text once per connection and keeps it: preparing costs more than most statements. */
export function statementsOn(database: DatabaseSync): Statements {
  const prepared = new Map<string, Prepared>()
  const readBy = new Map<string, readonly string[]>()
  const asked = notingLeave(database)

  function prepare(text: string): Prepared {
    for (const tables of [asked.reads, asked.writes]) tables.clear()
    const statement = database.prepare(text)
    statement.setReturnArrays(true)
    const columns = statement.columns().map(({ name }) => name)
    return { statement, columns, reads: [...asked.reads], writes: [...asked.writes] }
  }

  function preparedOf(text: string): Prepared {
    const known = prepared.get(text)
    if (known) return known
    const entry = prepare(text)
    if (prepared.size >= preparedMax) prepared.clear()
    prepared.set(text, entry)
    return entry
  }

  return {
    run(text, parameters) {
      const entry = preparedOf(text)
      asked.writes.clear()
      try {
        return answerOf(entry, parameters)
      } finally {
        // Where the schema has changed, such as by a new trigger, it was prepared anew.
        if (asked.writes.size > 0) entry.writes = [...asked.writes]
      }
    },
    reads(text) {
      const known = readBy.get(text)
      if (known) return known
      const tables = [...new Set([...preparedOf(text).reads, ...tablesOpened(database, text)])]
      readBy.set(text, tables)
      return tables
    },
    writes: (text) => preparedOf(text).writes,
  }
}

function answerOf({ statement, columns }: Prepared, parameters: readonly unknown[]): RawOutcome {
  const values = parameters as (string | number | null)[]
  if (columns.length === 0) return { columns, rows: [], changes: Number(statement.run(...values).changes) }
  const rows = statement.all(...values) as unknown as unknown[][]
  return { columns, rows, changes: rows.length }
}

const writing: number[] = [constants.SQLITE_INSERT, constants.SQLITE_UPDATE, constants.SQLITE_DELETE]

/** The database asks for leave to touch each table while it prepares a statement; it is given, and noted. */
function notingLeave(database: DatabaseSync): { reads: Set<string>; writes: Set<string> } {
  const reads = new Set<string>()
  const writes = new Set<string>()
  database.setAuthorizer((action, table) => {
    if (table !== null && action === constants.SQLITE_READ) reads.add(table)
    if (table !== null && writing.includes(action)) writes.add(table)
    return constants.SQLITE_OK
  })
  return { reads, writes }
}

/**
 * The tables that the program of a statement opens, by themselves or by an index. What is joined by columns of the same name
 * is read without asking for leave; what is no part of the file, such as a list of values, is asked for only.
 */
function tablesOpened(database: DatabaseSync, text: string): string[] {
  const tableAt = database.prepare('SELECT tbl_name FROM sqlite_schema WHERE rootpage = ?')
  return database
    .prepare(`EXPLAIN ${text}`)
    .all()
    .filter(({ opcode }) => opcode === 'OpenRead')
    .flatMap(({ p2: rootPage }) => tableAt.all(Number(rootPage)).map(({ tbl_name }) => String(tbl_name)))
}

/** The driver's own row objects are dictionaries, which cost a third more to make and are slow to read. */
export function asObjects(columns: string[], rows: unknown[][]): object[] {
  return rows.map((values) => {
    const row: Record<string, unknown> = {}
    for (let n = 0; n < columns.length; n += 1) row[columns[n] as string] = values[n]
    return row
  })
}
