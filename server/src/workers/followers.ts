import type { Logger } from 'pino'
import { eventsByName } from '../dispatch/events-by-name.ts'
import type { Area } from '../kit/area.ts'
import type { Tools } from '../kit/ports.ts'
import type { Database } from '../storage/database.ts'
import { createFollowerRunner, moveOn, type Surroundings } from './follower-runner.ts'
import { createLeases } from './leases.ts'
import { createLogReader, type LogReader } from './log-reader.ts'
import { createLoop } from './loop.ts'
import { keepRecentEvents } from './recent-events.ts'

/** All followers of a node. Each goes on by itself: one that is slow or fails delays nobody else. */
export interface Followers {
  /** Lets each of them read on, in a loop of its own. */
  wake(): void
  /** Lets their loops begin nothing more. */
  stop(): void
  /** Waits until none of them is at anything. */
  rest(): Promise<void>
  /** Gives every follower its next events and waits for all of them; answers whether any of them moved. */
  run(): Promise<boolean>
  /** Whether an event is written that this node's followers have not come to yet. */
  isBehind(): Promise<boolean>
  /**
   * Notes how far followers at rest have passed over events that do not concern them. Until then a crash only makes them
   * pass over those again; but the log is trimmed behind what is noted.
   */
  note(): Promise<void>
  /** Lets another node take over at once. */
  release(): Promise<void>
}

interface Options extends Partial<Pick<Surroundings, 'worked'>> {
  /** What tells them of events; by default one that only `run` reads on. */
  reader?: LogReader
  failed?(error: unknown): void
}

export function createFollowers(
  database: Database,
  areas: Area[],
  tools: () => Tools,
  log: Logger,
  { worked = () => {}, failed = () => {}, reader = createLogReader(database, failed) }: Options = {},
): Followers {
  const leases = createLeases(database)
  const events = eventsByName(areas)
  const eventsAfter = keepRecentEvents(reader, database)
  const surroundings = { database, events, eventsAfter, doubtLog: reader.doubt, leases, tools, log, worked }
  const runners = areas
    .flatMap((area) => area.followers)
    .map((follower) => createFollowerRunner(follower, surroundings))
    // Always in the same order, so that two nodes that note cannot wait for each other.
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const loops = new Map(runners.map((runner) => [runner, createLoop(runner.step, { failed })]))

  reader.subscribe((rows, from) => {
    for (const [runner, loop] of loops) if (runner.hear(rows, from)) loop.wake()
    if (runners.some(({ isToBeNoted }) => isToBeNoted())) void note().catch(failed)
  })

  async function note(): Promise<void> {
    const moved = runners.flatMap((runner) => {
      const place = runner.unnoted()
      return place ? [{ runner, place }] : []
    })
    if (moved.length === 0) return
    const noting = database.write(async (connection) => {
      const names = new Set<string>()
      for (const { runner, place } of moved) {
        if (await moveOn(connection, runner.name, place.stored, place.read)) names.add(runner.name)
      }
      return names
    })
    const isNoted = (name: string) =>
      noting.then(
        (names) => names.has(name),
        () => false,
      )
    await Promise.all(moved.map(({ runner }) => runner.whileNoted(isNoted(runner.name))))
    await noting
  }

  return {
    wake() {
      for (const loop of loops.values()) loop.wake()
    },
    stop() {
      for (const loop of loops.values()) void loop.stop()
    },
    async rest() {
      while (runners.some(({ isAtRest }) => !isAtRest())) await Promise.all(runners.map(({ rest }) => rest()))
    },
    async run() {
      const isNews = await reader.readAll()
      const moved = await Promise.all(runners.map(({ step }) => step()))
      return isNews || moved.includes(true)
    },
    async isBehind() {
      const positions = runners.flatMap(({ position }) => position() ?? [])
      return positions.length > 0 && hasEventsAfter(database, Math.min(...positions))
    },
    note,
    release: leases.release,
  }
}

/** Counts also events that `eventsAfter` still holds back, because others that come before them may be under way. */
async function hasEventsAfter({ reader }: Database, position: number): Promise<boolean> {
  const events = reader.query.selectFrom('events').select('events.id').where('events.id', '>', position)
  return (await events.limit(1).executeTakeFirst()) !== undefined
}
