import type { ExpressionBuilder } from 'kysely'
import type { Connection } from '../storage/connection.ts'
import type { JobLane, JobRow, Tables } from '../storage/tables.ts'
import { type TenantDb, tenantDb } from '../storage/tenant.ts'
import type { Moment } from './rota.ts'

/** A claim makes a job one worker's for a while. A worker that dies keeps it until it runs out. */

const claimSeconds = 60

/** Claims some of what an app has due, oldest first; what another node is claiming at this moment is left to it. */
export async function claimSome(db: TenantDb, lane: JobLane, { due, now }: Moment, jobsMax: number): Promise<JobRow[]> {
  const rows = await db.sql<JobRow>`
    WITH taken AS MATERIALIZED (
      SELECT jobs.name, jobs.key FROM jobs
      WHERE jobs.lane = ${lane} AND jobs.app_id = ${db.appId} AND jobs.dead_at IS NULL
      AND jobs.run_at <= ${due} AND jobs.locked_until <= ${now}
      ORDER BY jobs.run_at LIMIT ${jobsMax} ${db.takeRows})
    UPDATE jobs SET locked_until = ${now + claimSeconds}, attempts = jobs.attempts + 1
    WHERE jobs.app_id = ${db.appId} AND (jobs.name, jobs.key) IN (SELECT taken.name, taken.key FROM taken)
    RETURNING *`.execute()
  return rows.toSorted((a, b) => a.run_at - b.run_at)
}

/**
 * Makes sure that the job is still this worker's: a claim that ran out may have passed to another node, which must then
 * be the only one to run it. Until the transaction ends nobody else can take it.
 */
export async function holdClaim(connection: Connection, row: JobRow): Promise<boolean> {
  const held = await tenantDb(connection, row.app_id)
    .update('jobs')
    .set({ attempts: row.attempts })
    .where(isRow(row))
    .where('attempts', '=', row.attempts)
    .where('locked_until', '=', row.locked_until)
    .returning('key')
    .executeTakeFirst()
  return held !== undefined
}

export function isRow({ name, key }: JobRow) {
  return (is: ExpressionBuilder<Tables, 'jobs'>) => is.and([is('name', '=', name), is('key', '=', key)])
}
