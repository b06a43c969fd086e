import { type Expression, type RawBuilder, sql } from 'kysely'
import type { TenantDb } from './tenant.ts'

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
  const all = db.runsInThread
    ? sql`json_group_array(json_array(${values}))`
    : sql`coalesce(json_agg(json_build_array(${values}))::text, '[]')`
  return sql`(SELECT ${all} FROM ${rows} AS listed)`
}
