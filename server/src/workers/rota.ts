import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../storage/database.ts'
import type { JobLane } from '../storage/tables.ts'

// As many jobs as are looked at in the order of their time; while no more are due, all apps that wait are known by that.
const oldestMax = 100
// Each costs a look into the index, whether or not anything of that app is due.
const appsWalkedMax = 200

/** The clock's time, by which jobs are due, and the real time, by which claims run out. */
export interface Moment {
  due: number
  now: number
}

/** In which order the apps of a lane take turns. */
export interface Rota {
  /** Up to `count` of the apps that may have a turn and have a job that is due; whose turn was longest ago comes first. */
  next(moment: Moment, count: number, mayHaveTurn?: (appId: string) => boolean): Promise<string[]>
}

/**
 * Apps take turns in the order of their ids, each node on its own. However much one app has queued, finding the others
 * does not mean reading it: where more is due than is looked at, the apps of the lane are walked through by an index that
 * begins with them, from where the last turn ended.
 */
export function createRota({ reader }: Pick<Database, 'reader'>, lane: JobLane): Rota {
  let last = ''

  async function oldestFirst({ due, now }: Moment): Promise<string[]> {
    const rows = await reader.query
      .selectFrom('jobs')
      .select('app_id')
      .where('lane', '=', lane)
      .where('dead_at', 'is', null)
      .where('run_at', '<=', due)
      .where('locked_until', '<=', now)
      .orderBy('run_at')
      .limit(oldestMax)
      .execute()
    return rows.map(({ app_id }) => app_id)
  }

  /** The apps after one that have jobs in the lane, and whether any of those is due. */
  async function walk(after: string, { due, now }: Moment, appsMax: number): Promise<Walked[]> {
    const queued = sql`FROM jobs WHERE jobs.lane = ${lane} AND jobs.dead_at IS NULL`
    // Asked for in order and one at a time, a database finds each by its place in the index and reads nothing before it.
    const appAfter = (place: RawBuilder<unknown>) =>
      sql`(SELECT jobs.app_id ${queued} AND jobs.app_id > ${place} ORDER BY jobs.app_id LIMIT 1)`
    const { rows } = await sql<Walked>`
      WITH RECURSIVE walk (app_id, steps) AS (
        SELECT ${appAfter(sql`${after}`)}, 1
        UNION ALL
        SELECT ${appAfter(sql`walk.app_id`)}, walk.steps + 1
        FROM walk WHERE walk.app_id IS NOT NULL AND walk.steps < ${sql.lit(appsMax)})
      SELECT walk.app_id AS "appId", coalesce((SELECT 1 ${queued} AND jobs.app_id = walk.app_id
        AND jobs.run_at <= ${due} AND jobs.locked_until <= ${now} ORDER BY jobs.run_at LIMIT 1), 0) AS "isDue"
      FROM walk WHERE walk.app_id IS NOT NULL`.execute(reader.query)
    return rows
  }

  /** Once around, or as far as one look goes. */
  async function walkOn(moment: Moment): Promise<Walked[]> {
    const ahead = await walk(last, moment, appsWalkedMax)
    if (ahead.length === appsWalkedMax) return ahead
    return [...ahead, ...(await walk('', moment, appsWalkedMax - ahead.length))]
  }

  return {
    async next(moment, count, mayHaveTurn = () => true) {
      const oldest = await oldestFirst(moment)
      const isCrowded = oldest.length === oldestMax
      const walked = isCrowded ? await walkOn(moment) : inOrderAfter(last, oldest)
      const waiting = walked.filter(({ isDue }) => isDue === 1).map(({ appId }) => appId)
      const apps = [...new Set([...waiting, ...oldest])].filter(mayHaveTurn).slice(0, count)
      const served = waiting.findLast((appId) => apps.includes(appId))
      last = served ?? walked.at(-1)?.appId ?? last
      return apps
    },
  }
}

interface Walked {
  appId: string
  isDue: number
}

function inOrderAfter(last: string, apps: string[]): Walked[] {
  const sorted = [...new Set(apps)].toSorted()
  const ahead = sorted.filter((appId) => appId > last)
  return [...ahead, ...sorted.filter((appId) => appId <= last)].map((appId) => ({ appId, isDue: 1 }))
}
