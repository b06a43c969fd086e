import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../storage/database.ts'
import type { OutsidePlaces, Way } from './places.ts'
import type { JobTimes, Waiting } from './rota.ts'

const appsAtOnce = 25
// Of an app. Each costs a look into the index, whether or not anything that goes there is due.
const destinationsWalkedMax = 40
const appsRememberedMax = 1_000

/** Which ways outside are taken next: apps in their order, and the destinations of each in turn. */
export interface Destinations {
  /** Takes up to so many places; who takes one may find nothing left to claim there. */
  choose(moment: JobTimes, waiting: Waiting, placesMax: number): Promise<Way[]>
}

/**
 * Apps are given one place after the other, each to the next of its destinations that has room. What an app has queued is
 * not read to find its destinations: they are walked through by an index, from where its last turn ended.
 */
export function createDestinations({ reader }: Pick<Database, 'reader'>, places: OutsidePlaces): Destinations {
  const lastOf = new Map<string, string>()

  function remember(appId: string, destination: string): void {
    if (lastOf.size >= appsRememberedMax) lastOf.clear()
    lastOf.set(appId, destination)
  }

  /** What is due of some apps, those that come next first. */
  async function walk(apps: string[], { due, now }: JobTimes): Promise<Map<string, Walked[]>> {
    const queued = sql`FROM jobs WHERE jobs.lane = 'outside' AND jobs.dead_at IS NULL AND jobs.app_id =`
    // Asked for in order and one at a time, a database finds each by its place in the index and reads nothing before it.
    const first = (appId: RawBuilder<unknown>, condition: RawBuilder<unknown>) =>
      sql`(SELECT jobs.destination ${queued} ${appId} AND jobs.destination ${condition}
        ORDER BY jobs.destination LIMIT 1)`
    // On from where the last turn ended, and once more from the beginning.
    const begins = apps.flatMap((appId) => {
      const last = lastOf.get(appId) ?? ''
      return last === '' ? [sql`(${appId}, '', 0)`] : [sql`(${appId}, ${last}, 0)`, sql`(${appId}, '', 1)`]
    })
    const walked = await sql<Walked>`
      WITH RECURSIVE begins (app_id, place, lap) AS (VALUES ${sql.join(begins)}),
      walk (app_id, destination, lap, steps) AS (
        SELECT begins.app_id, ${first(sql`begins.app_id`, sql`>= begins.place`)}, begins.lap, 1 FROM begins
        UNION ALL
        SELECT walk.app_id, ${first(sql`walk.app_id`, sql`> walk.destination`)}, walk.lap, walk.steps + 1
        FROM walk WHERE walk.destination IS NOT NULL AND walk.steps < ${sql.lit(destinationsWalkedMax)})
      SELECT walk.app_id AS "appId", walk.destination, walk.lap, coalesce((SELECT 1 ${queued} walk.app_id
        AND jobs.destination = walk.destination AND jobs.run_at <= ${due} AND jobs.locked_until <= ${now}
        ORDER BY jobs.run_at LIMIT 1), 0) AS "isDue"
      FROM walk WHERE walk.destination IS NOT NULL ORDER BY walk.lap, walk.steps`.execute(reader.query)
    return Map.groupBy(walked.rows, ({ appId }) => appId)
  }

  /** Where something of each app is due, in the order of turns. */
  async function waitingAt(apps: string[], moment: JobTimes, known: Waiting['destinations']): Promise<Line[]> {
    if (known) return apps.map((appId) => ({ appId, open: inOrderAfter(lastOf.get(appId), known.get(appId) ?? []) }))
    const walked = await walk(apps, moment)
    return apps.map((appId) => {
      const found = walked.get(appId) ?? []
      const due = [...new Set(found.filter(({ isDue }) => isDue === 1).map(({ destination }) => destination))]
      const open = lastOf.get(appId) === due[0] ? [...due.slice(1), ...due.slice(0, 1)] : due
      const ahead = found.filter(({ lap }) => lap === 0)
      const end = ahead.length === destinationsWalkedMax ? ahead.at(-1) : found.at(-1)
      return { appId, open, end: end?.destination }
    })
  }

  return {
    async choose(moment, { apps, destinations }, placesMax) {
      const ways: Way[] = []
      for (let from = 0; from < apps.length && ways.length < placesMax; from += appsAtOnce) {
        const lines = await waitingAt(apps.slice(from, from + appsAtOnce), moment, destinations)
        const taken = inTurn(lines, places, placesMax - ways.length)
        const served = new Map(taken.map(({ appId, destination }) => [appId, destination]))
        for (const { appId, end } of lines) {
          // Where nobody could be served, the next look goes on from the end of this one.
          const last = served.get(appId) ?? end
          if (last !== undefined) remember(appId, last)
        }
        ways.push(...taken)
      }
      return ways
    },
  }
}

interface Walked extends Way {
  lap: number
  isDue: number
}

/** The destinations of an app that have work, and where the look at them ended. */
interface Line {
  appId: string
  open: string[]
  end?: string | undefined
}

/** One place for each app, then another, while there are any; of an app, one destination after the other. */
function inTurn(lines: Line[], places: OutsidePlaces, placesMax: number): Way[] {
  const ways: Way[] = []
  let waiting = lines.map(({ appId, open }) => ({ appId, open: [...open] }))
  while (waiting.length > 0 && ways.length < placesMax) {
    for (const { appId, open } of waiting.slice(0, placesMax - ways.length)) {
      const destination = nextOf(open, (each) => places.take({ appId, destination: each }))
      if (destination !== undefined) ways.push({ appId, destination })
    }
    waiting = waiting.filter(({ open }) => open.length > 0)
  }
  return ways
}

/** The next that has room, which goes to the end; those before it have none and are left out. */
function nextOf(open: string[], hasRoom: (destination: string) => boolean): string | undefined {
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    if (!hasRoom(next)) continue
    open.push(next)
    return next
  }
  return undefined
}

function inOrderAfter(last: string | undefined, destinations: string[]): string[] {
  const sorted = destinations.toSorted()
  const isAhead = (each: string) => last === undefined || each > last
  return [...sorted.filter(isAhead), ...sorted.filter((each) => !isAhead(each))]
}
