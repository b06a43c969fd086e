import {
  type Compilable,
  type DeleteQueryBuilder,
  type DeleteResult,
  type Insertable,
  type InsertQueryBuilder,
  type InsertResult,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
  type UpdateQueryBuilder,
  type UpdateResult,
} from 'kysely'
import { type Connection, type RunStatement, TakesLong } from './connection.ts'
import type { Flavour, RowLocks } from './flavour.ts'
import type { Tables, TenantTable } from './tables.ts'
import { connectionUnder, underneath } from './underneath.ts'

type NewRow<Table extends TenantTable> = Omit<Insertable<Tables[Table]>, 'app_id'>

/** A statement that is written out, ready to run. */
export interface WrittenOut<Row> extends Compilable<Row> {
  execute(): Promise<Row[]>
}

/**
 * The database as one app's code sees it: no statement made through it can touch another app's rows. What it stands on
 * stays in storage/.
 */
export interface TenantDb extends RowLocks, Readonly<Pick<Flavour, 'runsInThread'>> {
  readonly appId: string
  readonly [underneath]: Connection
  select<Table extends TenantTable>(table: Table): SelectQueryBuilder<Tables, Table, object>
  insert<Table extends TenantTable>(
    table: Table,
    values: NewRow<Table> | NewRow<Table>[],
  ): InsertQueryBuilder<Tables, Table, InsertResult>
  update<Table extends TenantTable>(table: Table): UpdateQueryBuilder<Tables, Table, Table, UpdateResult>
  delete<Table extends TenantTable>(table: Table): DeleteQueryBuilder<Tables, Table, DeleteResult>
  /**
   * A statement that is written out. It has to compare the `app_id` of every table it touches, and of at least one with
   * `db.appId`: one that does not name the app is refused here, and any other slip by the tests, which read all statements.
   */
  sql<Row>(text: TemplateStringsArray, ...values: unknown[]): WrittenOut<Row>
  /** Everybody waits for what is read here. */
  readonly isShared: boolean
  /**
   * Stands before reads whose cost grows with what others have stored, such as every search. Where everybody waits, the
   * read ends here, and whoever began it begins it again on a connection of its own; on any other, and inside a
   * transaction, it goes on.
   */
  leaveSharedReader(): void
  /** As `Flavour` says; for a table with numbers. */
  settledId(table: TenantTable): Promise<number>
  takeId(table: TenantTable): Promise<number>
}

// The builder's types cannot see that every TenantTable has an app_id; the casts below are that one fact.
type Loose = never

const bound = new WeakMap<Connection, TenantDb>()

/** Every step of a request asks for it anew, on the same connection. */
export function tenantDb(connection: Connection, appId: string): TenantDb {
  const last = bound.get(connection)
  if (last?.appId === appId) return last
  const db = bindTo(connection, appId)
  bound.set(connection, db)
  return db
}

function bindTo(connection: Connection, appId: string): TenantDb {
  const { query, run, flavour, isShared = false } = connection
  return {
    appId,
    [underneath]: connection,
    ...flavour.rowLocks,
    isShared,
    runsInThread: flavour.runsInThread,
    select: (table) =>
      (query.selectFrom(table as 'jobs') as Loose as SelectQueryBuilder<Tables, 'jobs', object>).where(
        `${table as 'jobs'}.app_id`,
        '=',
        appId,
      ) as Loose,
    insert: (table, values) =>
      query
        .insertInto(table as 'jobs')
        .values(
          (Array.isArray(values)
            ? values.map((row) => ({ ...row, app_id: appId }))
            : { ...values, app_id: appId }) as Loose,
        ) as Loose,
    update: (table) => query.updateTable(table as 'jobs').where(`${table as 'jobs'}.app_id`, '=', appId) as Loose,
    delete: (table) => query.deleteFrom(table as 'jobs').where(`${table as 'jobs'}.app_id`, '=', appId) as Loose,
    sql: <Row>(text: TemplateStringsArray, ...values: unknown[]) => writtenOut(query, appId, sql<Row>(text, ...values)),
    leaveSharedReader() {
      if (isShared) throw new TakesLong()
    },
    settledId: (table) => flavour.settledId(run, table),
    takeId: (table) => flavour.takeId(run, table),
  }
}

