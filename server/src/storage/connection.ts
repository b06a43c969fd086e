import {
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  Kysely,
  type QueryCompiler,
  type QueryResult,
  type RawBuilder,
} from 'kysely'
import type { WantedEntry } from './search.ts'
import type { Tables } from './tables.ts'

/** What a finished statement answered: its rows, and how many rows it changed. */
export interface Outcome {
  rows: unknown[]
  changes: number
}

export type RunStatement = (sql: string, parameters: readonly unknown[]) => Outcome | Promise<Outcome>

/** One database connection, or the pool seen as one. Only storage/ builds these. */
export interface Connection {
  query: Kysely<Tables>
  run: RunStatement
  /** The SQL spoken here; text compiled once is kept once per flavour. */
  flavour: Flavour
  /** Everybody waits for what is read here; see `leaveSharedReader`. */
  isShared?: true
}

/** A read has turned out to be one that may take long; it is to be begun again where nobody waits for it. */
export class TakesLong extends Error {
  constructor() {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super('This read may take long: it belongs to Database.readLong.')
    Error.stackTraceLimit = stackTraceLimit
  }
}

/**
 * Stands before reads whose cost grows with what others have stored, such as every search. On the connection that all
 * requests share the read ends here, and whoever began it begins it again on a connection of its own; on any other, and
 * inside a transaction, it goes on.
 */
export function leaveSharedReader({ connection }: { connection: Connection }): void {
  if (connection.isShared) throw new TakesLong()
}

export interface Flavour {
  /** The hidden column that addresses a row, for deleting in bounded batches. */
  rowAddress: string
  /** Ends a SELECT that keeps its rows from other writers until the transaction is over. */
  holdRows: RawBuilder<unknown>
  /** The same, but passes over rows that another writer holds. */
  takeRows: RawBuilder<unknown>
  /** Ends a SELECT whose rows others may change, but not delete, until the transaction is over. */
  keepRows: RawBuilder<unknown>
  /** From where on: the search entries of an app's list that hold what is wanted; more conditions may follow. */
  entriesWithGrams(appId: string, list: string, wanted: WantedEntry): RawBuilder<unknown>
  /** The same for counting, where the index alone can tell how many there are. */
  gramHits(appId: string, list: string, wanted: WantedEntry): RawBuilder<unknown>
  /** Whether grams are found only side by side and in their order, which leaves nothing for the text to settle. */
  gramsInOrder: boolean
  /** Columns by which entries are found in the order in which they were made, without sorting; nothing, if they are not. */
  entryOrder?: { ofHit: RawBuilder<unknown>; ofEntry: RawBuilder<unknown> }
  /**
   * From where on: the hits of a named subquery, each with its row of a table, which is looked up by index one at a time,
   * whatever the planner believes. Conditions on the row may follow.
   */
  lookUpEach(hits: string, table: string, match: RawBuilder<unknown>): RawBuilder<unknown>
  /**
   * Ends the conditions of a SELECT that wants the last row of an index up to a key of two columns; a row with another
   * first value may come instead. Where another index has the order of the second alone, a planner may prefer to walk it.
   */
  lastUpTo(first: KeyPart, second: KeyPart): RawBuilder<unknown>
  /**
   * The largest id of a numbered table up to which no row can come any more, so that one can read on from there. Nothing,
   * where ids become visible in their order.
   */
  settledId(run: RunStatement, table: keyof Tables): Promise<number | undefined>
  /** Takes the next id of a numbered table, for what is told like a row of it and is none. */
  takeId(run: RunStatement, table: keyof Tables): Promise<number>
  /**
   * Begins a statement whose best plan depends on its values, such as on how much was said in a conversation. A plan that
   * is kept for all values can be a thousand times slower.
   */
  planEachTime: RawBuilder<unknown>
  /** Statements run in the server's own thread: what is counted by one of them is better counted by several in turn. */
  runsInThread: boolean
  createAdapter(): DialectAdapter
  createQueryCompiler(): QueryCompiler
}

/** A column, and the value that it has in a key. */
export type KeyPart = [column: string, value: RawBuilder<unknown>]

type StatementWatch = (sql: string) => void

let watch: StatementWatch | undefined

/** Lets tests see each statement before it runs, on every connection opened from now on. Nothing watches in production. */
export function watchStatements(next: StatementWatch): void {
  watch = next
}

function watched(run: RunStatement, look: StatementWatch): RunStatement {
  return (sql, parameters) => {
    look(sql)
    return run(sql, parameters)
  }
}

/** Puts the query builder on top of anything that can run a statement. */
export function connectionOver(flavour: Flavour, runStatement: RunStatement): Connection {
  const run = watch ? watched(runStatement, watch) : runStatement
  const connection: DatabaseConnection = {
    async executeQuery<Row>({
      sql,
      parameters,
    }: {
      sql: string
      parameters: readonly unknown[]
    }): Promise<QueryResult<Row>> {
      const { rows, changes } = await run(sql, parameters)
      return { rows: rows as Row[], numAffectedRows: BigInt(changes) }
    },
    streamQuery() {
      throw new Error('Streaming is not used: long reads go page by page.')
    },
  }
  const query = new Kysely<Tables>({
    dialect: {
      createAdapter: flavour.createAdapter,
      createQueryCompiler: flavour.createQueryCompiler,
      createDriver: () => alwaysTheSame(connection),
      createIntrospector() {
        throw new Error('The schema is known from the migrations, never introspected.')
      },
    },
  })
  return { query, run, flavour }
}

const appsKeptMax = 1_000

/** The connection that an app reads on, made when it is first asked for: a query builder costs more than many a statement. */
export function keptByApp(make: (whose: string) => Connection): (whose: string) => Connection {
  const kept = new Map<string, Connection>()
  return (whose) => {
    const known = kept.get(whose)
    if (known) return known
    if (kept.size >= appsKeptMax) kept.clear()
    const connection = make(whose)
    kept.set(whose, connection)
    return connection
  }
}

/** Transactions are opened by `Database.write`, so the builder's own driver has nothing to manage. */
function alwaysTheSame(connection: DatabaseConnection): Driver {
  const nothing = async () => {}
  const refuse = async () => {
    throw new Error('Use Database.write for a transaction.')
  }
  return {
    init: nothing,
    acquireConnection: async () => connection,
    releaseConnection: nothing,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: nothing,
  }
}
