import { appChannel, channelKey } from '../kit/channel.ts'
import { createLineUp, type LineUp } from '../plain/line-up.ts'
import type { Database } from '../storage/database.ts'
import type { EventRow } from '../storage/tables.ts'
import { keptBytes, type Told } from './told.ts'

/**
 * What has happened lately, in memory: whoever comes back after a moment is told it from here. Each event is found by the
 * channels that hear of it and by those whom it lets join or leave one, so that it costs nothing but what one user missed.
 */
export interface Recent {
  add(told: Told): void
  /** Forgets everything, and begins after another event. */
  restart(since: number): void
  /** Everything after this event is here. */
  since(): number
  last(): Told | undefined
  /** The event that has this id. */
  find(id: number): Told | undefined
  /** What a user who hears these channels may have missed after an event, in order, and more than that. */
  after(id: number, appId: string, uid: string, channels: Iterable<string>): Told[]
  /** What was taken back in an app after an event, and what was dissolved for all who heard it. */
  retractingAfter(id: number, appId: string): Told[]
  dissolvingAfter(id: number, appId: string): Told[]
}

interface RecentOfApp {
  count: number
  byKey: Map<string, LineUp<Told>>
  retracting: LineUp<Told>
  dissolving: LineUp<Told>
}

const eventsMax = 20_000
const bytesMax = 32 * 1024 * 1024
const secondsMax = 120
const forgottenAtOnce = 200

function keepRecent(since: number, now: () => number): Recent {
  const apps = new Map<string, RecentOfApp>()
  const queue = createLineUp<Told>()
  let forgotten = since
  let bytes = 0

  function appOf(appId: string): RecentOfApp {
    const known = apps.get(appId)
    if (known) return known
    const app: RecentOfApp = {
      ...{ count: 0, byKey: new Map() },
      ...{ retracting: createLineUp(), dissolving: createLineUp() },
    }
    apps.set(appId, app)
    return app
  }

  function forgetOldest(): void {
    const oldest = queue.takeFirst() as Told
    bytes -= oldest.bytes
    forgotten = oldest.id
    const app = appOf(oldest.appId)
    app.count -= 1
    if (oldest.retracts.length > 0) app.retracting.takeFirst()
    if (dissolves(oldest)) app.dissolving.takeFirst()
    for (const key of keysOf(oldest)) {
      const list = app.byKey.get(key)
      list?.takeFirst()
      if (list?.length === 0) app.byKey.delete(key)
    }
    if (app.count === 0) apps.delete(oldest.appId)
  }

  function isTooMuch(): boolean {
    const oldest = queue.first()
    return oldest !== undefined && (queue.length > eventsMax || bytes > bytesMax || oldest.at < now() - secondsMax)
  }

  return {
    add(told) {
      const app = appOf(told.appId)
      app.count += 1
      for (const key of keysOf(told)) {
        const list = app.byKey.get(key)
        if (list) list.add(told)
        else app.byKey.set(key, lineUpOf(told))
      }
      if (told.retracts.length > 0) app.retracting.add(told)
      if (dissolves(told)) app.dissolving.add(told)
      queue.add(told)
      bytes += told.bytes
      // After a pause all of them may be too old; the others then go with the next ones.
      for (let n = 0; n < forgottenAtOnce && isTooMuch(); n += 1) forgetOldest()
    },
    restart(since) {
      apps.clear()
      queue.clear()
      bytes = 0
      forgotten = since
    },
    since: () => forgotten,
    last: () => queue.last(),
    find(id) {
      const [found] = queue.from((told) => told.id >= id)
      return found?.id === id ? found : undefined
    },
    after(id, appId, uid, channels) {
      const app = apps.get(appId)
      if (!app) return []
      const found = new Set<Told>()
      const take = (key: string) => {
        for (const told of listAfter(app.byKey.get(key), id)) found.add(told)
      }
      take(moverKey(uid))
      // Whoever has joined a channel meanwhile, or left one, has missed what was said in it.
      const moves = [...found].flatMap(({ joins, leaves }) => [...joins, ...leaves]).filter((move) => move.uid === uid)
      for (const key of new Set([...channels, ...moves.map(({ channel }) => channel)])) take(key)
      return [...found].toSorted((a, b) => a.id - b.id)
    },
    retractingAfter: (id, appId) => listAfter(apps.get(appId)?.retracting, id),
    dissolvingAfter: (id, appId) => listAfter(apps.get(appId)?.dissolving, id),
  }
}

/** Whether a channel ends with it for everybody; who they were it does not say. */
export const dissolves = ({ leaves }: Told) => leaves.some(({ uid }) => uid === undefined)

const listAfter = (list: LineUp<Told> | undefined, id: number) => list?.from((told) => told.id > id) ?? []

function lineUpOf(told: Told): LineUp<Told> {
  const list = createLineUp<Told>()
  list.add(told)
  return list
}

// No channel has such a key: kinds are words.
const moverKey = (uid: string) => ` ${uid}`

/** Under which keys an event is found. */
function keysOf({ channels, joins, leaves, sights, ends }: Told): Set<string> {
  const moves = [...joins, ...leaves].map(({ channel, uid }) => (uid === undefined ? channel : moverKey(uid)))
  const ended = ends ? [ends.uid === undefined ? channelKey(appChannel) : moverKey(ends.uid)] : []
  return new Set([...channels, ...moves, ...sights, ...ended])
}

const rowsPerPage = 500

/** Keeps what has happened lately, also before this node began: whoever was cut off from the last one comes here. */
export async function openRecent(
  database: Database,
  begun: number,
  now: () => number,
  told: (row: EventRow) => Told | undefined,
): Promise<Recent> {
  const pages: EventRow[][] = []
  let since = begun
  let bytes = 0
  // More would be forgotten as soon as it is read.
  while (since > 0 && pages.length * rowsPerPage < eventsMax && bytes < bytesMax) {
    const from = Math.max(0, since - rowsPerPage)
    const rows = (await database.eventsAfter(from, rowsPerPage)).filter(({ id }) => id <= since)
    pages.unshift(rows)
    since = from
    for (const { payload } of rows) bytes += keptBytes(payload)
    if ((rows[0]?.at ?? 0) < now() - secondsMax) break
  }
  const recent = keepRecent(since, now)
  for (const row of pages.flat()) {
    const event = told(row)
    event?.settle()
    if (event) recent.add(event)
  }
  return recent
}
