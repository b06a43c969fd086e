import { mkdirSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type Kysely, SqliteAdapter, SqliteQueryCompiler, sql } from 'kysely'
import { type Connection, connectionOver, type Flavour, keptByApp, type Outcome } from './connection.ts'
import type { Database } from './database.ts'
import { createGroupCommit } from './group-commit.ts'
import { letOthersIn, readInTurns, writeInTurns } from './in-turns.ts'
import { gramsOf, markSeparator, type WantedEntry, type WantedGrams } from './search.ts'
import { asObjects, openFile, statementsOn } from './sqlite-file.ts'
import { createReaders } from './sqlite-readers.ts'
import { describeTables, learnStatistics } from './sqlite-statistics.ts'
import type { EventRow, Tables } from './tables.ts'
import { DatabaseUnavailable, untold, watchTrouble } from './unavailable.ts'

const flavour: Flavour = {
  rowAddress: 'rowid',
  // There is one writer at a time anyway.
  holdRows: sql``,
  takeRows: sql``,
  keepRows: sql``,
  // The join is crossed because that fixes its order: grams first, never all entries of the app.
  entriesWithGrams: (appId, list, wanted) => sql`
    FROM search_grams CROSS JOIN search_entries ON search_entries.row_address = search_grams.rowid
    WHERE search_grams MATCH ${entryQuery(appId, list, wanted)}
    AND search_entries.app_id = ${appId} AND search_entries.list = ${list}`,
  gramHits: (appId, list, wanted) => sql`
    FROM search_grams WHERE search_grams MATCH ${entryQuery(appId, list, wanted)}`,
  gramsInOrder: true,
  entryOrder: { ofHit: sql`search_grams.rowid`, ofEntry: sql`search_entries.row_address` },
  // A crossed join is never turned round.
  lookUpEach: (hits, table, match) => sql`FROM ${sql.table(hits)} CROSS JOIN ${sql.table(table)} WHERE ${match}`,
  // Of two columns that are compared together, only the first would be looked up.
  lastUpTo: ([first, value], [second, upTo]) => sql`${sql.ref(first)} = ${value} AND ${sql.ref(second)} <= ${upTo}
    ORDER BY ${sql.ref(second)} DESC LIMIT 1`,
  // There is one writer at a time.
  settledId: async () => undefined,
  async takeId(run, table) {
    const { rows } = await run('UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = ? RETURNING seq AS id', [table])
    return (rows as [{ id: number }])[0].id
  },
  // Plans do not depend on values here.
  planEachTime: sql``,
  runsInThread: true,
  createAdapter: () => new SqliteAdapter(),
  createQueryCompiler: () => new SqliteQueryCompiler(),
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

/** Brings the index up to what a transaction has changed: entry by entry, since a long text alone takes some milliseconds. */
function gramIndexing(writer: DatabaseSync): () => Promise<void> {
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

const rowsPerScan = 1_000
const constraintPrimaryKey = 1555
const constraintUnique = 2067

/** Where the embedded database lives in the data folder. */
export const sqliteFile = 'parley.sqlite'

/**
 * Takes a folder for one server; nothing, if another has it. The lock is the operating system's, on a file of its own, so
 * it ends with the process however that ends.
 */
export function lockFolder(folder: string): (() => void) | undefined {
  const lock = new DatabaseSync(join(folder, 'server.lock'))
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return () => lock.close()
  } catch {
    lock.close()
    return undefined
  }
}

// Less is used up by a few commits.
const roomBytesMin = 8_000_000
// After a commit it is known for so long that one can be made.
const commitKnownMilliseconds = 2_000

/** The embedded database: one file, one writer, readers that never wait for it. */
export function openSqlite(file: string, listener = untold): Database {
  mkdirSync(dirname(file), { recursive: true })
  const writer = openToWrite(file)
  const reader = openFile(file)
  // A commit that many share changes pages all over the indexes; those that do not fit would be written and read twice.
  writer.exec('PRAGMA cache_size = -64000')
  const wakeListeners: (() => void)[] = []
  const readers = createReaders(file, { whenAtRest: () => reader.exec('PRAGMA wal_checkpoint(PASSIVE)') })

  const readRows = statements(reader)
  const connectionsOfApps = keptByApp((whose) => connectionOver(flavour, readInTurns(readRows, whose)))
  const trouble = watchTrouble(listener)
  const transactions = transactionsOn(writer)
  let committedAt = Number.NEGATIVE_INFINITY
  const write = createGroupCommit({
    ...transactions,
    async commit() {
      await transactions.commit()
      committedAt = performance.now()
      trouble.passed()
    },
    connection: connectionOver(flavour, writeInTurns(statements(writer))),
    explained(error) {
      if (!takesNoWrites(error)) return error
      trouble.met(error, true)
      return new DatabaseUnavailable(error)
    },
  })

  return {
    reader: connectionOver(flavour, readInTurns(readRows)),
    read: (work, whose) => work(connectionsOfApps(whose)),
    readLong: (work, signal) => readers.lend((run) => work(connectionOver(flavour, run)), signal),
    write,
    async writeAlone(work) {
      // A migration or a restore may change all there is; what its savepoint keeps then is no matter of memory.
      if (!writer.isTransaction) writer.exec('PRAGMA temp_store = FILE')
      try {
        return await write(work)
      } finally {
        if (!writer.isTransaction) writer.exec('PRAGMA temp_store = MEMORY')
      }
    },
    snapshot: (work) => withSnapshot(file, work),
    async check() {
      const lasting = trouble.lasting()
      if (lasting !== undefined) throw new DatabaseUnavailable(lasting)
      if (roomFor(file) < roomBytesMin) throw new DatabaseUnavailable('there is hardly any room left on its disk')
      const isKnown = performance.now() - committedAt < commitKnownMilliseconds
      if (!isKnown) await write(({ query }) => noteProbe(query))
    },
    async scan({ run }, table, take) {
      let last = 0
      for (;;) {
        const { rows } = await run(
          `SELECT rowid AS row_address, * FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${rowsPerScan}`,
          [last],
        )
        const batch = rows as { row_address: number }[]
        if (batch.length === 0) return
        last = batch.at(-1)?.row_address ?? last
        await take(batch.map(({ row_address: _, ...row }) => row))
      }
    },
    async eventsAfter({ id }, limit) {
      return readRows('SELECT * FROM events WHERE id > ? ORDER BY id LIMIT ?', [id, limit]).rows as EventRow[]
    },
    // One server at a time, so whoever held a claim is gone.
    releaseClaims: () =>
      write(async ({ run }) => void (await run('UPDATE jobs SET locked_until = 0 WHERE locked_until > 0', []))),
    // One process, so there is nobody to share with.
    claimLease: async () => true,
    releaseLeases: async () => {},
    numbered: (table) => table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement()),
    // An explicit number moves the counter by itself.
    renumber: async () => {},
    showIdsUnderWay: async () => {},
    async createLog(schema: Kysely<Tables>) {
      await schema.schema
        .createTable('events')
        .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('tx', 'integer', (column) => column.notNull().defaultTo(sql`0`))
        .addColumn('app_id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('payload', 'text', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .execute()
    },
    async createSearch({ schema }) {
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
    },
    async rewriteSearch(_schema, change) {
      writer.exec(`DROP TRIGGER search_entries_added; DROP TRIGGER search_entries_removed;
        DROP TRIGGER search_entries_changed; DROP TABLE search_changes; DROP TABLE search_grams`)
      await change()
      writer.exec(gramIndex)
      fillGrams(writer)
    },
    async describeTables() {
      if (describeTables(writer)) learnStatistics(reader)
    },
    isDuplicate: (error) =>
      error instanceof Error &&
      'errcode' in error &&
      (error.errcode === constraintUnique || error.errcode === constraintPrimaryKey),
    wake: () => {
      for (const listener of wakeListeners) listener()
    },
    onWake: (listener) => void wakeListeners.push(listener),
    async close() {
      await readers.close()
      reader.close()
      writer.close()
    },
  }
}

// The primary codes of what happens when the disk is full, read-only, or broken.
const unwritable = new Set([8, 10, 13, 14])

function takesNoWrites(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && unwritable.has(Number(error.errcode) & 0xff)
}

function roomFor(file: string): number {
  const { bavail, bsize } = statfsSync(dirname(file))
  return bavail * bsize
}

/** A commit that changes nothing for anybody: nothing else tells whether one can be made. */
async function noteProbe(query: Kysely<Tables>): Promise<void> {
  const probe = { name: 'readiness', holder: 'probe', expires_at: Math.floor(Date.now() / 1000) }
  await query
    .insertInto('leases')
    .values(probe)
    .onConflict((conflict) => conflict.column('name').doUpdateSet(probe))
    .execute()
}

/** The connections that may write; only they keep the index on grams. */
function openToWrite(file: string): DatabaseSync {
  const database = openFile(file)
  database.function('entry_tokens', { deterministic: true }, (appId, list, text, marks) =>
    entryTokens(String(appId), String(list), String(text), String(marks)),
  )
  return database
}

async function withSnapshot<T>(file: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  const database = openFile(file)
  try {
    database.exec('BEGIN')
    return await work(connectionOver(flavour, statements(database)))
  } finally {
    database.close()
  }
}

function transactionsOn(writer: DatabaseSync) {
  const statement = (text: string) => {
    const prepared = writer.prepare(text)
    return () => void prepared.run()
  }
  const index = gramIndexing(writer)
  const commit = statement('COMMIT')
  return {
    begin: statement('BEGIN IMMEDIATE'),
    savepoint: statement('SAVEPOINT one'),
    release: statement('RELEASE one'),
    undo: () => writer.exec('ROLLBACK TO one; RELEASE one'),
    commit: async () => {
      await index()
      commit()
    },
    rollback: () => writer.isOpen && writer.isTransaction && writer.exec('ROLLBACK'),
  }
}

function statements(database: DatabaseSync): (text: string, parameters: readonly unknown[]) => Outcome {
  const run = statementsOn(database)
  return (text, parameters) => {
    const { columns, rows, changes } = run(text, parameters)
    return { rows: asObjects(columns, rows), changes }
  }
}
