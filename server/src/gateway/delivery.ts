import type { Shows } from '../kit/channel.ts'
import { closeCodes } from './close-codes.ts'
import { doubtSight, type Listener, type Listeners } from './listeners.ts'
import { isEnded, isShown, tell } from './session.ts'
import type { Told } from './told.ts'

/** Hands events to whoever is here and hears of them, in the order of the log. */
export interface Delivery {
  deliver(told: Told): void
  /** Finds out what a user may be shown, where that is not known. */
  learn(listener: Listener): Promise<void>
}

// Whoever cannot be shown anything for so long comes back, and resumes.
const heldMax = 1_000
const againMilliseconds = 500

export function createDelivery(
  listeners: Listeners,
  readShows: (listener: Listener) => Promise<Shows | undefined>,
  failed: (error: unknown) => void,
): Delivery {
  const learning = new WeakMap<Listener, Promise<void>>()
  const releasing = new WeakSet<Listener>()

  function give(listener: Listener, told: Told): void {
    const isUnclear = listener.shows === 'unknown' && told.definition.tellsOf !== undefined
    if (isUnclear || listener.held.length > 0) hold(listener, told)
    else if (isShown(listener, told)) for (const session of listener.sessions) tell(session, told)
  }

  /** Everything after it waits too: what is told out of order is told wrongly. */
  function hold(listener: Listener, told: Told): void {
    listener.held.push(told)
    if (!releasing.has(listener)) void release(listener)
    if (listener.held.length > heldMax) letGo(listener)
  }

  function letGo({ sessions, held }: Listener): void {
    held.length = 0
    for (const { line } of sessions) line.close(closeCodes.tooSlow, 'come back and resume')
  }

  async function release(listener: Listener): Promise<void> {
    releasing.add(listener)
    while (listener.held.length > 0 && listener.sessions.size > 0) {
      await learn(listener)
      const held = listener.held.splice(0)
      for (const told of held) give(listener, told)
    }
    listener.held.length = 0
    releasing.delete(listener)
  }

  function learn(listener: Listener): Promise<void> {
    const under = learning.get(listener)
    if (under) return under
    const learned = readUntilKnown(listener).finally(() => learning.delete(listener))
    learning.set(listener, learned)
    return learned
  }

  /** What changes while it is read is read again. */
  async function readUntilKnown(listener: Listener): Promise<void> {
    while (listener.shows === 'unknown' && listener.sessions.size > 0) {
      const { sightChanges } = listener
      try {
        const shows = await readShows(listener)
        if (listener.sightChanges === sightChanges) listener.shows = shows
      } catch (error) {
        failed(error)
        await new Promise((resolve) => setTimeout(resolve, againMilliseconds).unref())
      }
    }
  }

  return {
    deliver(told) {
      const { appId, channels, sights, ends } = told
      for (const listener of listeners.hearing(appId, channels)) give(listener, told)
      listeners.move(told)
      for (const listener of listeners.hearing(appId, sights)) doubtSight(listener)
      if (ends) end(ends.uid === undefined ? listeners.ofApp(appId) : [listeners.find(appId, ends.uid)], told)
    },
    learn,
  }

  function end(some: Iterable<Listener | undefined>, told: Told): void {
    for (const listener of some) {
      for (const session of listener?.sessions ?? []) {
        if (isEnded(session, told)) session.line.close(closeCodes.notWelcome, 'the session is over')
      }
    }
  }
}
