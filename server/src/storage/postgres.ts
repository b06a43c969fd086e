import { randomUUID } from 'node:crypto'
import { type Kysely, PostgresAdapter, PostgresQueryCompiler, sql } from 'kysely'
import { type Connection, connectionOver, keptByApp, type RunStatement } from './connection.ts'
import type { Database } from './database.ts'
import type { Flavour } from './flavour.ts'
import { allHints, createListeners, type Hint, notingHints } from './hints.ts'
import { settledId, settledNow, showIdsUnderWay, takeId } from './ids-under-way.ts'
import { shareConnections } from './places.ts'
import { connectMilliseconds, openPool, type Pool, planEachTime, type WorkInTransaction } from './postgres-pool.ts'
import { createSearch, rewriteSearch, searchIndex } from './postgres-search.ts'
import { connectNodes } from './postgres-wake.ts'
import { createShares } from './shares.ts'
import type { EventRow, Tables } from './tables.ts'
import { codeOf, DatabaseUnavailable, type TroubleListener, untold, watchTrouble } from './unavailable.ts'

const flavour: Flavour = {
  rowAddress: 'ctid',
  rowLocks: {
    holdRows: sql`FOR NO KEY UPDATE`,
    takeRows: sql`FOR NO KEY UPDATE SKIP LOCKED`,
    keepRows: sql`FOR KEY SHARE`,
  },
  eachOf: (texts) => sql`SELECT json_array_elements_text(CAST(${JSON.stringify(texts)} AS json))`,
  allAsText: (values) => sql`coalesce(json_agg(json_build_array(${values}))::text, '[]')`,
  searchIndex,
  plans: {
    // OFFSET 0 keeps the subquery from becoming a join that could be turned round.
    lookUpEach: (hits, table, match) => sql`
      FROM ${sql.table(hits)} CROSS JOIN LATERAL (SELECT * FROM ${sql.table(table)} WHERE ${match} OFFSET 0)
      AS ${sql.table(table)} WHERE 1 = 1`,
    // With the first column fixed, the second alone would make the order, and the table has another index for that.
    lastOfIndexUpTo: ([first, value], [second, upTo]) => sql`
      (${sql.ref(first)}, ${sql.ref(second)}) <= (${value}, ${upTo})
      ORDER BY ${sql.ref(first)} DESC, ${sql.ref(second)} DESC LIMIT 1`,
    plannedForValues: sql.raw(planEachTime),
  },
  settledId,
  takeId,
  runsInThread: false,
  writesInTurn: false,
  createAdapter: () => new PostgresAdapter(),
  createQueryCompiler: () => new PostgresQueryCompiler(),
}

const statementMilliseconds = 60_000
const rowsPerScan = 1_000
/** Any number will do, as long as every node of this install uses the same. */
const aloneLock = 7_275_539
const lookAgainMilliseconds = 25
const uniqueViolation = '23505'

/** Where it matters in which order rows are written again: an index may find them in that order (`entryOrder`). */
const scanOrder: Partial<Record<keyof Tables, string>> = {
  events: 'ORDER BY id',
  search_entries: 'ORDER BY app_id, list, at',
}

/**
 * Readers went by (transaction, id), and ids could occur twice after a restore. All events are numbered anew in the order
 * in which readers came to them, with ids that no event has had yet, and each follower stands after as many of them as it
 * had read. The locks wait for whoever is still writing to the log, so none of its events is left out.
 */
const orderById = [
  'LOCK TABLE followers, events IN ACCESS EXCLUSIVE MODE',
  `CREATE TEMPORARY TABLE log_before ON COMMIT DROP AS
    SELECT greatest(events_id_seq.last_value, (SELECT max(events.id) FROM events)) AS last_id FROM events_id_seq`,
  `UPDATE followers SET id = (SELECT last_id FROM log_before) +
    (SELECT count(*) FROM events WHERE (events.tx, events.id) <= (followers.tx, followers.id))`,
  `UPDATE events SET id = (SELECT last_id FROM log_before) + place.n
    FROM (SELECT tx, id, row_number() OVER (ORDER BY tx, id) AS n FROM events) AS place
    WHERE events.tx = place.tx AND events.id = place.id`,
  'ALTER TABLE events DROP CONSTRAINT events_position, DROP COLUMN tx, ADD CONSTRAINT events_key PRIMARY KEY (id)',
  'ALTER TABLE followers DROP COLUMN tx',
  // Not only after the events that are there: a follower may stand behind the last of a log that was trimmed.
  `SELECT setval('events_id_seq', greatest((SELECT last_id FROM log_before), (SELECT max(id) FROM events)) + 1, false)`,
  'CREATE INDEX events_of_app ON events (app_id, id)',
]

