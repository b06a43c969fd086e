import type { Logger } from 'pino'
import type { EventsByName } from '../dispatch/events-by-name.ts'
import type { EventDefinition } from '../kit/event.ts'
import type { FollowedEvent, Follower } from '../kit/follower.ts'
import type { Tools } from '../kit/ports.ts'
import { workIn } from '../kit/work.ts'
import { oneByOne } from '../plain/one-by-one.ts'
import type { Connection } from '../storage/connection.ts'
import { type Database, logStart } from '../storage/database.ts'
import type { EventRow } from '../storage/tables.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import type { Leases } from './leases.ts'
import type { EventsAfter } from './recent-events.ts'

// A server that is killed again and again must still get on: so many are passed over once more, never all of them.
const passedMax = 200

/** How far a follower has read, what the database knows of that, and how many events lie between the two. */
export interface Progress {
  read: number
  stored: number
  passed: number
}

const notedAt = (position: number): Progress => ({ read: position, stored: position, passed: 0 })

export interface Surroundings {
  database: Database
  events: EventsByName
  eventsAfter: EventsAfter
  /** Told when something has failed that may mean that the log is no longer what it was. */
  doubtLog(): void
  leases: Leases
  tools(): Tools
  log: Logger
  /** Hears how long work for an app took inside a transaction. */
  worked(appId: string, milliseconds: number): void
}

/** One follower on this node. Whatever it does is done in turn, and nobody else waits for it. */
export interface FollowerRunner {
  name: string
  /** Gives it its next events, if this node may run it; answers whether it moved. */
  step(): Promise<boolean>
  /** Hears what comes after a position. Answers whether that is work for it; what is not is passed over at once. */
  hear(rows: EventRow[], from: number): boolean
  /** The last event it has read, while it goes on by itself; nothing, while another node runs it or it fails. */
  position(): number | undefined
  isAtRest(): boolean
  /** Where it stands, if that is not noted yet and it is at rest. */
  unnoted(): Progress | undefined
  /** Whether it has passed over so much that this is to be noted soon. */
  isToBeNoted(): boolean
  /** It rests until its place is noted, or not: then it goes by what is stored. */
  whileNoted(noting: Promise<boolean>): Promise<void>
  /** Waits for what it is at. */
  rest(): Promise<unknown>
}

export function createFollowerRunner(follower: Follower, surroundings: Surroundings): FollowerRunner {
  const { database, events, eventsAfter, doubtLog, leases, tools, log, worked } = surroundings
  const { name } = follower
  const wanted = new Map([...events].filter(([, event]) => isWantedBy(follower, event)))
  const { inTurn, isAtRest, rest } = oneByOne()
  let place: Progress | undefined
  let failures = 0
  let heldUpUntil = 0

  /** Whether this node may run the follower now. */
  async function mayRun(): Promise<boolean> {
    const held = await leases.hold(`follower ${name}`)
    // Somebody else may have moved the follower on while nobody, or they, held the lease.
    if (held !== 'still') place = undefined
    return held !== 'no'
  }

  async function readOn(): Promise<boolean> {
    const from = place ?? notedAt(await storedPosition(database, follower))
    place = from
    const rows = await eventsAfter(from.read)
    const all = rows.filter((row) => wanted.has(row.name))
    const some = all.slice(0, follower.eventsAtOnce)
    const next = some.length < all.length ? some.at(-1) : rows.at(-1)
    if (!next) return false
    const passed = from.passed + rows.length
    if (some.length > 0 || passed >= passedMax) {
      await database.write(async (connection) => {
        if (!(await moveOn(connection, name, from.stored, next.id))) throw new Error('It was moved on by another node.')
        for (const row of some) await handle(connection, row)
      })
      place = notedAt(next.id)
    } else place = { ...from, read: next.id, passed }
    return true
  }

  async function handle(connection: Connection, row: EventRow): Promise<void> {
    const definition = wanted.get(row.name)
    if (!definition) return
    const startedAt = performance.now()
    try {
      await follower.handle(followed(row, definition), workIn(connection, row.app_id, tools()))
    } finally {
      worked(row.app_id, performance.now() - startedAt)
    }
  }

  async function step(): Promise<boolean> {
    const now = Date.now() / 1000
    if (heldUpUntil > now) return false
    try {
      if (!(await mayRun())) return false
      const moved = await readOn()
      failures = 0
      return moved
    } catch (error) {
      // Where it stands now, only the stored position tells: its last step may have been committed or not.
      place = undefined
      doubtLog()
      // That the database is away is not its failure.
      if (error instanceof DatabaseUnavailable) throw error
      failures += 1
      heldUpUntil = now + Math.min(60, 2 ** failures / 2)
      log.error({ err: error, follower: name, failures }, 'a follower failed; it is tried again')
      return false
    }
  }

  function hear(rows: EventRow[], from: number): boolean {
    // Whoever does not run here, or not yet, finds out by themselves where to begin.
    if (!place) return false
    if (!isAtRest()) return true
    // Either it was quicker than the reader, or the log was set back: its stored position tells.
    if (place.read > from) place = undefined
    if (place?.read !== from || rows.some((row) => wanted.has(row.name))) return true
    const last = rows.at(-1) as EventRow
    place = { ...place, read: last.id, passed: place.passed + rows.length }
    return false
  }

  return {
    name,
    step: () => inTurn(step),
    hear,
    position: () => (failures === 0 ? place?.read : undefined),
    isAtRest,
    unnoted: () => (isAtRest() && place && place.read !== place.stored ? place : undefined),
    isToBeNoted: () => place !== undefined && place.passed >= passedMax,
    whileNoted: (noting) =>
      inTurn(async () => {
        const isNoted = await noting
        place = isNoted && place ? notedAt(place.read) : undefined
      }),
    rest,
  }
}

function isWantedBy({ on }: Follower, event: EventDefinition): boolean {
  return Array.isArray(on) ? on.some(({ name }) => name === event.name) : on(event)
}

function followed({ id, payload, at }: EventRow, definition: EventDefinition): FollowedEvent {
  return { id, definition, payload: JSON.parse(payload), at }
}

/** Moves on from where this node believes to stand. Fails if another node got there first: the lease has changed hands. */
export async function moveOn({ query }: Connection, name: string, from: number, to: number): Promise<boolean> {
  const row = await query
    .insertInto('followers')
    .values({ name, id: to })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ id: to }).where('followers.id', '=', from))
    .returning('name')
    .executeTakeFirst()
  return row !== undefined
}

async function storedPosition(database: Database, { name, from }: Follower): Promise<number> {
  const rows = database.reader.query.selectFrom('followers').select('id').where('name', '=', name)
  const stored = await rows.executeTakeFirst()
  if (stored) return stored.id
  if (from !== 'now') return logStart
  // Noted before anything else: whatever happens after this moment is for it, also if this node ends.
  const end = await database.logEnd()
  await database.write(({ query }) =>
    query
      .insertInto('followers')
      .values({ name, id: end })
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )
  return (await rows.executeTakeFirst())?.id ?? end
}
