import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../storage/database.ts'
import type { JobLane } from '../storage/tables.ts'

// As many jobs as are looked at in the order of their time; while no more are due, all that wait are known by that.
const oldestMax = 100
// Each costs a look into the index, whether or not anything of that app is due.
const appsWalkedMax = 200

/** The clock's time, by which jobs are due, and the real time, by which claims run out. */
export interface JobTimes {
  due: number
  now: number
}

/** Apps that wait for their turn, whose was longest ago first. */
export interface Waiting {
  apps: string[]
  /** Where their jobs go, if no more are due than were looked at; otherwise that is to be found out. */
  destinations?: Map<string, string[]>
}

/** In which order the apps of a lane take turns. */
export interface Rota {
  /** Shows who waits, and lets `choose` say whose turn it is; the next look begins after them. */
  next<Turn extends { appId: string }>(
    moment: JobTimes,
    choose: (waiting: Waiting) => Turn[] | Promise<Turn[]>,
  ): Promise<Turn[]>
}

/**
 * Apps take turns in the order of their ids, each node on its own. However much one app has queued, finding the others
 * does not mean reading it: where more is due than is looked at, the apps of the lane are walked through by an index that
 * begins with them, from where the last turn ended.
 */
export function createRota({ reader }: Pick<Database, 'reader'>, lane: JobLane): Rota {
  let last = ''

  async function oldestFirst({ due, now }: JobTimes): Promise<Queued[]> {
    return reader.query
      .selectFrom('jobs')
      .select(['app_id as appId', 'destination'])
      .where('lane', '=', lane)
      .where('dead_at', 'is', null)
      .where('run_at', '<=', due)
      .where('locked_until', '<=', now)
      .orderBy('run_at')
      .limit(oldestMax)
      .execute()
  }

  /**
   * The apps after one that have jobs in the lane, and whether any of those is due. Outside, that is asked of each
   * destination later on.
   */
  async function walk(after: string, { due, now }: JobTimes, appsMax: number): Promise<Walked[]> {
    const queued = sql`FROM jobs WHERE jobs.lane = ${lane} AND jobs.dead_at IS NULL`
    // Asked for in order and one at a time, a database finds each by its place in the index and reads nothing before it.
    const appAfter = (place: RawBuilder<unknown>) =>
      sql`(SELECT jobs.app_id ${queued} AND jobs.app_id > ${place} ORDER BY jobs.app_id LIMIT 1)`
    const isDue =
      lane === 'outside'
        ? sql`1`
        : sql`coalesce((SELECT 1 ${queued} AND jobs.app_id = walk.app_id AND jobs.destination = ''
            AND jobs.run_at <= ${due} AND jobs.locked_until <= ${now} ORDER BY jobs.run_at LIMIT 1), 0)`
    const { rows } = await sql<Walked>`
      WITH RECURSIVE walk (app_id, steps) AS (
        SELECT ${appAfter(sql`${after}`)}, 1
        UNION ALL
        SELECT ${appAfter(sql`walk.app_id`)}, walk.steps + 1
        FROM walk WHERE walk.app_id IS NOT NULL AND walk.steps < ${sql.lit(appsMax)})
      SELECT walk.app_id AS "appId", ${isDue} AS "isDue" FROM walk WHERE walk.app_id IS NOT NULL`.execute(reader.query)
    return rows
  }

  /** Once around, or as far as one look goes. */
  async function walkOn(moment: JobTimes): Promise<Walked[]> {
    const ahead = await walk(last, moment, appsWalkedMax)
    if (ahead.length === appsWalkedMax) return ahead
    return [...ahead, ...(await walk('', moment, appsWalkedMax - ahead.length))]
  }

  return {
    async next(moment, choose) {
      const oldest = await oldestFirst(moment)
      if (oldest.length === 0) return []
      const isCrowded = oldest.length === oldestMax
      const known = oldest.map(({ appId }) => appId)
      const walked = isCrowded ? await walkOn(moment) : inOrderAfter(last, known)
      const waiting = walked.filter(({ isDue }) => isDue === 1).map(({ appId }) => appId)
      const apps = [...new Set([...waiting, ...known])]
      const turns = await choose(isCrowded ? { apps } : { apps, destinations: destinationsOf(oldest) })
      const chosen = new Set(turns.map(({ appId }) => appId))
      last = waiting.findLast((appId) => chosen.has(appId)) ?? walked.at(-1)?.appId ?? last
      return turns
    },
  }
}

interface Queued {
  appId: string
  destination: string
}

interface Walked {
  appId: string
  isDue: number
}

function destinationsOf(queued: Queued[]): Map<string, string[]> {
  const byApp = Map.groupBy(queued, ({ appId }) => appId)
  return new Map([...byApp].map(([appId, jobs]) => [appId, [...new Set(jobs.map(({ destination }) => destination))]]))
}

function inOrderAfter(last: string, apps: string[]): Walked[] {
  const sorted = [...new Set(apps)].toSorted()
  const ahead = sorted.filter((appId) => appId > last)
  return [...ahead, ...sorted.filter((appId) => appId <= last)].map((appId) => ({ appId, isDue: 1 }))
}
