import type { CreateTableBuilder, Kysely } from 'kysely'
import type { Connection } from './connection.ts'
import type { Hint } from './hints.ts'
import type { EventRow, Tables } from './tables.ts'

/** Stands before every event of the log. A reader's position is the id of the last event that it has read. */
export const logStart = 0

export type Numbered = <Table extends string, Columns extends string>(
  table: CreateTableBuilder<Table, Columns>,
) => CreateTableBuilder<Table, Columns | 'id'>

/**
 * All that differs between the embedded and the scaled database. Everything above sees this and one query text.
 */
export interface Database {
  /** For reading; outside any transaction. What belongs to an app is read with `read`. */
  reader: Connection
  /** Runs `work` for an app, outside any transaction. Statements of different apps take turns. */
  read<T>(work: (connection: Connection) => Promise<T>, whose: string): Promise<T>
  /**
   * Runs `work` on a connection for reads that may take long, where nobody waits for it. Once the signal is given the
   * statement under way is ended, and `work` meets the signal's reason. Some can be under way at a time, as the database
   * was opened for; more wait.
   */
  readLong<T>(work: (connection: Connection) => Promise<T>, signal: AbortSignal): Promise<T>
  /**
   * Runs `work` in one durable transaction; resolves only after its commit, and leaves nothing if `work` throws. Where it
   * cannot be known whether the commit happened, it throws a `DatabaseUnavailable` that says so. Where writes have to wait
   * for each other, apps take turns; `whose` names the app.
   */
  write<T>(work: (connection: Connection) => Promise<T>, whose?: string): Promise<T>
  /** The same, and on no other node at the same time. */
  writeAlone<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Runs `work` against one unchanging view of all tables, while others go on writing. */
  snapshot<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Fails where reading or writing would. */
  check(): Promise<void>
  /** Hands over all rows of a table in bounded batches, oldest first where the table has an order. */
  scan(
    connection: Connection,
    table: keyof Tables,
    take: (rows: Record<string, unknown>[]) => Promise<void>,
  ): Promise<void>
  /** Events after a position, in the order of their ids, before which no other can come any more. */
  eventsAfter(position: number, limit: number): Promise<EventRow[]>
  /** The position of whoever has read all that `eventsAfter` would answer now. */
  logEnd(): Promise<number>
  /** Gives back jobs whose worker cannot be alive any more; called when a server starts. */
  releaseClaims(): Promise<void>
  /** Grants or renews named leases; answers those that no other holder has. */
  claimLeases(names: string[], holder: string, now: number, expiresAt: number): Promise<string[]>
  /** Gives up all leases of a holder that stops. */
  releaseLeases(holder: string): Promise<void>
  /** Adds an `id` to a table that is being made, which the database fills with ascending numbers. */
  numbered: Numbered
  /** Makes the database go on after the numbers that a restore has put into such a table, and after `past`. */
  renumber(connection: Connection, table: keyof Tables, past?: number): Promise<void>
  /** Makes the ids of such a table fit for reading on from them, whatever is being written; see `Flavour.settledId`. */
  showIdsUnderWay(schema: Kysely<Tables>, table: keyof Tables): Promise<void>
  /** Creates the events table, in the form of the first version. */
  createLog(schema: Kysely<Tables>): Promise<void>
  /** Makes the log one that is read by ids alone; see decision 35. */
  orderLogById(schema: Kysely<Tables>): Promise<void>
  /** Creates the table of search entries and the index on their grams; see search.ts. */
  createSearch(schema: Kysely<Tables>): Promise<void>
  /** Lets a migration change very many entries, and makes their index anew. */
  rewriteSearch(schema: Kysely<Tables>, change: () => Promise<void>): Promise<void>
  /** Tells the planner what to expect of the tables, where it does not find out by itself. */
  describeTables(): Promise<void>
  isDuplicate(error: unknown): boolean
  /** Tells every node's workers that there may be something to do, where no write of this process has told it. */
  wake(): void
  /**
   * Lets somebody know when a commit, on any node, has left events or jobs; a hint, never the message.
   * Answers how to stop listening.
   */
  onWake(hint: Hint, listener: () => void): () => void
  close(): Promise<void>
}
