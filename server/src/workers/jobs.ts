import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Area } from '../kit/area.ts'
import { laneOf } from '../kit/job.ts'
import type { Tools } from '../kit/ports.ts'
import type { Connection } from '../storage/connection.ts'
import type { Database } from '../storage/database.ts'
import { destinationMark } from '../storage/destination.ts'
import type { JobLane, JobRow } from '../storage/tables.ts'
import { tenantDb } from '../storage/tenant.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import { attempt } from './attempt.ts'
import { claimSeconds, claimSome, giveBack, renewClaim } from './claims.ts'
import { createDestinations } from './destinations.ts'
import type { Effort } from './effort.ts'
import { type HeldJob, heldJob, LetGo } from './held-job.ts'
import { createOutsidePlaces, type Way } from './places.ts'
import { createRota, type JobTimes } from './rota.ts'

const jobsPerBatch = 20
// Apps whose jobs run side by side; those of one app run in their order.
const insideMax = 4
const outsidePerRound = 32
const lookMilliseconds = 50
const lanes: JobLane[] = ['inside', 'outside', 'bulk']

export const renewMilliseconds = (claimSeconds * 1000) / 3

/** Each lane has rounds of its own, which do not wait for those of another and never overlap with each other. */
export interface JobLanes {
  /** Runs some of the jobs that are due; answers whether there were any. */
  runInside(): Promise<boolean>
  /** Begins some of those that work outside; answers whether there were any. */
  runOutside(): Promise<boolean>
  /** Runs a batch of bulk work, of the next app but those that rest; answers whose it was, if there was any. */
  runBulk(resting: ReadonlySet<string>): Promise<string | undefined>
  /** Waits a moment for one of those that work outside; answers whether there was any. */
  outsideMoves(): Promise<boolean>
  /** Lets the claims of whatever is in hand last. */
  renew(): Promise<void>
  /** Jobs that an earlier version has queued may belong into other lanes. */
  sortIntoLanes(): Promise<void>
  /** Begins nothing more, until what is in hand is let go. */
  close(): void
  /** Lets others have what is still in hand. */
  letGo(): Promise<void>
}

interface Options {
  effort?: Effort
  /** Told whenever a job that works outside is done. */
  onMove?: () => void
}

/**
 * When a job is due is told by the clock, which tests and the emulator move; how long a worker's claim holds is real
 * time. Jobs that have something to do with the outside world have a lane of their own: they may take long, and nobody
 * waits for them. Bulk work has one too: it goes a batch at a time, when the workers have rested. In each lane apps take
 * turns.
 */
