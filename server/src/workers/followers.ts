import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Area } from '../kit/area.ts'
import type { Follower } from '../kit/follower.ts'
import type { Tools } from '../kit/ports.ts'
import { workIn } from '../kit/work.ts'
import type { Connection } from '../storage/connection.ts'
import { type Database, logStart, type Position } from '../storage/database.ts'
import type { EventRow } from '../storage/tables.ts'

const eventsPerBatch = 100
const leaseSeconds = 15

export interface FollowerLoop {
  /** Gives every follower its next events; answers whether any of them moved. */
  run(): Promise<boolean>
  /** Whether an event is written that this node's followers have not come to yet. */
  isBehind(): Promise<boolean>
  /** Lets another node take over at once. */
  release(): Promise<void>
}

export function createFollowerLoop(database: Database, areas: Area[], tools: () => Tools, log: Logger): FollowerLoop {
  const followers = areas.flatMap((area) => area.followers)
  const holder = randomUUID()
  const positions = new Map<string, Position>()
  const heldUp = new Map<string, { until: number; failures: number }>()

  const leases = new Map<string, number>()

  /** Whether this node may run the follower now; a lease is renewed when a third of it is used up. */
  async function holdsLease(name: string): Promise<boolean> {
    // Leases run on real time: a clock that tests move must not hand them over.
    const now = Math.floor(Date.now() / 1000)
    if ((leases.get(name) ?? 0) - now > (leaseSeconds * 2) / 3) return true
    const granted = await database.claimLease(`follower ${name}`, holder, now, now + leaseSeconds)
    if (granted) leases.set(name, now + leaseSeconds)
    else leases.delete(name)
    return granted
  }

  async function advanceOne(follower: Follower): Promise<boolean> {
    const { name } = follower
    const now = Date.now() / 1000
    if ((heldUp.get(name)?.until ?? 0) > now) return false
    try {
      if (!(await holdsLease(name))) {
        positions.delete(name)
        return false
      }
      const moved = await step(database, follower, tools(), positions)
      heldUp.delete(name)
      return moved
    } catch (error) {
      // A failing follower delays only itself.
      const failures = (heldUp.get(name)?.failures ?? 0) + 1
      heldUp.set(name, { until: now + Math.min(60, 2 ** failures / 2), failures })
      positions.delete(name)
      log.error({ err: error, follower: name, failures }, 'a follower failed; it is tried again')
      return false
    }
  }

  async function run(): Promise<boolean> {
    const moved = await Promise.all(followers.map(advanceOne))
    return moved.includes(true)
  }

  async function isBehind(): Promise<boolean> {
    for (const { name } of followers) {
      if (!heldUp.has(name) && positions.has(name) && (await hasUnread(database, positions.get(name) ?? logStart)))
        return true
    }
    return false
  }

  return { run, isBehind, release: () => database.releaseLeases(holder) }
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

async function step(
  database: Database,
  follower: Follower,
  tools: Tools,
  positions: Map<string, Position>,
): Promise<boolean> {
  const position = positions.get(follower.name) ?? (await storedPosition(database, follower.name))
  const events = await database.eventsAfter(position, eventsPerBatch)
  const last = events.at(-1)
  if (!last) {
    positions.set(follower.name, position)
    return false
  }
  const wanted = new Set(follower.on.map(({ name }) => name))
  const next = { tx: last.tx, id: last.id }
  await database.write(async (connection) => {
    await advance(connection, follower.name, position, next)
    for (const event of events) {
      if (wanted.has(event.name)) await follower.handle(followed(event), workIn(connection, event.app_id, tools))
    }
  })
  positions.set(follower.name, next)
  return true
}

/** Moves on from where this node believes to stand. If another node got there first, its lease has changed hands. */
async function advance({ query }: Connection, name: string, from: Position, to: Position): Promise<void> {
  const row = await query
    .insertInto('followers')
    .values({ name, ...to })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet(to).where('followers.tx', '=', from.tx).where('followers.id', '=', from.id),
    )
    .returning('name')
    .executeTakeFirst()
  if (!row) throw new Error(`The follower ${name} was moved on by another node.`)
}

async function storedPosition(database: Database, name: string): Promise<Position> {
  const row = await database.reader.query
    .selectFrom('followers')
    .select(['tx', 'id'])
    .where('name', '=', name)
    .executeTakeFirst()
  return row ?? logStart
}

function followed({ name, payload, at, tx, id }: EventRow) {
  return { name, payload: JSON.parse(payload), at, position: { tx, id } }
}
