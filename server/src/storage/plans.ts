import { type Expression, type RawBuilder, sql } from 'kysely'
import type { KeyPart } from './flavour.ts'
import type { TenantTable } from './tables.ts'
import type { TenantDb } from './tenant.ts'
import { connectionUnder } from './underneath.ts'

/**
 * How a planner is kept from a plan that is a thousand times slower than the one a statement was written for. Planners go
 * by what they know of all rows; whoever writes a statement may know more of those that it meets. Each function says what
 * is known; how a database is made to heed it stands here and in the two flavours, and in no area.
 */

/** Some rows that lead to others. */
export interface LookUp {
  /** The subquery that finds the few, in parentheses, and the name and columns that it goes by in the statement. */
  few: RawBuilder<unknown> | Expression<unknown>
  name: string
  columns: readonly string[]
  /** What is selected, of which table. */
  select: RawBuilder<unknown>
  table: TenantTable
  /** Which row of the app's belongs to one of the few. */
  match: RawBuilder<unknown>
}

/**
 * Few rows lead to others, each of which is looked up by index, one at a time. Without this an order, or another
 * condition, tempts planners to walk a whole table and to look which of it are among the few. Answers a statement up to its
 * conditions: more of them, an order and a limit may follow.
 */
export function lookUpEach(db: TenantDb, { few, name, columns, select, table, match }: LookUp): RawBuilder<unknown> {
  const { plans } = connectionUnder(db).flavour
  const matching = sql`${sql.ref(`${table}.app_id`)} = ${db.appId} AND ${match}`
  return sql`${foundFirst(name, columns, few)} SELECT ${select} ${plans.lookUpEach(name, table, matching)}`
}

/** Begins a statement by finding some rows, whatever it does with them afterwards. */
export function foundFirst(
  name: string,
  columns: readonly string[],
  rows: RawBuilder<unknown> | Expression<unknown>,
): RawBuilder<unknown> {
  return sql`WITH ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))}) AS MATERIALIZED ${rows}`
}

/**
 * The first table named is the one to begin with, and so on. SQLite keeps to this order; PostgreSQL knows how large tables
 * are, and chooses by itself.
 */
export function joinedInOrder(...tables: string[]): RawBuilder<unknown> {
  return sql.join(
    tables.map((table) => sql.table(table)),
    sql` CROSS JOIN `,
  )
}

/** A column of text that is to be compared or sorted by once the rows are found, and not to find them by an index on it. */
export function textAsFound(column: string): RawBuilder<string> {
  return sql<string>`${sql.ref(column)} || ''`
}

/** The same for a column of numbers. */
export function numberAsFound(column: string): RawBuilder<number> {
  return sql<number>`${sql.ref(column)} + 0`
}

/**
 * Whether there is a row, asked of one record after the other: by the rows that `from` names, table and conditions. An
 * EXISTS may be planned as a join that begins with all such rows.
 */
export function askedOfEach(from: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`1 = (SELECT 1 ${from} LIMIT 1)`
}

/**
 * Ends the conditions of a SELECT that wants the last row of an index up to a key of two columns; a row with another first
 * value may come instead. Where another index has the order of the second alone, a planner may prefer to walk it.
 */
export function lastOfIndexUpTo(db: TenantDb, first: KeyPart, second: KeyPart): RawBuilder<unknown> {
  return connectionUnder(db).flavour.plans.lastOfIndexUpTo(first, second)
}

/**
 * Begins a statement whose best plan depends on its values, such as on how much was said in a conversation. A plan that is
 * kept for all values can be a thousand times slower.
 */
export function plannedForValues(db: TenantDb): RawBuilder<unknown> {
  return connectionUnder(db).flavour.plans.plannedForValues
}
