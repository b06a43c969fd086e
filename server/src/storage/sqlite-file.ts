import { DatabaseSync, type StatementSync } from 'node:sqlite'

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
}

// Statement texts come from code, not from callers, so this is reached only by lists of varying length.
const preparedMax = 1_000

/** Prepares each text once per connection and keeps it: preparing costs more than most statements. */
export function statementsOn(database: DatabaseSync): (text: string, parameters: readonly unknown[]) => RawOutcome {
  const prepared = new Map<string, Prepared>()
  return (text, parameters) => {
    let entry = prepared.get(text)
    if (!entry) {
      entry = prepare(database, text)
      if (prepared.size >= preparedMax) prepared.clear()
      prepared.set(text, entry)
    }
    const { statement, columns } = entry
    const values = parameters as (string | number | null)[]
    if (columns.length === 0) return { columns, rows: [], changes: Number(statement.run(...values).changes) }
    const rows = statement.all(...values) as unknown as unknown[][]
    return { columns, rows, changes: rows.length }
  }
}

function prepare(database: DatabaseSync, text: string): Prepared {
  const statement = database.prepare(text)
  statement.setReturnArrays(true)
  return { statement, columns: statement.columns().map(({ name }) => name) }
}

/** The driver's own row objects are dictionaries, which cost a third more to make and are slow to read. */
export function asObjects(columns: string[], rows: unknown[][]): object[] {
  return rows.map((values) => {
    const row: Record<string, unknown> = {}
    for (let n = 0; n < columns.length; n += 1) row[columns[n] as string] = values[n]
    return row
  })
}
