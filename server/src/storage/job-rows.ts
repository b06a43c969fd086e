import { type ExpressionBuilder, sql } from 'kysely'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import type { JobRow, Tables } from './tables.ts'
import { tenantDb } from './tenant.ts'

/** Jobs as an operator sees them, of all apps: what waits, what was given up, and what becomes of it. */

export type JobState = 'waiting' | 'due' | 'running' | 'dead'
export const jobStates: readonly JobState[] = ['waiting', 'due', 'running', 'dead']

export interface JobFilter {
  appId?: string | undefined
  name?: string | undefined
  state?: JobState | undefined
}

/** The clock's time, by which jobs are due, and the real time, by which they are in somebody's hands. */
interface Moment {
  due: number
  now: number
}

/** Names one job among all; an app's id and a job's name have no slash in them. */
export const jobIdOf = ({ app_id, name, key }: Pick<JobRow, 'app_id' | 'name' | 'key'>) => `${app_id}/${name}/${key}`

export function parseJobId(id: string): Pick<JobRow, 'app_id' | 'name' | 'key'> | undefined {
  const [, app_id, name, key] = /^([^/]+)\/([^/]+)\/(.+)$/s.exec(id) ?? []
  return app_id && name && key ? { app_id, name, key } : undefined
}

export function stateOf({ dead_at, locked_until, run_at }: JobRow, { due, now }: Moment): JobState {
  if (dead_at !== null) return 'dead'
  if (locked_until > now) return 'running'
  return run_at <= due ? 'due' : 'waiting'
}

/** Some of the jobs that a filter lets through, those given up first; and whether there are more. */
export async function listJobs(
  { reader }: Pick<Database, 'reader'>,
  { appId, name, state }: JobFilter,
  { due, now }: Moment,
  jobsMax: number,
): Promise<{ jobs: JobRow[]; isCut: boolean }> {
  const inState: Record<JobState, (is: Builder) => ReturnType<Builder['and']>> = {
    dead: (is) => is.and([is('dead_at', 'is not', null)]),
    running: (is) => is.and([is('dead_at', 'is', null), is('locked_until', '>', now)]),
    due: (is) => is.and([is('dead_at', 'is', null), is('locked_until', '<=', now), is('run_at', '<=', due)]),
    waiting: (is) => is.and([is('dead_at', 'is', null), is('locked_until', '<=', now), is('run_at', '>', due)]),
  }
  const jobs = await reader.query
    .selectFrom('jobs')
    .selectAll()
    .$if(appId !== undefined, (rows) => rows.where('app_id', '=', appId ?? ''))
    .$if(name !== undefined, (rows) => rows.where('name', '=', name ?? ''))
    .$if(state !== undefined, (rows) => rows.where(inState[state ?? 'dead']))
    .orderBy(sql`CASE WHEN dead_at IS NULL THEN 1 ELSE 0 END`)
    .orderBy('run_at')
    .orderBy('app_id')
    .orderBy('name')
    .orderBy('key')
    .limit(jobsMax + 1)
    .execute()
  return { jobs: jobs.slice(0, jobsMax), isCut: jobs.length > jobsMax }
}

type Builder = ExpressionBuilder<Tables, 'jobs'>

export async function findJob(
  { reader }: Pick<Database, 'reader'>,
  { app_id, name, key }: Pick<JobRow, 'app_id' | 'name' | 'key'>,
): Promise<JobRow | undefined> {
  return tenantDb(reader, app_id)
    .select('jobs')
    .selectAll()
    .where('jobs.name', '=', name)
    .where('jobs.key', '=', key)
    .executeTakeFirst()
}

type Dead = Pick<JobRow, 'app_id' | 'name' | 'key'>
const deadAtOnce = 500

/** Does something with every dead job that a filter lets through, a batch in a transaction; answers how many there were. */
async function eachDead(
  database: Database,
  { appId, name }: JobFilter,
  change: (connection: Connection, job: Dead) => Promise<unknown>,
): Promise<number> {
  let done = 0
  for (;;) {
    const some = await database.write(async (connection) => {
      const dead = await connection.query
        .selectFrom('jobs')
        .select(['app_id', 'name', 'key'])
        .where('dead_at', 'is not', null)
        .$if(appId !== undefined, (rows) => rows.where('app_id', '=', appId ?? ''))
        .$if(name !== undefined, (rows) => rows.where('name', '=', name ?? ''))
        .limit(deadAtOnce)
        .execute()
      for (const job of dead) await change(connection, job)
      return dead.length
    })
    done += some
    if (some < deadAtOnce) return done
  }
}

/** Lets a job that was given up begin anew. Answers whether it was one. */
export async function retryDead(connection: Connection, { app_id, name, key }: Dead, now: number): Promise<boolean> {
  const revived = await tenantDb(connection, app_id)
    .update('jobs')
    .set({ dead_at: null, attempts: 0, run_at: now, locked_until: 0 })
    .where((is) => is.and([is('name', '=', name), is('key', '=', key), is('dead_at', 'is not', null)]))
    .returning('key')
    .executeTakeFirst()
  return revived !== undefined
}

/** Forgets a job that was given up. Answers whether it was one. */
export async function dropDead(connection: Connection, { app_id, name, key }: Dead): Promise<boolean> {
  const dropped = await tenantDb(connection, app_id)
    .delete('jobs')
    .where((is) => is.and([is('name', '=', name), is('key', '=', key), is('dead_at', 'is not', null)]))
    .returning('key')
    .executeTakeFirst()
  return dropped !== undefined
}

export const retryAllDead = (database: Database, filter: JobFilter, now: number) =>
  eachDead(database, filter, (connection, job) => retryDead(connection, job, now))

export const dropAllDead = (database: Database, filter: JobFilter) => eachDead(database, filter, dropDead)

/** More are counted as so many: whoever looks now and then must not make the database read all of them. */
const countedMax = 10_000

/** How many jobs of each of these names were given up. */
export async function countDead({ reader }: Pick<Database, 'reader'>, names: string[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const name of names) {
    const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM (
      SELECT 1 FROM jobs WHERE jobs.dead_at IS NOT NULL AND jobs.name = ${name} LIMIT ${sql.lit(countedMax)}) AS dead`.execute(
      reader.query,
    )
    counts.set(name, Number(rows[0]?.count ?? 0))
  }
  return counts
}