/** Reads that may take long have connections of their own, or they would use up everybody's. */
export interface LongReadOptions {
  connectionsMax: number
  /** After how long PostgreSQL ends a statement by itself, at the latest a second later. */
  seconds: number
}

/** The scaled database. Transactions are run again when PostgreSQL asks for it, or was lost before they could commit. */
export function openPostgres(
  url: string,
  connectionsMax: number,
  listener: TroubleListener,
  longReads: LongReadOptions,
): Database {
  const trouble = watchTrouble(listener)
  const pool = openPool(url, { name: 'parley', connectionsMax, statementMilliseconds, trouble })
  const longPool = openPool(url, {
    name: 'parley',
    connectionsMax: longReads.connectionsMax,
    statementMilliseconds: (longReads.seconds + 1) * 1_000,
    // That all of them are in use is no trouble of the database.
    trouble: watchTrouble(untold),
  })
  const inPlace = shareConnections({ count: connectionsMax, patienceMilliseconds: connectMilliseconds })
  const partOf = (part: number) => Math.max(1, Math.floor(connectionsMax * part))
  // Whatever one app writes, half of the connections are left to others.
  const writesInShare = createShares(partOf(0.5))
  const readFor =
    (whose: string | undefined): RunStatement =>
    (text, parameters) =>
      inPlace(whose, async () => pool.read(text, parameters))
  const connectionsOfApps = keptByApp((whose) => connectionOver(flavour, readFor(whose)))
  const listeners = createListeners()
  const otherNodes = connectNodes(url, pool.read, listeners.tell)
  let lookTimer: NodeJS.Timeout | undefined

  /** Of events under way that are undone nobody tells, and those behind them would wait until somebody looks by chance. */
  function lookAgain(): void {
    lookTimer ??= setTimeout(() => {
      lookTimer = undefined
      listeners.tell(['events'])
    }, lookAgainMilliseconds).unref()
  }

  function wake(hints: Iterable<Hint>): void {
    listeners.tell(hints)
    otherNodes.tell(hints)
  }

  const onConnection =
    <T>(work: (connection: Connection) => Promise<T>) =>
    (run: RunStatement) =>
      work(connectionOver(flavour, run))

  /** Writes in one of the pool's ways, and tells what that has left. */
  async function write<T>(way: Pool['write'], work: WorkInTransaction<T>): Promise<T> {
    const hints = new Set<Hint>()
    const value = await way((run) => work(notingHints(run, hints)))
    wake(hints)
    return value
  }

  return {
    reader: connectionOver(flavour, readFor(undefined)),
    read: (work, whose) => work(connectionsOfApps(whose)),
    readLong: (work, signal) => work(connectionOver(flavour, runUntil(signal, longPool.read, pool.read))),
    write: (work, whose) => writesInShare(whose, () => inPlace(whose, () => write(pool.write, onConnection(work)))),
    writeAlone: (work) =>
      write(pool.writeAtLeisure, async (run) => {
        await run('SELECT pg_advisory_xact_lock($1)', [aloneLock])
        return onConnection(work)(run)
      }),
    snapshot: (work) => pool.snapshot(onConnection(work)),
    async check() {
      const { rows } = await pool.read(`SELECT current_setting('transaction_read_only') AS "readOnly"`, [])
      if ((rows as { readOnly: string }[])[0]?.readOnly === 'on') {
        throw new DatabaseUnavailable('it takes no writes, because another server has taken over or it is set so')
      }
      const lasting = trouble.lasting()
      if (lasting !== undefined) throw new DatabaseUnavailable(lasting)
    },
    async scan({ run }, table, take) {
      const order = scanOrder[table] ?? ''
      await run(`DECLARE scan_${table} NO SCROLL CURSOR FOR SELECT * FROM ${table} ${order}`, [])
      for (;;) {
        const { rows } = await run(`FETCH ${rowsPerScan} FROM scan_${table}`, [])
        if (rows.length === 0) break
        await take(rows as Record<string, unknown>[])
      }
      await run(`CLOSE scan_${table}`, [])
    },
    async eventsAfter(position, limit) {
      const { settled, given } = await settledNow(pool.read, 'events')
      if (given < position) throw new Error('The database was set back: its log ends before what was read of it.')
      if (settled < given) lookAgain()
      if (settled <= position) return []
      const { rows } = await pool.read('SELECT * FROM events WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3', [
        ...[position, settled, limit],
      ])
      return rows as EventRow[]
    },
    async logEnd() {
      // Of an event that is there, never the last id given out: after a crash the database may give that out again.
      const { rows } = await pool.read('SELECT coalesce(max(id), 0) AS id FROM events WHERE id <= $1', [
        (await settledNow(pool.read, 'events')).settled,
      ])
      return (rows as [{ id: number }])[0].id
    },
    // Other nodes may hold claims; those of a dead one run out by themselves.
    releaseClaims: async () => {},
    async claimLeases(names, holder, now, expiresAt) {
      // Those that others hold are only looked at: nobody's row is locked by nodes that wait.
      const { rows } = await pool.write(async (run) =>
        run(
          `INSERT INTO leases (name, holder, expires_at)
           SELECT wanted.name, $2, $3 FROM unnest($1::text[]) AS wanted (name)
           WHERE NOT EXISTS (SELECT 1 FROM leases WHERE leases.name = wanted.name AND holder != $2 AND expires_at > $4)
           ORDER BY wanted.name
           ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
           WHERE leases.holder = excluded.holder OR leases.expires_at <= $4
           RETURNING name`,
          [names, holder, expiresAt, now],
        ),
      )
      return (rows as { name: string }[]).map(({ name }) => name)
    },
    releaseLeases: (holder) =>
      pool.write(async (run) => void (await run('DELETE FROM leases WHERE holder = $1', [holder]))),
    numbered: (table) =>
      table.addColumn('id', 'bigint', (column) => column.primaryKey().generatedByDefaultAsIdentity()),
    async renumber({ run }, table, past = 0) {
      await run(
        `SELECT setval(pg_get_serial_sequence('${table}', 'id'), greatest(max(id), $1::bigint) + 1, false) FROM ${table}`,
        [past],
      )
    },
    showIdsUnderWay,
    async createLog(schema: Kysely<Tables>) {
      await schema.schema
        .createTable('events')
        .addColumn('tx', 'bigint', (column) => column.notNull().defaultTo(sql`pg_current_xact_id()::text::bigint`))
        .addColumn('id', 'bigint', (column) => column.notNull().generatedByDefaultAsIdentity())
        .addColumn('app_id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('payload', 'text', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('events_position', ['tx', 'id'])
        .execute()
    },
    async orderLogById(schema) {
      for (const step of orderById) await sql.raw(step).execute(schema)
      await showIdsUnderWay(schema, 'events')
    },
    createSearch,
    rewriteSearch,
    // It counts for itself, in the background.
    describeTables: async () => {},
    isDuplicate: (error) => codeOf(error) === uniqueViolation,
    wake: () => wake(allHints),
    onWake(hint, listener) {
      otherNodes.listen()
      return listeners.add(hint, listener)
    },
    async close() {
      clearTimeout(lookTimer)
      await otherNodes.stop()
      await Promise.all([pool.close(), longPool.close()])
    },
  }
}

/**
 * Statements until a signal is given: then the one under way is cancelled, on a connection that is not used up by such
 * statements, and none is begun any more. It is found by the mark that it begins with.
 */
function runUntil(signal: AbortSignal, runLong: RunStatement, run: RunStatement): RunStatement {
  const mark = `${planEachTime}/* long read ${randomUUID()} */ `
  const cancel = async () => {
    await run(
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE state = 'active' AND position($1 IN query) = 1`,
      [mark],
    )
  }
  // Where that fails, the statement ends by its time-out.
  signal.addEventListener('abort', () => void cancel().catch(() => {}))
  return async (text, parameters) => {
    signal.throwIfAborted()
    try {
      return await runLong(mark + text, parameters)
    } catch (error) {
      signal.throwIfAborted()
      throw error
    }
  }
}
