import { setTimeout as pause } from 'node:timers/promises'
import type { ExpressionBuilder } from 'kysely'
import type { Logger } from 'pino'
import type { Area } from '../kit/area.ts'
import { type Again, backoffSeconds, type JobDefinition } from '../kit/job.ts'
import type { Tools } from '../kit/ports.ts'
import { workIn } from '../kit/work.ts'
import type { Connection } from '../storage/connection.ts'
import type { Database, JobLane } from '../storage/database.ts'
import type { JobRow, Tables } from '../storage/tables.ts'
import { tenantDb } from '../storage/tenant.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import { counted, type Effort } from './effort.ts'

const jobsPerBatch = 20
const outsideMax = 4
const lookMilliseconds = 50
const claimSeconds = 60
const errorCharactersMax = 2_000

export interface JobLoop {
  /** Runs the jobs that are due, and begins those that work outside; answers whether there were any. */
  run(): Promise<boolean>
  /** Runs a batch of the bulk work that has waited longest; answers whether there was any, and whether more of it is left. */
  runBulk(): Promise<'none' | 'done' | 'more'>
  /** Waits a moment for one of those that work outside; answers whether there was any. */
  outsideMoves(): Promise<boolean>
}

/**
 * When a job is due is told by the clock, which tests and the emulator move; how long a worker's claim holds is real
 * time. Jobs that have something to do with the outside world have a lane of their own: they may take long, and nobody
 * waits for them. Bulk work has one too: it goes a batch at a time, when the workers have rested.
 */
export function createJobLoop(
  database: Database,
  areas: Area[],
  tools: () => Tools,
  log: Logger,
  effort: Effort = { milliseconds: 0 },
): JobLoop {
  const definitions = new Map(areas.flatMap((area) => area.jobs).map((definition) => [definition.name, definition]))
  const namesWhere = (is: (definition: JobDefinition) => unknown) => [...definitions.values()].filter(is).map(nameOf)
  const outsideNames = namesWhere(({ prepare }) => prepare)
  const bulkNames = namesWhere(({ bulk }) => bulk)
  const outside = new Set<Promise<unknown>>()
  const tryJob = (row: JobRow) => attempt(database, definitions.get(row.name), row, tools(), log, effort)

  /**
   * Claimed jobs that the loss of the database has cut short. They are tried again under the same claim, which tells
   * whether they were done after all, and whether another node has taken them over.
   */
  const cutShort: JobRow[] = []

  async function tryInTurn(rows: JobRow[]): Promise<boolean[]> {
    const goOn: boolean[] = []
    for (const row of rows) {
      try {
        goOn.push(await tryJob(row))
      } catch (error) {
        if (error instanceof DatabaseUnavailable) cutShort.push(...rows.slice(goOn.length))
        throw error
      }
    }
    return goOn
  }

  async function claim(lane: JobLane, limit: number): Promise<JobRow[]> {
    const due = tools().clock.now()
    const now = Math.floor(Date.now() / 1000)
    if (limit === 0 || (await nothingDue(database, due, now, lane))) return []
    return database.claimJobs(due, now, now + claimSeconds, limit, lane)
  }

  async function claimAmong(names: string[], limit: number): Promise<JobRow[]> {
    return names.length === 0 ? [] : claim({ names, among: true }, limit)
  }

  function begin(row: JobRow): void {
    const attempting: Promise<unknown> = tryJob(row)
      .catch((error) => {
        if (error instanceof DatabaseUnavailable) return
        log.error({ err: error, job: row.name }, 'a job could not be put down; its claim runs out')
      })
      .finally(() => {
        outside.delete(attempting)
        database.wake()
      })
    outside.add(attempting)
  }

  return {
    async run() {
      const again = await tryInTurn(cutShort.splice(0))
      const begun = await claimAmong(outsideNames, outsideMax - outside.size)
      begun.forEach(begin)
      const claimed = await claim({ names: [...outsideNames, ...bulkNames], among: false }, jobsPerBatch)
      await tryInTurn(claimed)
      return again.length + begun.length + claimed.length > 0
    },
    async runBulk() {
      const [goesOn] = await tryInTurn(await claimAmong(bulkNames, 1))
      if (goesOn === undefined) return 'none'
      return goesOn ? 'more' : 'done'
    },
    async outsideMoves() {
      if (outside.size === 0) return false
      await Promise.race([...outside, pause(lookMilliseconds, undefined, { ref: false })])
      return true
    },
  }
}

/** Looking first spares an idle install a write transaction every half second. */
async function nothingDue(database: Database, due: number, now: number, { names, among }: JobLane): Promise<boolean> {
  let rows = database.reader.query
    .selectFrom('jobs')
    .select('key')
    .where('dead_at', 'is', null)
    .where('run_at', '<=', due)
    .where('locked_until', '<=', now)
  if (names.length > 0) rows = rows.where('name', among ? 'in' : 'not in', names)
  return (await rows.limit(1).executeTakeFirst()) === undefined
}

/** Answers whether the job goes on living: there is more to do, or it failed. */
async function attempt(
  database: Database,
  definition: JobDefinition | undefined,
  row: JobRow,
  tools: Tools,
  log: Logger,
  effort: Effort,
): Promise<boolean> {
  try {
    if (!definition) throw new Error(`There is no job named ${row.name}.`)
    const payload = JSON.parse(row.payload)
    const given = await definition.prepare?.(payload, { db: tenantDb(database.reader, row.app_id), tools })
    return await database.write(async (connection) => {
      if (!(await holdClaim(connection, row))) return false
      const again = await counted(effort, () => definition.run(payload, workIn(connection, row.app_id, tools), given))
      if (again) await change(connection, row, { ...nextRun(again), attempts: 0, locked_until: 0, last_error: null })
      else await tenantDb(connection, row.app_id).delete('jobs').where(isRow(row)).execute()
      return again !== undefined
    })
  } catch (error) {
    // No failure of the job, and nothing can be noted now.
    if (error instanceof DatabaseUnavailable) throw error
    log.error({ err: error, job: row.name, key: row.key, attempts: row.attempts }, 'a job failed')
    const now = tools.clock.now()
    const dead = row.attempts >= (definition?.attemptsMax ?? Number.POSITIVE_INFINITY)
    const failure = {
      run_at: now + backoffSeconds(row.attempts),
      locked_until: 0,
      last_error: String(error).slice(0, errorCharactersMax),
      dead_at: dead ? now : null,
    }
    await database.write(async (connection) => {
      if (await holdClaim(connection, row)) await change(connection, row, failure)
    })
    return true
  }
}

function nextRun({ againAt, payload }: Again): Partial<JobRow> {
  return { run_at: againAt, ...(payload !== undefined && { payload: JSON.stringify(payload) }) }
}

const nameOf = ({ name }: JobDefinition) => name

/**
 * Makes sure that the job is still this worker's: a claim that ran out may have passed to another node, which must then
 * be the only one to run it. Until the transaction ends nobody else can take it.
 */
async function holdClaim(connection: Connection, row: JobRow): Promise<boolean> {
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

function isRow({ name, key }: JobRow) {
  return (is: ExpressionBuilder<Tables, 'jobs'>) => is.and([is('name', '=', name), is('key', '=', key)])
}

async function change(connection: Connection, row: JobRow, changes: Partial<JobRow>): Promise<void> {
  await tenantDb(connection, row.app_id).update('jobs').set(changes).where(isRow(row)).execute()
}
