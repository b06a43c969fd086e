import type { Clock } from '../kit/ports.ts'
import type { Database } from '../storage/database.ts'
import type { Recent } from './recent.ts'
import { firstPosition, idIn, positionOf, type Told } from './told.ts'

/** Where this node has got to in the log, and which positions of devices it can go on from. */
export interface Positions {
  /** The last event that this node has heard of. */
  last(): number
  /** The same, with its position, which takes a moment to find out. */
  heard(): { id: number; position: string }
  moveTo(told: Told): void
  /** The id of the event at a position; nothing, if the log does not have it any more, or another one in its place. */
  find(position: string): Promise<number | undefined>
}

const secondsMax = 86_400

interface Parts {
  database: Database
  clock: Clock
  salt: string
  /** Another node may have told a device what this one has not heard of yet; so long it is waited for. */
  aheadMilliseconds: number
}

export async function openPositions(
  { database, clock, salt, aheadMilliseconds }: Parts,
  recent: () => Recent,
  begun: number,
): Promise<Positions> {
  /** An event that is read again, of whichever app: a position says nothing but that the log has come so far. */
  async function placed(id: number): Promise<{ position: string; at: number } | undefined> {
    const known = recent().find(id)
    if (known) return { position: known.position(), at: known.at }
    const [row] = await database.eventsAfter(id - 1, 1)
    if (row?.id !== id) return undefined
    const { app_id: appId, name, payload: kept, at } = row
    return { position: positionOf({ id, appId, name, kept, at }, salt), at }
  }

  /** The earliest first. Whoever names a place that no log will reach costs nothing but their wait. */
  const awaiting: { id: number; goOn(): void }[] = []

  async function isHeard(id: number): Promise<boolean> {
    if (heard.id >= id) return true
    const { promise, resolve: goOn } = Promise.withResolvers<void>()
    const waiting = { id, goOn }
    awaiting.splice(awaiting.findLastIndex((each) => each.id <= id) + 1, 0, waiting)
    const timer = setTimeout(() => {
      awaiting.splice(awaiting.indexOf(waiting), 1)
      goOn()
    }, aheadMilliseconds).unref()
    await promise
    clearTimeout(timer)
    return heard.id >= id
  }

  function wakeThoseAt(id: number): void {
    const later = awaiting.findIndex((each) => each.id > id)
    for (const { goOn } of awaiting.splice(0, later < 0 ? awaiting.length : later)) goOn()
  }

  let heard: { id: number; position: () => string } = { id: begun, position: () => begunAt }
  const begunAt = begun === 0 ? firstPosition : ((await placed(begun))?.position ?? firstPosition)

  return {
    last: () => heard.id,
    heard: () => ({ id: heard.id, position: heard.position() }),
    moveTo(told) {
      heard = told
      wakeThoseAt(told.id)
    },
    async find(position) {
      const id = idIn(position)
      if (id === undefined) return undefined
      // The log reaches back to its start as long as nothing has been trimmed from it.
      if (position === firstPosition) return recent().since() === 0 ? 0 : undefined
      if (!(await isHeard(id))) return undefined
      const found = await placed(id)
      return found?.position === position && found.at > clock.now() - secondsMax ? id : undefined
    },
  }
}
