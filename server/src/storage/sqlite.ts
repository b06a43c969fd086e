import { mkdirSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Kysely, SqliteAdapter, SqliteQueryCompiler, sql } from 'kysely'
import { type Connection, connectionOver, keptByApp, type Remembering, type StatementOutcome } from './connection.ts'
import type { Database } from './database.ts'
import type { Flavour } from './flavour.ts'
import { createGroupCommit } from './group-commit.ts'
import { allHints, createListeners, gatherHints, notingHints } from './hints.ts'
import { readInTurns, writeInTurns } from './in-turns.ts'
import { createCheckpoints } from './sqlite-checkpoints.ts'
import { makeDurable, type SyncFile } from './sqlite-durability.ts'
import { asObjects, openFile, type Statements, statementsOn } from './sqlite-file.ts'
import { createMemory, type Memory, watchForOthers } from './sqlite-memory.ts'
import { createReaders } from './sqlite-readers.ts'
import { createSearch, gramIndexing, rewriteSearch, searchIndex, teachGrams } from './sqlite-search.ts'
import { describeTables, learnStatistics } from './sqlite-statistics.ts'
import type { EventRow, Tables } from './tables.ts'
import { DatabaseUnavailable, untold, watchTrouble } from './unavailable.ts'

const flavour: Flavour = {
  rowAddress: 'rowid',
  // There is one writer at a time anyway.
  rowLocks: { holdRows: sql``, takeRows: sql``, keepRows: sql`` },
  eachOf: (texts) => sql`SELECT value FROM json_each(${JSON.stringify(texts)})`,
  allAsText: (values) => sql`json_group_array(json_array(${values}))`,
  searchIndex,
  plans: {
    // A crossed join is never turned round.
    lookUpEach: (hits, table, match) => sql`FROM ${sql.table(hits)} CROSS JOIN ${sql.table(table)} WHERE ${match}`,
    // Of two columns that are compared together, only the first would be looked up.
    lastOfIndexUpTo: (
      [first, value],
      [second, upTo],
    ) => sql`${sql.ref(first)} = ${value} AND ${sql.ref(second)} <= ${upTo}
      ORDER BY ${sql.ref(second)} DESC LIMIT 1`,
    // Plans do not depend on values here.
    plannedForValues: sql``,
  },
  // There is one writer at a time, so whatever is there is settled. A list takes several statements, though, and what is
  // written between them is left to the next.
  async settledId(run, table) {
    const { rows } = await run('SELECT seq AS id FROM sqlite_sequence WHERE name = ?', [table])
    return (rows as { id: number }[])[0]?.id ?? 0
  },
  async takeId(run, table) {
    const { rows } = await run('UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = ? RETURNING seq AS id', [table])
    return (rows as [{ id: number }])[0].id
  },
  runsInThread: true,
  writesInTurn: true,
  createAdapter: () => new SqliteAdapter(),
  createQueryCompiler: () => new SqliteQueryCompiler(),
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
export function openSqlite(file: string, listener = untold, syncFile?: SyncFile): Database {
  mkdirSync(dirname(file), { recursive: true })
  const writer = openToWrite(file)
  const durability = makeDurable(writer, file, syncFile)
  const checkpoints = createCheckpoints(writer, file)
  const reader = openFile(file)
  // A commit that many share changes pages all over the indexes; those that do not fit would be written and read twice.
  writer.exec('PRAGMA cache_size = -64000')
  const listeners = createListeners()
  const hints = gatherHints(listeners.tell)
  const readers = createReaders(file, { whenAtRest: () => reader.exec('PRAGMA wal_checkpoint(PASSIVE)') })

  const memory = createMemory()
  const othersHaveWritten = watchForOthers(writer)
  const mindOthers = (forCertain = false) => void (othersHaveWritten(forCertain) && memory.forgetAll())
  const [reading, writing] = [statementsOn(reader), statementsOn(writer)]
  const readRows = statements(reading)
  // What the two connections read is compared by the same tables.
  const recallRead = remembering(memory, writing, mindOthers)
  const connectionsOfApps = keptByApp((whose) => connectionOver(flavour, readInTurns(readRows, whose), recallRead))
  const trouble = watchTrouble(listener)
  const transactions = transactionsOn(writer)
  const readWritten = statements(writing)
  /** After a commit its pages are at hand for whoever wrote them, and new to everybody else. */
  const readLog: typeof readRows = (text, parameters) =>
    writer.isTransaction ? readRows(text, parameters) : readWritten(text, parameters)
  /** Where the log ends as others see it. */
  const readLogEnd = () => (readLog('SELECT coalesce(max(id), 0) AS id FROM events', []).rows as [{ id: number }])[0].id
  const hasLog = onceTrue(() => writer.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'events'").get() !== undefined)
  /** Nobody is told of an event after this one: it is being written, or may not be on disk yet. */
  let durableEnd = Number.POSITIVE_INFINITY
  let committedAt = Number.NEGATIVE_INFINITY
  const write = createGroupCommit({
    ...transactions,
    begin() {
      durability.demand()
      if (hasLog()) durableEnd = readLogEnd()
      transactions.begin()
      mindOthers(true)
    },
    async commit() {
      await transactions.commit()
      memory.settled()
      await durability.sync()
      durableEnd = Number.POSITIVE_INFINITY
      checkpoints.committed()
      committedAt = performance.now()
      trouble.passed()
    },
    rollback() {
      // What a commit held that nobody knows to be durable stays untold.
      if (!durability.hasFailed()) durableEnd = Number.POSITIVE_INFINITY
      transactions.rollback()
      memory.settled()
    },
    ended: hints.ended,
    isAtRest: hints.isAtRest,
    connection: connectionOver(
      flavour,
      notingHints(writeInTurns(notingWrites(memory, writing)), hints.noted),
      remembering(memory, writing, () => {}),
    ),
    explained(error) {
      const unavailable = unavailableBy(error)
      if (!unavailable) return error
      trouble.met(unavailable.cause, true)
      return unavailable
    },
  })

  return {
    reader: connectionOver(flavour, readInTurns(readRows), recallRead),
    read: (work, whose) => work(connectionsOfApps(whose)),
    readLong: (work, signal) => readers.lend((run) => work(connectionOver(flavour, run)), signal),
    write,
    async writeAlone(work) {
      // A migration or a restore may change all there is; what its savepoint keeps then is no matter of memory.
      if (!writer.isTransaction) writer.exec('PRAGMA temp_store = FILE')
      try {
        return await write(work)
      } finally {
        memory.forgetAll()
        if (!writer.isTransaction) writer.exec('PRAGMA temp_store = MEMORY')
      }
    },
    snapshot: (work) => withSnapshot(file, work),
    async check() {
      durability.demand()
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
    async eventsAfter(position, limit) {
      const { rows } = readLog('SELECT * FROM events WHERE id > ? ORDER BY id LIMIT ?', [position, limit])
      const events = rows as EventRow[]
      return (events.at(-1)?.id ?? 0) <= durableEnd ? events : events.filter(({ id }) => id <= durableEnd)
    },
    logEnd: async () => Math.min(readLogEnd(), durableEnd),
    // One server at a time, so whoever held a claim is gone.
    releaseClaims: () =>
      write(async ({ run }) => void (await run('UPDATE jobs SET locked_until = 0 WHERE locked_until > 0', []))),
    // One process, so there is nobody to share with.
    claimLeases: async (names) => names,
    releaseLeases: async () => {},
    numbered: (table) => table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement()),
    async renumber({ run }, table, past = 0) {
      // An explicit number moves the counter by itself; a table that never had a row has none.
      await run(
        'INSERT INTO sqlite_sequence (name, seq) SELECT ?, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?)',
        [table, table],
      )
      await run('UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?', [past, table])
    },
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
    // There is one writer, so ids always had the order of commits.
    async orderLogById({ schema }) {
      for (const table of ['events', 'followers']) await schema.alterTable(table).dropColumn('tx').execute()
      await schema.createIndex('events_of_app').on('events').columns(['app_id', 'id']).execute()
    },
    createSearch: (schema) => createSearch(schema, writer),
    rewriteSearch: (_schema, change) => rewriteSearch(writer, change),
    async describeTables() {
      if (await write(async () => describeTables(writer))) learnStatistics(reader)
    },
    isDuplicate: (error) =>
      error instanceof Error &&
      'errcode' in error &&
      (error.errcode === constraintUnique || error.errcode === constraintPrimaryKey),
    wake: () => listeners.tell(allHints),
    onWake: listeners.add,
    async close() {
      await Promise.all([readers.close(), checkpoints.close()])
      durability.close()
      reader.close()
      writer.close()
    },
  }
}

/** What is true once stays so, and is not asked again. */
function onceTrue(ask: () => boolean): () => boolean {
  let isTrue = false
  return () => {
    isTrue ||= ask()
    return isTrue
  }
}

// The primary codes of what happens when the disk is full, read-only, or broken.
const unwritable = new Set([8, 10, 13, 14])

function unavailableBy(error: unknown): DatabaseUnavailable | undefined {
  if (error instanceof DatabaseUnavailable) return error
  const isUnwritable = error instanceof Error && 'errcode' in error && unwritable.has(Number(error.errcode) & 0xff)
  return isUnwritable ? new DatabaseUnavailable(error) : undefined
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
  teachGrams(database)
  return database
}

async function withSnapshot<T>(file: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  const database = openFile(file)
  try {
    database.exec('BEGIN')
    return await work(connectionOver(flavour, statements(statementsOn(database))))
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

function statements({ run }: Statements): (text: string, parameters: readonly unknown[]) => StatementOutcome {
  return (text, parameters) => {
    const { columns, rows, changes } = run(text, parameters)
    return { rows: asObjects(columns, rows), changes }
  }
}

function notingWrites(memory: Memory, writing: Statements) {
  const run = statements(writing)
  return (text: string, parameters: readonly unknown[]) => {
    try {
      return run(text, parameters)
    } finally {
      memory.written(writing.writes(text))
    }
  }
}

/** `mindOthers` forgets what another process may have changed. */
function remembering(memory: Memory, { reads }: Statements, mindOthers: () => void): Remembering {
  return (run) => (text, parameters) => {
    mindOthers()
    // As it was before: whatever is written while this waits for its turn makes it outdated.
    const state = memory.stateOf(reads(text))
    const known = memory.recall(text, parameters, state)
    if (known) return known
    const keep = (outcome: StatementOutcome) => {
      memory.keep(text, parameters, state, outcome)
      return outcome
    }
    const outcome = run(text, parameters)
    return outcome instanceof Promise ? outcome.then(keep) : keep(outcome)
  }
}
