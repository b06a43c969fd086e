import { type ExpressionBuilder, sql } from 'kysely'
import type { Connection } from '../storage/connection.ts'
import type { JobLane, JobRow, Tables } from '../storage/tables.ts'
import { type TenantDb, tenantDb } from '../storage/tenant.ts'
import type { JobTimes } from './rota.ts'

/**
 * A claim makes a job one worker's for a while, in real time. A worker that is still at it renews it; one that dies keeps it
 * until it runs out. Claims are numbered, and only the last one counts: whoever was away for too long changes nothing.
 */

export const claimSeconds = 60

/** Where jobs wait for each other. */
export interface JobLine {
  lane: JobLane
  /** Nothing, unless the lane leads outside. */
  destination: string
}

/** Claims some of what an app has due in a line, oldest first; what another node is claiming at this moment is left to it. */
export async function claimSome(
  db: TenantDb,
  { lane, destination }: JobLine,
  { due, now }: JobTimes,
  jobsMax: number,
): Promise<JobRow[]> {
  const rows = await db.sql<JobRow>`
    WITH taken AS MATERIALIZED (
      SELECT jobs.name, jobs.key FROM jobs
      WHERE jobs.lane = ${lane} AND jobs.app_id = ${db.appId} AND jobs.destination = ${destination}
      AND jobs.dead_at IS NULL AND jobs.run_at <= ${due} AND jobs.locked_until <= ${now}
      ORDER BY jobs.run_at LIMIT ${jobsMax} ${db.takeRows})
    UPDATE jobs SET locked_until = ${now + claimSeconds}, attempts = jobs.attempts + 1, claims = jobs.claims + 1
    WHERE jobs.app_id = ${db.appId} AND (jobs.name, jobs.key) IN (SELECT taken.name, taken.key FROM taken)
    RETURNING *`.execute()
  return rows.toSorted((a, b) => a.run_at - b.run_at)
}

/**
 * Makes sure that the job is still this worker's: a claim that ran out may have passed to another node, which must then
 * be the only one to run it. Until the transaction ends nobody else can take it.
 */
export async function holdClaim(connection: Connection, row: JobRow): Promise<boolean> {
  const held = await claimed(connection, row).set({ claims: row.claims }).returning('key').executeTakeFirst()
  return held !== undefined
}

/**
 * Lets a claim last; answers until when. Nothing, if it has passed to another node, or if the job is being put down at this
 * moment, which is not waited for.
 */
export async function renewClaim(connection: Connection, row: JobRow, now: number): Promise<number | undefined> {
  const until = now + claimSeconds
  const { rows } = await sql`
    UPDATE jobs SET locked_until = ${until} WHERE jobs.app_id = ${row.app_id} AND (jobs.name, jobs.key) IN (
      SELECT jobs.name, jobs.key FROM jobs WHERE jobs.app_id = ${row.app_id} AND jobs.name = ${row.name}
      AND jobs.key = ${row.key} AND jobs.claims = ${row.claims} ${connection.flavour.rowLocks.takeRows})
    RETURNING jobs.key`.execute(connection.query)
  return rows.length > 0 ? until : undefined
}

/** Lets others have the job at once, as if it had not been claimed. */
export async function giveBack(connection: Connection, row: JobRow): Promise<void> {
  await claimed(connection, row)
    .set({ locked_until: 0, attempts: row.attempts - 1 })
    .execute()
}

function claimed(connection: Connection, row: JobRow) {
  return tenantDb(connection, row.app_id)
    .update('jobs')
    .where(isRow(row))
    .where('claims', '=', row.claims)
    .where('attempts', '=', row.attempts)
}

export function isRow({ name, key }: JobRow) {
  return (is: ExpressionBuilder<Tables, 'jobs'>) => is.and([is('name', '=', name), is('key', '=', key)])
}
