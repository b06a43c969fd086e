import { appChannel, channelKey } from '../kit/channel.ts'
import type { Database } from '../storage/database.ts'
import type { EventRow } from '../storage/tables.ts'
import type { Told } from './told.ts'

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
  byKey: Map<string, Told[]>
  retracting: Told[]
  dissolving: Told[]
}

const eventsMax = 20_000
const bytesMax = 32 * 1024 * 1024
const secondsMax = 120

function keepRecent(since: number, now: () => number): Recent {
  const apps = new Map<string, RecentOfApp>()
  const queue: Told[] = []
  let forgotten = since
  let bytes = 0

  function appOf(appId: string): RecentOfApp {
    const known = apps.get(appId)
    if (known) return known
    const app: RecentOfApp = { count: 0, byKey: new Map(), retracting: [], dissolving: [] }
    apps.set(appId, app)
    return app
  }

  function forgetOldest(): void {
    const oldest = queue.shift() as Told
    bytes -= oldest.bytes
    forgotten = oldest.id
    const app = appOf(oldest.appId)
    app.count -= 1
    if (oldest.retracts.length > 0) app.retracting.shift()
    if (dissolves(oldest)) app.dissolving.shift()
    for (const key of keysOf(oldest)) {
      const list = app.byKey.get(key)
      list?.shift()
      if (list?.length === 0) app.byKey.delete(key)
    }
    if (app.count === 0) apps.delete(oldest.appId)
  }

  function isTooMuch(): boolean {
    const [oldest] = queue
    return oldest !== undefined && (queue.length > eventsMax || bytes > bytesMax || oldest.at < now() - secondsMax)
  }

  return {
    add(told) {
      const app = appOf(told.appId)
      app.count += 1
      for (const key of keysOf(told)) {
        const list = app.byKey.get(key)
        if (list) list.push(told)
        else app.byKey.set(key, [told])
      }
      if (told.retracts.length > 0) app.retracting.push(told)
      if (dissolves(told)) app.dissolving.push(told)
      queue.push(told)
      bytes += told.bytes
      while (isTooMuch()) forgetOldest()
    },
    restart(since) {
      apps.clear()
      queue.length = 0
      bytes = 0
      forgotten = since
    },
    since: () => forgotten,
    last: () => queue.at(-1),
    find(id) {
      const found = queue[firstAfter(queue, id - 1)]
      return found?.id === id ? found : undefined
    },
    after(id, appId, uid, channels) {
      const app = apps.get(appId)
      if (!app) return []
      const found = new Set<Told>()
      const take = (key: string) => {
        const list = app.byKey.get(key) ?? []
        for (let n = firstAfter(list, id); n < list.length; n += 1) found.add(list[n] as Told)
      }
      take(moverKey(uid))
      // Whoever has joined a channel meanwhile has missed what was said in it since.
      const joined = [...found].flatMap(({ joins }) => joins.filter((move) => move.uid === uid))
      for (const key of new Set([...channels, ...joined.map(({ channel }) => channel)])) take(key)
      return [...found].toSorted((a, b) => a.id - b.id)
    },
    retractingAfter: (id, appId) => listAfter(apps.get(appId)?.retracting, id),
    dissolvingAfter: (id, appId) => listAfter(apps.get(appId)?.dissolving, id),
  }
}

/** Whether a channel ends with it for everybody; who they were it does not say. */
export const dissolves = ({ leaves }: Told) => leaves.some(({ uid }) => uid === undefined)

const listAfter = (list: Told[] = [], id: number) => list.slice(firstAfter(list, id))

// No channel has such a key: kinds are words.
const moverKey = (uid: string) => ` ${uid}`

/** Under which keys an event is found. */
function keysOf({ channels, joins, leaves, sights, ends }: Told): Set<string> {
  const moves = [...joins, ...leaves].map(({ channel, uid }) => (uid === undefined ? channel : moverKey(uid)))
  const ended = ends ? [ends.uid === undefined ? channelKey(appChannel) : moverKey(ends.uid)] : []
  return new Set([...channels, ...moves, ...sights, ...ended])
}

/** The index of the first event after one with this id. */
function firstAfter(list: Told[], id: number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle] as Told).id > id) high = middle
    else low = middle + 1
  }
  return low
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
  while (since > 0 && pages.length * rowsPerPage < eventsMax) {
    const from = Math.max(0, since - rowsPerPage)
    const rows = (await database.eventsAfter(from, rowsPerPage)).filter(({ id }) => id <= since)
    pages.unshift(rows)
    since = from
    if ((rows[0]?.at ?? 0) < now() - secondsMax) break
  }
  const recent = keepRecent(since, now)
  for (const row of pages.flat()) {
    const event = told(row)
    if (event) recent.add(event)
  }
  return recent
}
