import type { Logger } from 'pino'
import { viewIn, workIn } from '../common/work-in.ts'
import type { Again, JobDefinition } from '../kit/job.ts'
import type { Tools } from '../kit/ports.ts'
import type { InApp } from '../kit/work.ts'
import type { Connection } from '../storage/connection.ts'
import type { Database } from '../storage/database.ts'
import type { JobRow } from '../storage/tables.ts'
import { tenantDb } from '../storage/tenant.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import { holdClaim, isRow } from './claims.ts'
import { counted, type Effort } from './effort.ts'
import { type HeldJob, LetGo, unlessEnded } from './held-job.ts'
import { pauseAfter } from './pauses.ts'

export interface Workplace {
  database: Database
  tools: Tools
  log: Logger
  effort: Effort
}

const errorCharactersMax = 2_000
const outsideSecondsMax = 300

/** Tries a claimed job once, and notes what came of it. Throws where nothing could be noted. */
export async function attempt(place: Workplace, definition: JobDefinition | undefined, held: HeldJob): Promise<void> {
  const { row } = held
  try {
    if (!definition) throw new Error(`There is no job named ${row.name}.`)
    if (row.attempts > definition.attemptsMax) throw new Error(row.last_error ?? 'The process ended with each attempt.')
    const given = definition.prepare && (await prepared(place, definition, held))
    await complete(place, definition, held, given)
  } catch (error) {
    // No failure of the job, and nothing can be noted now.
    if (error instanceof DatabaseUnavailable) throw error
    if (error instanceof LetGo) return
    place.log.error({ err: error, job: row.name, key: row.key, attempts: row.attempts }, 'a job failed')
    await noteFailure(place, definition, row, error)
  }
}

async function prepared(
  { database, tools }: Workplace,
  { prepare, secondsMax = outsideSecondsMax }: JobDefinition,
  held: HeldJob,
): Promise<unknown> {
  const { row, signal } = held
  const inApp: InApp = (work) =>
    database.write((connection) => {
      // Whoever does not listen may still be at it when the job is somebody else's.
      signal.throwIfAborted()
      return work(workIn(connection, row.app_id, tools))
    }, row.app_id)
  const late = () => held.end(new Error(`It took longer than ${secondsMax} seconds.`))
  const limit = setTimeout(late, secondsMax * 1000).unref()
  try {
    return await unlessEnded(held, () =>
      database.read(
        async (connection) =>
          prepare?.(JSON.parse(row.payload), {
            ...viewIn(connection, row.app_id, tools),
            inApp,
            signal,
            attempt: row.attempts,
          }),
        row.app_id,
      ),
    )
  } finally {
    clearTimeout(limit)
  }
}

async function complete(
  { database, tools, effort }: Workplace,
  definition: JobDefinition,
  { row }: HeldJob,
  given: unknown,
): Promise<void> {
  await database.write(async (connection) => {
    if (!(await holdClaim(connection, row))) return
    const work = workIn(connection, row.app_id, tools)
    const again = await counted(effort, () => definition.run(JSON.parse(row.payload), work, given))
    if (!again) return void (await tenantDb(connection, row.app_id).delete('jobs').where(isRow(row)).execute())
    const next = nextRun(again)
    if (definition.keepsAttempts && row.attempts >= definition.attemptsMax) {
      await giveUp(connection, tools, definition, { ...row, ...next }, 'It has used up its attempts.')
    } else {
      const attempts = definition.keepsAttempts ? row.attempts : 0
      await change(connection, row, { ...next, attempts, locked_until: 0, last_error: null })
    }
  }, row.app_id)
}

function nextRun({ againAt, payload }: Again): Pick<JobRow, 'run_at'> & Partial<JobRow> {
  return { run_at: againAt, ...(payload !== undefined && { payload: JSON.stringify(payload) }) }
}

async function noteFailure(
  { database, tools, log }: Workplace,
  definition: JobDefinition | undefined,
  row: JobRow,
  error: unknown,
): Promise<void> {
  const isLast = definition !== undefined && row.attempts >= definition.attemptsMax
  const holding = (work: (connection: Connection) => Promise<void>) =>
    database.write(async (connection) => {
      if (await holdClaim(connection, row)) await work(connection)
    }, row.app_id)
  const tryLater = (reason: unknown) =>
    holding((connection) =>
      change(connection, row, {
        run_at: tools.clock.now() + pauseAfter(definition ?? {}, row.attempts, reason),
        locked_until: 0,
        last_error: told(reason),
      }),
    )
  if (!isLast) return tryLater(error)
  try {
    await holding((connection) => giveUp(connection, tools, definition, row, told(error)))
  } catch (failure) {
    if (failure instanceof DatabaseUnavailable) throw failure
    // Whoever has to know of its end does not know yet, so it has not ended.
    log.error({ err: failure, job: row.name, key: row.key }, 'a job could not be given up; that is tried again')
    await tryLater(failure)
  }
}

/** The job stays, to be looked at and tried again by hand. */
async function giveUp(
  connection: Connection,
  tools: Tools,
  { onDead }: JobDefinition,
  row: JobRow,
  lastError: string,
): Promise<void> {
  const { attempts, payload, run_at } = row
  const work = workIn(connection, row.app_id, tools)
  await onDead?.(JSON.parse(payload), work, { attempts, lastError })
  await change(connection, row, { payload, run_at, locked_until: 0, last_error: lastError, dead_at: work.now })
}

const told = (error: unknown) => String(error).slice(0, errorCharactersMax)

async function change(connection: Connection, row: JobRow, changes: Partial<JobRow>): Promise<void> {
  await tenantDb(connection, row.app_id).update('jobs').set(changes).where(isRow(row)).execute()
}
