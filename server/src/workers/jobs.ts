import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Area } from '../kit/area.ts'
import { type Again, backoffSeconds, type JobDefinition, laneOf } from '../kit/job.ts'
import type { Tools } from '../kit/ports.ts'
import { type InApp, workIn } from '../kit/work.ts'
import type { Connection } from '../storage/connection.ts'
import type { Database } from '../storage/database.ts'
import type { JobLane, JobRow } from '../storage/tables.ts'
import { tenantDb } from '../storage/tenant.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import { claimSome, holdClaim, isRow } from './claims.ts'
import { counted, type Effort } from './effort.ts'
import { createRota } from './rota.ts'

const jobsPerBatch = 20
const outsideMax = 4
// Whoever has many slow jobs leaves room for others.
const outsideOfAppMax = 2
const lookMilliseconds = 50
const errorCharactersMax = 2_000
const lanes: JobLane[] = ['inside', 'outside', 'bulk']

export interface JobLoop {
  /** Runs the jobs that are due, and begins those that work outside; answers whether there were any. */
  run(): Promise<boolean>
  /** Runs a batch of bulk work, of the next app but those that rest; answers whose it was, if there was any. */
  runBulk(resting: ReadonlySet<string>): Promise<string | undefined>
  /** Waits a moment for one of those that work outside; answers whether there was any. */
  outsideMoves(): Promise<boolean>
  /** Jobs that an earlier version has queued may belong into other lanes. */
  sortIntoLanes(): Promise<void>
}

/**
 * When a job is due is told by the clock, which tests and the emulator move; how long a worker's claim holds is real
 * time. Jobs that have something to do with the outside world have a lane of their own: they may take long, and nobody
 * waits for them. Bulk work has one too: it goes a batch at a time, when the workers have rested. In each lane apps take
 * turns.
 */
export function createJobLoop(
  database: Database,
  areas: Area[],
  tools: () => Tools,
  log: Logger,
  effort: Effort = { milliseconds: 0 },
): JobLoop {
  const definitions = new Map(areas.flatMap((area) => area.jobs).map((definition) => [definition.name, definition]))
  const rotas = {
    inside: createRota(database, 'inside'),
    outside: createRota(database, 'outside'),
    bulk: createRota(database, 'bulk'),
  }
  const outside = new Map<Promise<unknown>, JobRow>()
  const tryJob = (row: JobRow) => attempt(database, definitions.get(row.name), row, tools(), log, effort)

  /**
   * Claimed jobs that the loss of the database has cut short. They are tried again under the same claim, which tells
   * whether they were done after all, and whether another node has taken them over.
   */
  const cutShort: JobRow[] = []

  async function tryInTurn(rows: JobRow[]): Promise<void> {
    for (const [position, row] of rows.entries()) {
      try {
        await tryJob(row)
      } catch (error) {
        if (error instanceof DatabaseUnavailable) cutShort.push(...rows.slice(position))
        throw error
      }
    }
  }

  /** Looking first whose turn it is spares an idle install a write transaction every half second. */
  async function claim(lane: JobLane, jobsMax: number, placesOf = (_appId: string) => jobsMax): Promise<JobRow[]> {
    if (jobsMax === 0) return []
    const moment = { due: tools().clock.now(), now: Math.floor(Date.now() / 1000) }
    const apps = await rotas[lane].next(moment, jobsMax, (appId) => placesOf(appId) > 0)
    if (apps.length === 0) return []
    const ofEach = Math.max(1, Math.floor(jobsMax / apps.length))
    return database.write(async (connection) => {
      const claimed: JobRow[] = []
      for (const appId of apps) {
        const db = tenantDb(connection, appId)
        claimed.push(...(await claimSome(db, lane, moment, Math.min(ofEach, placesOf(appId)))))
      }
      return claimed
    })
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
    outside.set(attempting, row)
  }

  function placesOutside(appId: string): number {
    return outsideOfAppMax - [...outside.values()].filter(({ app_id }) => app_id === appId).length
  }

  return {
    async run() {
      const again = cutShort.splice(0)
      await tryInTurn(again)
      const begun = await claim('outside', outsideMax - outside.size, placesOutside)
      begun.forEach(begin)
      const claimed = await claim('inside', jobsPerBatch)
      await tryInTurn(claimed)
      return again.length + begun.length + claimed.length > 0
    },
    async runBulk(resting) {
      const claimed = await claim('bulk', 1, (appId) => (resting.has(appId) ? 0 : 1))
      await tryInTurn(claimed)
      return claimed[0]?.app_id
    },
    async outsideMoves() {
      if (outside.size === 0) return false
      await Promise.race([...outside.keys(), pause(lookMilliseconds, undefined, { ref: false })])
      return true
    },
    async sortIntoLanes() {
      for (const lane of lanes) {
        const names = [...definitions.values()].filter((each) => laneOf(each) === lane).map(({ name }) => name)
        if (names.length > 0) await database.write((connection) => sortInto(connection, lane, names))
      }
    },
  }
}

async function sortInto({ query }: Connection, lane: JobLane, names: string[]): Promise<void> {
  await query.updateTable('jobs').set({ lane }).where('name', 'in', names).where('lane', '!=', lane).execute()
}

async function attempt(
  database: Database,
  definition: JobDefinition | undefined,
  row: JobRow,
  tools: Tools,
  log: Logger,
  effort: Effort,
): Promise<void> {
  const attemptsMax = definition?.attemptsMax ?? Number.POSITIVE_INFINITY
  try {
    if (row.attempts > attemptsMax) throw new Error('The process ended with each attempt.')
    if (!definition) throw new Error(`There is no job named ${row.name}.`)
    const payload = JSON.parse(row.payload)
    const inApp: InApp = (work) =>
      database.write((connection) => work(workIn(connection, row.app_id, tools)), row.app_id)
    const given = await database.read(
      async (connection) => definition.prepare?.(payload, { db: tenantDb(connection, row.app_id), tools, inApp }),
      row.app_id,
    )
    await database.write(async (connection) => {
      if (!(await holdClaim(connection, row))) return
      const again = await counted(effort, () => definition.run(payload, workIn(connection, row.app_id, tools), given))
      if (again) await change(connection, row, { ...nextRun(again), attempts: 0, locked_until: 0, last_error: null })
      else await tenantDb(connection, row.app_id).delete('jobs').where(isRow(row)).execute()
    }, row.app_id)
  } catch (error) {
    // No failure of the job, and nothing can be noted now.
    if (error instanceof DatabaseUnavailable) throw error
    log.error({ err: error, job: row.name, key: row.key, attempts: row.attempts }, 'a job failed')
    const now = tools.clock.now()
    const dead = row.attempts >= attemptsMax
    const failure = {
      run_at: now + backoffSeconds(row.attempts),
      locked_until: 0,
      last_error: String(error).slice(0, errorCharactersMax),
      dead_at: dead ? now : null,
    }
    await database.write(async (connection) => {
      if (await holdClaim(connection, row)) await change(connection, row, failure)
    })
  }
}

function nextRun({ againAt, payload }: Again): Partial<JobRow> {
  return { run_at: againAt, ...(payload !== undefined && { payload: JSON.stringify(payload) }) }
}

async function change(connection: Connection, row: JobRow, changes: Partial<JobRow>): Promise<void> {
  await tenantDb(connection, row.app_id).update('jobs').set(changes).where(isRow(row)).execute()
}
