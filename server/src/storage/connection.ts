import { type DatabaseConnection, type Driver, Kysely, type QueryResult } from 'kysely'
import type { Flavour } from './flavour.ts'
import type { Tables } from './tables.ts'

/** What a finished statement answered: its rows, and how many rows it changed. */
export interface StatementOutcome {
  rows: unknown[]
  changes: number
}

export type RunStatement = (sql: string, parameters: readonly unknown[]) => StatementOutcome | Promise<StatementOutcome>

/** One database connection, or the pool seen as one. Only storage/ builds these. */
export interface Connection {
  query: Kysely<Tables>
  run: RunStatement
  /** The SQL spoken here; text compiled once is kept once per flavour. */
  flavour: Flavour
  /** As `run`, for what rarely changes: answers as the last time where that still holds. Only where anything is remembered. */
  recall?: RunStatement
  /** Everybody waits for what is read here; see `TenantDb.leaveSharedReader`. */
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

type StatementWatch = (sql: string, parameters: readonly unknown[]) => void

let watch: StatementWatch | undefined

/** Lets tests see each statement before it runs, on every connection opened from now on. Nothing watches in production. */
export function watchStatements(next: StatementWatch): void {
  watch = next
}

function watched(run: RunStatement, look: StatementWatch): RunStatement {
  return (sql, parameters) => {
    look(sql, parameters)
    return run(sql, parameters)
  }
}

/** Puts what is remembered before running a statement. */
export type Remembering = (run: RunStatement) => RunStatement

/** Puts the query builder on top of anything that can run a statement. */
export function connectionOver(flavour: Flavour, runStatement: RunStatement, remembered?: Remembering): Connection {
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
  return { query, run, flavour, ...(remembered && { recall: remembered(run) }) }
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
