import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Area } from '../kit/area.ts'
import type { Follower } from '../kit/follower.ts'
import type { Tools } from '../kit/ports.ts'
import { workIn } from '../kit/work.ts'
import type { Connection } from '../storage/connection.ts'
import { type Database, logStart, type Position } from '../storage/database.ts'
import type { EventRow } from '../storage/tables.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import { counted, type Effort } from './effort.ts'

const eventsPerBatch = 100
const leaseSeconds = 15
// A server that is killed again and again must still get on: so many are passed over once more, never all of them.
const passedMax = 200

/** How far a follower has read, what the database knows of that, and how many events lie between the two. */
interface Place {
  read: Position
  stored: Position
  passed: number
}

const notedAt = (position: Position): Place => ({ read: position, stored: position, passed: 0 })

type ReadLog = (position: Position) => Promise<EventRow[]>

export interface FollowerLoop {
  /** Gives every follower its next events; answers whether any of them moved. */
  run(): Promise<boolean>
  /** Whether an event is written that this node's followers have not come to yet. */
  isBehind(): Promise<boolean>
  /**
   * Notes how far followers have passed over events that do not concern them. Until then a crash only makes them pass over
   * those again; but the log is trimmed behind what is noted.
   */
  note(): Promise<void>
  /** Lets another node take over at once. */
  release(): Promise<void>
}

export function createFollowerLoop(
  database: Database,
  areas: Area[],
  tools: () => Tools,
  log: Logger,
  effort: Effort = { milliseconds: 0 },
): FollowerLoop {
  const followers = areas.flatMap((area) => area.followers)
  const holder = randomUUID()
  const places = new Map<string, Place>()
  const heldUp = new Map<string, { until: number; failures: number }>()

  const leases = new Map<string, number>()

  /** Whether this node may run the follower now; a lease is renewed when a third of it is used up. */
  async function holdsLease(name: string): Promise<boolean> {
    // Leases run on real time: a clock that tests move must not hand them over.
    const now = Math.floor(Date.now() / 1000)
    const heldUntil = leases.get(name) ?? 0
    if (heldUntil - now > (leaseSeconds * 2) / 3) return true
    const granted = await database.claimLease(`follower ${name}`, holder, now, now + leaseSeconds)
    // Somebody else may have moved the follower on while nobody, or they, held the lease.
    if (!granted || heldUntil <= now) places.delete(name)
    if (granted) leases.set(name, now + leaseSeconds)
    else leases.delete(name)
    return granted
  }

  /** Answers whether the follower moved; or that the database is away, which is not its failure. */
  async function advanceOne(follower: Follower, eventsAfter: ReadLog): Promise<boolean | DatabaseUnavailable> {
    const { name } = follower
    const now = Date.now() / 1000
    if ((heldUp.get(name)?.until ?? 0) > now) return false
    try {
      if (!(await holdsLease(name))) return false
      const moved = await step(follower, eventsAfter)
      heldUp.delete(name)
      return moved
    } catch (error) {
      // Where it stands now, only the stored position tells: its last step may have been committed or not.
      places.delete(name)
      if (error instanceof DatabaseUnavailable) return error
      // A failing follower delays only itself.
      const failures = (heldUp.get(name)?.failures ?? 0) + 1
      heldUp.set(name, { until: now + Math.min(60, 2 ** failures / 2), failures })
      log.error({ err: error, follower: name, failures }, 'a follower failed; it is tried again')
      return false
    }
  }

  async function run(): Promise<boolean> {
    const eventsAfter = readOnce(database)
    const moved = await Promise.all(followers.map((follower) => advanceOne(follower, eventsAfter)))
    const away = moved.find((each) => each instanceof DatabaseUnavailable)
    if (away) throw away
    return moved.includes(true)
  }

  async function step(follower: Follower, eventsAfter: ReadLog): Promise<boolean> {
    const place = places.get(follower.name) ?? (await storedPlace(database, follower.name))
    places.set(follower.name, place)
    const events = await eventsAfter(place.read)
    const all = events.filter(({ name }) => follower.on.some((each) => each.name === name))
    const wanted = all.slice(0, follower.eventsAtOnce)
    const last = wanted.length < all.length ? wanted.at(-1) : events.at(-1)
    if (!last) return false
    const next = { tx: last.tx, id: last.id }
    const passed = place.passed + events.length
    if (wanted.length > 0 || passed >= passedMax) {
      await database.write(async (connection) => {
        if (!(await advance(connection, follower.name, place.stored, next)))
          throw new Error('It was moved on by another node.')
        await counted(effort, async () => {
          for (const event of wanted) await follower.handle(followed(event), workIn(connection, event.app_id, tools()))
        })
      })
      places.set(follower.name, notedAt(next))
    } else places.set(follower.name, { ...place, read: next, passed })
    return true
  }

  async function isBehind(): Promise<boolean> {
    for (const { name } of followers) {
      const place = places.get(name)
      if (place && !heldUp.has(name) && (await hasUnread(database, place.read))) return true
    }
    return false
  }

  async function note(): Promise<void> {
    // Always in the same order, so that two nodes cannot wait for each other.
    const moved = [...places].filter(([, { read, stored }]) => !isSame(read, stored)).toSorted(byName)
    if (moved.length === 0) return
    let noted = new Set<string>()
    try {
      noted = await database.write(async (connection) => {
        const names = new Set<string>()
        for (const [name, { read, stored }] of moved) if (await advance(connection, name, stored, read)) names.add(name)
        return names
      })
    } finally {
      for (const [name, { read }] of moved) {
        if (noted.has(name)) places.set(name, notedAt(read))
        // Another node was there first, or it is not known what was noted: whoever follows next goes by what is stored.
        else places.delete(name)
      }
    }
  }

  return { run, isBehind, note, release: () => database.releaseLeases(holder) }
}

/** Counts events that `eventsAfter` still holds back because an older transaction is running. */
async function hasUnread({ reader }: Database, { tx, id }: Position): Promise<boolean> {
  const row = await reader.query
    .selectFrom('events')
    .select('events.id')
    .where((is) => is.or([is('events.tx', '>', tx), is.and([is('events.tx', '=', tx), is('events.id', '>', id)])]))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Followers mostly stand at the same place, so what stands after it is read once for all of them. */
function readOnce(database: Database): ReadLog {
  const read = new Map<string, Promise<EventRow[]>>()
  return (position) => {
    const key = `${position.tx} ${position.id}`
    const events = read.get(key) ?? database.eventsAfter(position, eventsPerBatch)
    read.set(key, events)
    return events
  }
}

const isSame = (a: Position, b: Position) => a.tx === b.tx && a.id === b.id
const byName = ([a]: [string, Place], [b]: [string, Place]) => (a < b ? -1 : 1)

/** Moves on from where this node believes to stand. Fails if another node got there first: the lease has changed hands. */
async function advance({ query }: Connection, name: string, from: Position, to: Position): Promise<boolean> {
  const row = await query
    .insertInto('followers')
    .values({ name, ...to })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet(to).where('followers.tx', '=', from.tx).where('followers.id', '=', from.id),
    )
    .returning('name')
    .executeTakeFirst()
  return row !== undefined
}

async function storedPlace(database: Database, name: string): Promise<Place> {
  const row = await database.reader.query
    .selectFrom('followers')
    .select(['tx', 'id'])
    .where('name', '=', name)
    .executeTakeFirst()
  return notedAt(row ?? logStart)
}

function followed({ name, payload, at, tx, id }: EventRow) {
  return { name, payload: JSON.parse(payload), at, position: { tx, id } }
}
