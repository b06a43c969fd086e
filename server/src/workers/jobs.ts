import type { Logger } from 'pino'
import type { Area } from '../kit/area.ts'
import { backoffSeconds, type JobDefinition } from '../kit/job.ts'
import type { Tools } from '../kit/ports.ts'
import { workIn } from '../kit/work.ts'
import type { Connection } from '../storage/connection.ts'
import type { Database } from '../storage/database.ts'
import type { JobRow } from '../storage/tables.ts'
import { tenantDb } from '../storage/tenant.ts'

const jobsPerBatch = 50
const claimSeconds = 60
const errorCharactersMax = 2_000

/** Runs the jobs that are due; answers whether there were any. */
export function createJobLoop(database: Database, areas: Area[], tools: () => Tools, log: Logger) {
  const definitions = new Map(areas.flatMap((area) => area.jobs).map((definition) => [definition.name, definition]))

  return async function run(): Promise<boolean> {
    const now = tools().clock.now()
    const due = (await nothingDue(database, now)) ? [] : await database.claimJobs(now, now + claimSeconds, jobsPerBatch)
    for (const row of due) await attempt(database, definitions.get(row.name), row, tools(), log)
    return due.length > 0
  }
}

/** Looking first spares an idle install a write transaction every half second. */
async function nothingDue(database: Database, now: number): Promise<boolean> {
  const row = await database.reader.query
    .selectFrom('jobs')
    .select('key')
    .where('dead_at', 'is', null)
    .where('run_at', '<=', now)
    .where('locked_until', '<=', now)
    .limit(1)
    .executeTakeFirst()
  return row === undefined
}

async function attempt(
  database: Database,
  definition: JobDefinition | undefined,
  row: JobRow,
  tools: Tools,
  log: Logger,
): Promise<void> {
  try {
    if (!definition) throw new Error(`There is no job named ${row.name}.`)
    await database.write(async (connection) => {
      const again = await definition.run(JSON.parse(row.payload), workIn(connection, row.app_id, tools))
      if (again)
        await update(connection, row, { run_at: again.againAt, attempts: 0, locked_until: 0, last_error: null })
      else await rowOf(connection, row).execute()
    })
  } catch (error) {
    log.error({ err: error, job: row.name, key: row.key, attempts: row.attempts }, 'a job failed')
    const now = tools.clock.now()
    const dead = row.attempts >= (definition?.attemptsMax ?? Number.POSITIVE_INFINITY)
    const lastError = String(error).slice(0, errorCharactersMax)
    await database.write((connection) =>
      update(connection, row, {
        run_at: now + backoffSeconds(row.attempts),
        locked_until: 0,
        last_error: lastError,
        dead_at: dead ? now : null,
      }),
    )
  }
}

function rowOf(connection: Connection, { app_id, name, key }: JobRow) {
  return tenantDb(connection, app_id).delete('jobs').where('name', '=', name).where('key', '=', key)
}

async function update(connection: Connection, { app_id, name, key }: JobRow, changes: Partial<JobRow>): Promise<void> {
  await tenantDb(connection, app_id)
    .update('jobs')
    .set(changes)
    .where('name', '=', name)
    .where('key', '=', key)
    .execute()
}
