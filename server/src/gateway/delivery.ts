import { mapInTurns } from '../plain/map-in-turns.ts'
import { closeCodes } from './close-codes.ts'
import { doubtSight, type Hearer, type Hearers } from './hearers.ts'
import type { Readings } from './readings.ts'
import { isEnded, isShown, tell, veilOf } from './session.ts'
import type { Told } from './told.ts'

/** Hands events to whoever is here and hears of them, in the order of the log. */
export interface Delivery {
  deliver(told: Told): void
  /** Finds out what a user may be shown, where that is not known. */
  learn(hearer: Hearer): Promise<void>
}

// Whoever cannot be shown anything for so long comes back, and resumes.
const heldMax = 1_000
const againMilliseconds = 500

export function createDelivery(hearers: Hearers, readings: Readings, failed: (error: unknown) => void): Delivery {
  const learning = new WeakMap<Hearer, Promise<void>>()
  const releasing = new WeakSet<Hearer>()

  function give(hearer: Hearer, told: Told): void {
    if (hearer.shows === 'unknown' || hearer.held.length > 0) hold(hearer, told)
    else show(hearer, told)
  }

  /** Whoever cannot be told something comes back and asks for it; nobody else suffers from that. */
  function show(hearer: Hearer, told: Told): void {
    try {
      if (!isShown(hearer, told)) return
      const frame = () => told.frame(veilOf(hearer))
      for (const session of hearer.sessions) tell(session, told, frame)
    } catch (error) {
      failed(error)
      letGo(hearer)
    }
  }

  /** Everything after it waits too: what is told out of order is told wrongly. */
  function hold(hearer: Hearer, told: Told): void {
    hearer.held.push(told)
    if (!releasing.has(hearer)) void release(hearer)
    if (hearer.held.length > heldMax) letGo(hearer)
  }

  function letGo({ sessions, held }: Hearer): void {
    held.length = 0
    for (const { line } of sessions) line.close(closeCodes.tooSlow, 'come back and resume')
  }

  async function release(hearer: Hearer): Promise<void> {
    releasing.add(hearer)
    try {
      while (hearer.held.length > 0 && hearer.sessions.size > 0) {
        await learn(hearer)
        const left = hearer.leftMeanwhile.splice(0)
        // What they were allowed to see there is not known any more.
        if (await readings.areRuled(hearer.appId, left)) letGo(hearer)
        const held = hearer.held.splice(0)
        for (const told of held) give(hearer, told)
      }
    } catch (error) {
      failed(error)
      letGo(hearer)
    } finally {
      hearer.held.length = 0
      hearer.leftMeanwhile.length = 0
      releasing.delete(hearer)
    }
  }

  function learn(hearer: Hearer): Promise<void> {
    const under = learning.get(hearer)
    if (under) return under
    const learned = readUntilKnown(hearer).finally(() => learning.delete(hearer))
    learning.set(hearer, learned)
    return learned
  }

  /** What changes while it is read is read again. */
  async function readUntilKnown(hearer: Hearer): Promise<void> {
    while (hearer.shows === 'unknown' && hearer.sessions.size > 0) {
      const { sightChanges } = hearer
      try {
        const shows = await readings.shows(hearer.appId, hearer.uid)
        if (hearer.sightChanges === sightChanges) hearer.shows = shows
      } catch (error) {
        failed(error)
        await new Promise((resolve) => setTimeout(resolve, againMilliseconds).unref())
      }
    }
  }

  return {
    deliver(told) {
      const { appId, channels, leaves, sights, ends } = told
      for (const hearer of hearers.hearing(appId, channels)) give(hearer, told)
      for (const { uid, channel } of leaves) {
        const leaving = uid === undefined ? undefined : hearers.find(appId, uid)
        if (leaving && leaving.held.length > 0) leaving.leftMeanwhile.push(channel)
      }
      hearers.move(told)
      for (const hearer of hearers.hearing(appId, sights)) doubtSight(hearer)
      if (ends) end(ends.uid === undefined ? [...hearers.ofApp(appId)] : [hearers.find(appId, ends.uid)], told)
    },
    learn,
  }

  /** An app may have thousands of devices: it takes a while to close them all, in which others have their turn. */
  function end(some: (Hearer | undefined)[], told: Told): void {
    void mapInTurns(some, (hearer) => {
      for (const session of hearer?.sessions ?? []) {
        if (isEnded(session, told)) session.line.close(closeCodes.notWelcome, 'the session is over')
      }
    }).catch(failed)
  }
}
