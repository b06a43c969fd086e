import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Area } from '../kit/area.ts'
import type { Tools } from '../kit/ports.ts'
import type { Database } from '../storage/database.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import { createBulkPace } from './bulk-pace.ts'
import type { Effort } from './effort.ts'
import { createFollowerLoop } from './followers.ts'
import { createHousekeeping } from './housekeeping.ts'
import { createJobLoop } from './jobs.ts'

/** Everything that happens after a request: followers of the log, jobs, and cleaning up. */
export interface Workers {
  start(): void
  stop(): Promise<void>
  /** Runs until nothing is due, or so long; what is left then goes on by itself. */
  settle(milliseconds?: number): Promise<void>
}

// Wake-ups can be lost; this bounds how late anything is noticed without one.
const pollMilliseconds = 500
const noteMilliseconds = 5_000
const housekeepingMilliseconds = 60_000
// Wake-ups come with every commit; what comes within this time is looked at together.
const gatherMilliseconds = 5
// After a round that failed.
const awayMilliseconds = 500
// A follower or job that produces work for itself without end must not hold up its caller for ever.
const settleRoundsMax = 10_000
// Nor must somebody's long transaction, which holds back the events after it.
const settleWaitsMax = 400
const settleWaitMilliseconds = 5
const nobody: ReadonlySet<string> = new Set()

export function createWorkers(
  database: Database,
  areas: Area[],
  tools: () => Tools,
  retentionDays: number,
  log: Logger,
): Workers {
  const effort: Effort = { milliseconds: 0 }
  const followers = createFollowerLoop(database, areas, tools, log, effort)
  const jobs = createJobLoop(database, areas, tools, log, effort)
  const clean = createHousekeeping(database, areas, tools, retentionDays)
  /** That the database is away is told once, by whoever is connected to it. */
  const tell = (what: string) => (error: unknown) => {
    if (!(error instanceof DatabaseUnavailable)) log.error({ err: error }, what)
  }
  let running = false
  let current: Promise<unknown> = Promise.resolve()
  let timers: NodeJS.Timeout[] = []

  const pace = createBulkPace()
  let restTimer: NodeJS.Timeout | undefined

  /** A batch of bulk work of an app that does not rest; answers whether there was any. */
  async function bulkTurn(): Promise<boolean> {
    const resting = pace.resting(performance.now())
    const worked = resting !== 'all' && (await workInBulk(resting))
    const now = performance.now()
    const endsAt = pace.restEndsAt(now)
    clearTimeout(restTimer)
    if (running && endsAt !== undefined) restTimer = setTimeout(() => void wake(), endsAt - now)
    return worked
  }

  /** What the events of a batch lead to belongs to it, and is rested from as well. */
  async function workInBulk(resting: ReadonlySet<string>): Promise<boolean> {
    effort.milliseconds = 0
    const appId = await jobs.runBulk(resting)
    if (appId === undefined) return false
    await followers.run()
    pace.worked(appId, effort.milliseconds, performance.now())
    return true
  }

  /** One round; answers whether anything was done. Rounds never overlap. Whoever waits for the end allows no rest. */
  function round(rests: boolean): Promise<boolean> {
    const next = current.then(async () => {
      const followed = await followers.run()
      const worked = await jobs.run()
      const advanced = rests ? await bulkTurn() : (await jobs.runBulk(nobody)) !== undefined
      return followed || worked || advanced
    })
    current = next.catch(() => {})
    return next
  }

  /** In turn with the rounds, which move the followers. */
  function note(): Promise<void> {
    const next = current.then(followers.note)
    current = next.catch(tell('followers could not be noted; they are noted later'))
    return next
  }

  async function runUntilIdle(milliseconds = Number.POSITIVE_INFINITY): Promise<void> {
    const deadline = performance.now() + milliseconds
    for (let rounds = 0, waits = 0; rounds < settleRoundsMax && waits < settleWaitsMax; rounds += 1) {
      if (performance.now() > deadline) return
      if ((await round(false)) || (await jobs.outsideMoves())) continue
      if (!(await followers.isBehind())) return note()
      waits += 1
      await pause(settleWaitMilliseconds)
    }
  }

  let looping = false
  let wokenMeanwhile = false
  async function wake(): Promise<void> {
    if (!running) return
    if (looping) {
      wokenMeanwhile = true
      return
    }
    looping = true
    try {
      do {
        wokenMeanwhile = false
        await pause(gatherMilliseconds)
        while (running && (await round(true))) {}
      } while (wokenMeanwhile && running)
    } catch (error) {
      tell('workers: a round failed; it is tried again')(error)
      // Woken or not: whoever connects to a database that is starting only keeps it from doing so.
      await pause(awayMilliseconds, undefined, { ref: false })
    } finally {
      looping = false
    }
  }

  return {
    start() {
      running = true
      database.onWake(() => void wake())
      timers = [
        setInterval(() => void wake(), pollMilliseconds),
        setInterval(() => void note().catch(() => {}), noteMilliseconds),
        setInterval(() => void clean().catch(tell('housekeeping failed')), housekeepingMilliseconds),
      ]
      void database
        .releaseClaims()
        .then(jobs.sortIntoLanes)
        .catch(tell('jobs could not be given back and sorted'))
        .then(wake)
    },
    async stop() {
      running = false
      for (const timer of timers) clearInterval(timer)
      clearTimeout(restTimer)
      await note().catch(() => {})
      while (await jobs.outsideMoves()) {}
      // Leases that cannot be given back run out by themselves.
      await followers.release().catch(() => {})
    },
    settle: runUntilIdle,
  }
}