function writtenOut<Row>(query: Kysely<Tables>, appId: string, statement: RawBuilder<Row>): WrittenOut<Row> {
  const compile = () => {
    const compiled = statement.compile(query)
    if (!compiled.parameters.includes(appId)) throw new Error(`This statement does not name its app: ${compiled.sql}`)
    return compiled
  }
  return { compile, execute: async () => (await query.executeQuery(compile())).rows }
}

/** Stands in a query for a value that is known only when the query runs. */
class Placeholder {
  readonly name: string
  readonly row: number
  constructor(name: string, row = 0) {
    this.name = name
    this.row = row
  }
}

interface Text {
  sql: string
  parameters: readonly unknown[]
}

/**
 * A query whose SQL text is built once and then only filled with values. For the hottest statements: building the text
 * costs several times what the database needs to answer it.
 */
export function prepared<Values extends object, Row>(
  build: Build<Values, Row>,
): (db: TenantDb, values: Values) => Promise<Row[]> {
  return preparedFor(build, asAlways)
}

/**
 * The same for what every request asks for and rarely changes. Where the database can tell that it has not, what was read
 * the last time is answered, with the same rows for all: they cannot be changed.
 */
export function remembered<Values extends object, Row>(
  build: Build<Values, Row>,
): (db: TenantDb, values: Values) => Promise<Readonly<Row>[]> {
  return preparedFor(build, ({ recall, run }) => recall ?? run)
}

type Build<Values, Row> = (db: TenantDb, value: { [Name in keyof Values]: Values[Name] }) => Compilable<Row>

type Way = (connection: Connection) => RunStatement

function preparedFor<Values extends object, Row>(
  build: Build<Values, Row>,
  way: Way,
): (db: TenantDb, values: Values) => Promise<Row[]> {
  const texts = new WeakMap<object, Text>()
  const stand = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) }) as Values

  return async (db, values) => {
    const { flavour } = connectionUnder(db)
    let text = texts.get(flavour)
    if (!text) {
      text = textOf(db, (standing) => build(standing, stand))
      texts.set(flavour, text)
    }
    return run<Row>(db, text, [values], way)
  }
}

/** The same for a statement that takes several rows at once, all with the same columns: one text for each number of them. */
export function preparedRows<Values extends object, Row>(
  // A statement that answers no rows compiles too; what it would answer is a count that nobody reads.
  build: (db: TenantDb, rows: Values[]) => Compilable<Row> | Compilable<InsertResult>,
): (db: TenantDb, rows: Values[]) => Promise<Row[]> {
  const texts = new WeakMap<object, Map<string, Text>>()

  return async (db, rows) => {
    const { flavour } = connectionUnder(db)
    const columns = Object.keys(rows[0] ?? {})
    const built = () => {
      const stand = rows.map(
        (_, row) => Object.fromEntries(columns.map((name) => [name, new Placeholder(name, row)])) as Values,
      )
      return textOf(db, (standing) => build(standing, stand))
    }
    if (rows.length > rowsWorthKeeping) return run<Row>(db, built(), rows)
    const known = texts.get(flavour) ?? new Map<string, Text>()
    texts.set(flavour, known)
    const key = `${rows.length} ${columns.join()}`
    const text = known.get(key) ?? built()
    known.set(key, text)
    return run<Row>(db, text, rows)
  }
}

// Larger numbers of rows come seldom and in all sizes.
const rowsWorthKeeping = 20

function textOf(db: TenantDb, build: (standing: TenantDb) => Compilable<unknown>): Text {
  return build(tenantDb(connectionUnder(db), new Placeholder('appId') as never)).compile()
}

const asAlways: Way = ({ run }) => run

async function run<Row>(db: TenantDb, { sql, parameters }: Text, rows: object[], way: Way = asAlways): Promise<Row[]> {
  const filled = parameters.map((parameter) => {
    if (!(parameter instanceof Placeholder)) return parameter
    return parameter.name === 'appId' ? db.appId : (rows[parameter.row] as Record<string, unknown>)[parameter.name]
  })
  const outcome = await way(connectionUnder(db))(sql, filled)
  return outcome.rows as Row[]
}
