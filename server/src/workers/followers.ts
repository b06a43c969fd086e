import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { eventsByName } from '../dispatch/events-by-name.ts'
import type { Area } from '../kit/area.ts'
import type { Tools } from '../kit/ports.ts'
import type { Database } from '../storage/database.ts'
import type { EventRow } from '../storage/tables.ts'
import { createFollowerRunner, moveOn, type Surroundings } from './follower-runner.ts'
import { createLoop, gatherMilliseconds } from './loop.ts'

const eventsPerBatch = 100

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

export function createFollowers(
  database: Database,
  areas: Area[],
  tools: () => Tools,
  log: Logger,
  {
    worked = () => {},
    failed = () => {},
  }: Partial<Pick<Surroundings, 'worked'> & { failed(error: unknown): void }> = {},
): Followers {
  const holder = randomUUID()
  const events = eventsByName(areas)
  const surroundings = { database, events, eventsAfter: readTogether(database), holder, tools, log, worked }
  const runners = areas
    .flatMap((area) => area.followers)
    .map((follower) => createFollowerRunner(follower, surroundings))
    // Always in the same order, so that two nodes that note cannot wait for each other.
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const loops = runners.map(({ step }) => createLoop(step, { gatherMilliseconds, failed }))

  return {
    wake() {
      for (const loop of loops) loop.wake()
    },
    stop() {
      for (const loop of loops) void loop.stop()
    },
    async rest() {
      while (runners.some(({ isAtRest }) => !isAtRest())) await Promise.all(runners.map(({ rest }) => rest()))
    },
    async run() {
      const moved = await Promise.all(runners.map(({ step }) => step()))
      return moved.includes(true)
    },
    async isBehind() {
      for (const { isBehind } of runners) if (await isBehind()) return true
      return false
    },
    async note() {
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
    },
    release: () => database.releaseLeases(holder),
  }
}

/**
 * Followers mostly stand at the same place and are woken together, so what comes after it is read once for all who ask in
 * the same moment. Nobody is given what was read before they asked: what they were woken for might be missing.
 */
function readTogether(database: Database): (position: number) => Promise<EventRow[]> {
  const asked = new Map<number, Promise<EventRow[]>>()
  return (position) => {
    const known = asked.get(position)
    if (known) return known
    const reading = nextTurn().then(() => {
      asked.delete(position)
      return database.eventsAfter(position, eventsPerBatch)
    })
    asked.set(position, reading)
    return reading
  }
}
