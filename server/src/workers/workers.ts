import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Area } from '../kit/area.ts'
import type { Tools } from '../kit/ports.ts'
import { within } from '../plain/time-limit.ts'
import type { Database } from '../storage/database.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import { createBulkPace } from './bulk-pace.ts'
import type { Effort } from './effort.ts'
import { createFollowers } from './followers.ts'
import { createHousekeeping } from './housekeeping.ts'
import { createJobLanes, renewMilliseconds } from './jobs.ts'
import type { LogReader } from './log-reader.ts'
import { createLoop, gatherMilliseconds, pollMilliseconds } from './loop.ts'

/** Everything that happens after a request: followers of the log, jobs, and cleaning up. */
export interface Workers {
  start(): void
  stop(): Promise<void>
  /** Runs until nothing is due, or so long; what is left then goes on by itself. */
  settle(milliseconds?: number): Promise<void>
}

const noteMilliseconds = 5_000
const housekeepingMilliseconds = 60_000
// What is outside when the server stops has so long to come back; then others may have it.
const farewellMilliseconds = 1_000
// A follower or job that produces work for itself without end must not hold up its caller for ever.
const settleRoundsMax = 10_000
// Nor must somebody's long transaction, which holds back the events after it.
const settleWaitsMax = 200
const settleWaitMilliseconds = 10
const nobody: ReadonlySet<string> = new Set()

export function createWorkers(
  { database, reader }: { database: Database; reader: LogReader },
  areas: Area[],
  tools: () => Tools,
  retentionDays: number,
  log: Logger,
): Workers {
  const effort: Effort = { milliseconds: 0 }
  const jobs = createJobLanes(database, areas, tools, log, { effort, onMove: leftOutside })
  const clean = createHousekeeping(database, areas, tools, retentionDays)
  /** That the database is away is told once, by whoever is connected to it. */
  const tell = (what: string) => (error: unknown) => {
    if (!(error instanceof DatabaseUnavailable)) log.error({ err: error }, what)
  }
  const followers = createFollowers(database, areas, tools, log, {
    reader,
    worked: countWithBulk,
    failed: tell('followers cannot read on; they try again'),
  })
  let running = false
  let stopListening = () => {}
  let timers: NodeJS.Timeout[] = []

  // Each goes on by itself, and none waits for another.
  const looking = (round: () => Promise<boolean>) =>
    createLoop(() => counting(round), {
      gatherMilliseconds,
      failed: tell('workers: a round failed; it is tried again'),
    })
  const inside = looking(() => jobs.runInside())
  const outside = looking(() => jobs.runOutside())
  const bulk = looking(() => bulkTurn())
  const lanes = [inside, outside, bulk]
  let moves = 0

  function wakeLanes(): void {
    if (running) for (const lane of lanes) lane.wake()
  }

  /** Wake-ups can be lost; and followers find out only by asking whether this node may run them. */
  function lookAround(): void {
    followers.wake()
    wakeLanes()
  }

  /** A job that is done leaves its place to another. */
  function leftOutside(): void {
    moves += 1
    if (running) outside.wake()
  }

  async function counting(round: () => Promise<boolean>): Promise<boolean> {
    const anything = await round()
    if (anything) moves += 1
    return anything
  }

  const pace = createBulkPace()
  let restTimer: NodeJS.Timeout | undefined
  const appsInBulk = new Set<string>()

  /** What the events of a batch lead to belongs to it, and is rested from as well. */
  function countWithBulk(appId: string, milliseconds: number): void {
    moves += 1
    if (appsInBulk.has(appId)) pace.worked(appId, milliseconds, performance.now())
  }

  /** A batch of bulk work of an app that does not rest; answers whether there was any. */
  async function bulkTurn(): Promise<boolean> {
    const resting = pace.resting(performance.now())
    const worked = resting !== 'all' && (await workInBulk(resting))
    const now = performance.now()
    const endsAt = pace.restEndsAt(now)
    clearTimeout(restTimer)
    if (running && endsAt !== undefined) restTimer = setTimeout(bulk.wake, endsAt - now)
    return worked
  }

  async function workInBulk(resting: ReadonlySet<string>): Promise<boolean> {
    effort.milliseconds = 0
    const appId = await jobs.runBulk(resting)
    if (appId === undefined) {
      if (resting.size === 0) appsInBulk.clear()
      return false
    }
    appsInBulk.add(appId)
    pace.worked(appId, effort.milliseconds, performance.now())
    return true
  }

  /** One round of everything; whoever waits for the end allows no rest. */
  async function roundOfAll(): Promise<void> {
    if (await followers.run()) moves += 1
    await outside.inTurn(() => counting(() => jobs.runOutside()))
    await inside.inTurn(() => counting(() => jobs.runInside()))
    await bulk.inTurn(() => counting(async () => (await jobs.runBulk(nobody)) !== undefined))
  }

  const note = () => followers.note().catch(tell('followers could not be noted; they are noted later'))

  async function runUntilIdle(milliseconds = Number.POSITIVE_INFINITY): Promise<void> {
    const deadline = performance.now() + milliseconds
    for (let rounds = 0, waits = 0; rounds < settleRoundsMax && waits < settleWaitsMax; rounds += 1) {
      if (performance.now() > deadline) return
      const before = moves
      await roundOfAll()
      // Whoever has moved anything, here or in a loop, may have left something to do for those before them.
      if (moves !== before || (await jobs.outsideMoves())) continue
      if (!(await followers.isBehind())) {
        await followers.rest()
        return note()
      }
      waits += 1
      await pause(settleWaitMilliseconds)
    }
  }

  return {
    start() {
      running = true
      stopListening = database.onWake('jobs', wakeLanes)
      reader.start()
      timers = [
        setInterval(lookAround, pollMilliseconds),
        setInterval(() => void note(), noteMilliseconds),
        setInterval(() => void jobs.renew(), renewMilliseconds),
        setInterval(() => void clean().catch(tell('housekeeping failed')), housekeepingMilliseconds),
      ]
      void database
        .releaseClaims()
        .then(jobs.sortIntoLanes)
        .catch(tell('jobs could not be given back and sorted'))
        .then(lookAround)
    },
    async stop() {
      running = false
      stopListening()
      for (const timer of timers) clearInterval(timer)
      clearTimeout(restTimer)
      jobs.close()
      // Whatever happens next, nothing is begun any more.
      followers.stop()
      const ended = lanes.map((lane) => lane.stop())
      // Those at rest first: one that is slow must not keep them from it.
      await note()
      await Promise.all([followers.rest(), ...ended])
      const deadline = performance.now() + farewellMilliseconds
      while (performance.now() < deadline && (await jobs.outsideMoves())) {}
      await jobs.letGo()
      // Leases that cannot be given back run out by themselves.
      await followers.release().catch(() => {})
    },
    // A follower that is slow does not keep whoever waits only so long.
    settle: (milliseconds) =>
      milliseconds === undefined ? runUntilIdle() : within(milliseconds, runUntilIdle(milliseconds), () => {}),
  }
}