export function createJobLanes(
  database: Database,
  areas: Area[],
  tools: () => Tools,
  log: Logger,
  { effort = { milliseconds: 0 }, onMove = () => {} }: Options = {},
): JobLanes {
  const definitions = new Map(areas.flatMap((area) => area.jobs).map((definition) => [definition.name, definition]))
  const rotas = {
    inside: createRota(database, 'inside'),
    outside: createRota(database, 'outside'),
    bulk: createRota(database, 'bulk'),
  }
  const places = createOutsidePlaces(definitions)
  const destinations = createDestinations(database, places)
  const inHand = new Set<HeldJob>()
  const outside = new Set<Promise<unknown>>()
  let isClosed = false

  // Only bulk work is rested from.
  const tryJob = (held: HeldJob, countedIn: Effort = { milliseconds: 0 }) =>
    attempt({ database, tools: tools(), log, effort: countedIn }, definitions.get(held.row.name), held)

  function take(row: JobRow): HeldJob {
    const held = heldJob(row)
    inHand.add(held)
    return held
  }

  /**
   * Claimed jobs that the loss of the database has cut short. They are tried again under the same claim, which tells
   * whether they were done after all, and whether another node has taken them over.
   */
  const cutShort: Record<'inside' | 'bulk', HeldJob[]> = { inside: [], bulk: [] }

  function setAside(lane: 'inside' | 'bulk', jobs: HeldJob[], error: unknown): void {
    if (error instanceof DatabaseUnavailable) cutShort[lane].push(...jobs)
    else for (const held of jobs) inHand.delete(held)
  }

  async function tryInTurn(lane: 'inside' | 'bulk', jobs: HeldJob[]): Promise<void> {
    for (const [position, held] of jobs.entries()) {
      if (isClosed) return
      try {
        await tryJob(held, lane === 'bulk' ? effort : undefined)
        inHand.delete(held)
      } catch (error) {
        setAside(lane, jobs.slice(position), error)
        throw error
      }
    }
  }

  /** Claims as much in each line as ways lead there; `missed` is told of those that found nothing. */
  async function claim(lane: JobLane, moment: JobTimes, ways: Way[], missed = (_: Way) => {}): Promise<HeldJob[]> {
    const lines = Map.groupBy(ways, ({ appId, destination }) => JSON.stringify([appId, destination]))
    const rows: JobRow[] = []
    try {
      const claimed = await database.write(async (connection) => {
        const found: JobRow[] = []
        for (const [{ appId, destination }, ...more] of lines.values() as Iterable<[Way, ...Way[]]>) {
          const db = tenantDb(connection, appId)
          found.push(...(await claimSome(db, { lane, destination }, moment, 1 + more.length)))
        }
        return found
      })
      rows.push(...claimed)
    } finally {
      for (const { app_id, destination } of rows) lines.get(JSON.stringify([app_id, destination]))?.pop()
      for (const left of lines.values()) left.forEach(missed)
    }
    return rows.map(take)
  }

  const moment = (): JobTimes => ({ due: tools().clock.now(), now: Math.floor(Date.now() / 1000) })

  /** Looking first whose turn it is spares an idle install a write transaction every half second. */
  async function claimInTurn(
    lane: 'inside' | 'bulk',
    jobsMax: number,
    mayHaveTurn = (_appId: string) => true,
  ): Promise<HeldJob[]> {
    const now = moment()
    const ways = await rotas[lane].next(now, ({ apps }) => {
      const turns = apps.filter(mayHaveTurn).slice(0, jobsMax)
      const ofEach = Math.max(1, Math.floor(jobsMax / turns.length))
      return turns.flatMap((appId) => Array.from({ length: ofEach }, () => ({ appId, destination: '' })))
    })
    return ways.length === 0 ? [] : claim(lane, now, ways)
  }

  async function claimOutside(): Promise<HeldJob[]> {
    const now = moment()
    const ways = await rotas.outside.next(now, (waiting) => destinations.choose(now, waiting, outsidePerRound))
    return ways.length === 0 ? [] : claim('outside', now, ways, places.leave)
  }

  function begin(held: HeldJob): void {
    const { row } = held
    const attempting: Promise<unknown> = tryJob(held)
      .catch((error) => {
        if (error instanceof DatabaseUnavailable) return
        log.error({ err: error, job: row.name }, 'a job could not be put down; its claim runs out')
      })
      .finally(() => {
        outside.delete(attempting)
        inHand.delete(held)
        places.leave(wayOf(row))
        onMove()
      })
    outside.add(attempting)
  }

  async function runApps(jobs: HeldJob[]): Promise<void> {
    const waiting = [...Map.groupBy(jobs, ({ row }) => row.app_id).values()]
    const runNext = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await tryInTurn('inside', next)
    }
    const runs = await Promise.allSettled(Array.from({ length: insideMax }, runNext))
    const failed = runs.find((run) => run.status === 'rejected')
    if (!failed) return
    setAside('inside', waiting.flat(), failed.reason)
    throw failed.reason
  }

  return {
    async runInside() {
      if (isClosed) return false
      const again = cutShort.inside.splice(0)
      await runApps(again)
      const claimed = await claimInTurn('inside', jobsPerBatch)
      await runApps(claimed)
      return again.length + claimed.length > 0
    },
    async runOutside() {
      if (isClosed) return false
      const begun = await claimOutside()
      begun.forEach(begin)
      return begun.length > 0
    },
    async runBulk(resting) {
      if (isClosed) return undefined
      const again = cutShort.bulk.splice(0)
      const batch = again.length > 0 ? again : await claimInTurn('bulk', 1, (appId) => !resting.has(appId))
      await tryInTurn('bulk', batch)
      return batch[0]?.row.app_id
    },
    async outsideMoves() {
      if (outside.size === 0) return false
      await Promise.race([...outside, pause(lookMilliseconds, undefined, { ref: false })])
      return true
    },
    async renew() {
      const now = Math.floor(Date.now() / 1000)
      // What was claimed only just now is done before it is time again.
      const aging = [...inHand].filter(({ until }) => until - now <= claimSeconds - renewMilliseconds / 1000)
      await Promise.all(
        aging.map(async (held) => {
          const renewing = (connection: Connection) => renewClaim(connection, held.row, now)
          held.until = (await database.write(renewing, held.row.app_id).catch(() => undefined)) ?? held.until
          if (held.until <= now) held.end(new LetGo('The claim has run out.'))
        }),
      )
    },
    async sortIntoLanes() {
      for (const lane of lanes) {
        const names = [...definitions.values()].filter((each) => laneOf(each) === lane).map(({ name }) => name)
        if (names.length > 0) await database.write((connection) => sortInto(connection, lane, names))
      }
    },
    close() {
      isClosed = true
    },
    async letGo() {
      const left = [...inHand]
      for (const held of left) held.end(new LetGo('The server stops.'))
      // What cannot be given back now runs out by itself.
      await Promise.allSettled(
        left.map(({ row }) => database.write((connection) => giveBack(connection, row), row.app_id)),
      )
      for (const held of left) inHand.delete(held)
      for (const held of Object.values(cutShort)) held.length = 0
      isClosed = false
    },
  }
}

const wayOf = ({ app_id, destination }: JobRow): Way => ({ appId: app_id, destination })

async function sortInto({ query }: Connection, lane: JobLane, names: string[]): Promise<void> {
  const named = query.updateTable('jobs').where('name', 'in', names)
  if (lane !== 'outside') await named.set({ lane, destination: '' }).where('lane', '!=', lane).execute()
  else {
    await named
      .set({ lane, destination: sql`name || ${sql.lit(destinationMark)}` })
      .where((is) => is.or([is('lane', '!=', lane), is('destination', '=', '')]))
      .execute()
  }
}
