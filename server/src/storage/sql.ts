import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TenantTable } from './tables.ts'
import { prepared, type TenantDb } from './tenant.ts'
import { connectionUnder } from './underneath.ts'

/** `column` contains `part`, whatever the letter case of either. */
export function contains(column: string, part: string): Expression<SqlBool> {
  return sql<SqlBool>`lower(${sql.ref(column)}) LIKE ${`%${escapeLike(part.toLowerCase())}%`} ESCAPE '\\'`
}

/** Text that LIKE takes literally. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, (character) => `\\${character}`)
}

/** A subquery of one column: these texts, however many. */
export function eachOf(db: TenantDb, texts: string[]): RawBuilder<unknown> {
  return sql`(${connectionUnder(db).flavour.eachOf(texts)})`
}

/** Deletes at most `limit` of the app's rows of a table, or of those that meet a condition; answers how many went. */
export async function deleteSome(
  db: TenantDb,
  table: TenantTable,
  limit: number,
  condition: RawBuilder<unknown> = sql`1 = 1`,
): Promise<number> {
  const { query, flavour } = connectionUnder(db)
  const address = sql.ref(flavour.rowAddress)
  const name = sql.table(table)
  const appId = sql.ref(`${table}.app_id`)
  const { numAffectedRows } = await sql`
    DELETE FROM ${name} WHERE ${address} IN (
      SELECT ${address} FROM ${name} WHERE ${appId} = ${db.appId} AND ${condition} LIMIT ${limit})
  `.execute(query)
  return Number(numAffectedRows ?? 0)
}

const queueUp = prepared<{ name: string }, unknown>((db, { name }) =>
  db.insert('locks', { name }).onConflict((conflict) => conflict.columns(['app_id', 'name']).doUpdateSet({ name })),
)

/**
 * Lets one transaction at a time past this line, for the app and the name. For limits that no unique key can express,
 * such as "at most 25 of these".
 */
export async function oneAtATime(db: TenantDb, name: string): Promise<void> {
  if (!connectionUnder(db).flavour.writesInTurn) await queueUp(db, { name })
}

/**
 * The rows of a subquery as one text, for a column of the record that they belong to: what is read of a record comes with
 * one statement, however many tables it is from. The values stand as JSON, each row a list in the order of the columns;
 * rows stand in no order.
 */
export function rowsAsText(
  db: TenantDb,
  columns: readonly string[],
  rows: RawBuilder<unknown> | Expression<unknown>,
): RawBuilder<string> {
  const values = sql.join(columns.map((column) => sql.ref(`listed.${column}`)))
  return sql`(SELECT ${connectionUnder(db).flavour.allAsText(values)} FROM ${rows} AS listed)`
}
