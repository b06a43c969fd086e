import { setTimeout as pause } from 'node:timers/promises'
import { findTokenHolder } from '../areas/auth-tokens/index.ts'
import { authTokenUnknown } from '../dispatch/errors.ts'
import { channelsOf, showsTo } from '../dispatch/hearing.ts'
import type { TailedEvent } from '../dispatch/tail.ts'
import type { Area } from '../kit/area.ts'
import { appChannel, channelKey } from '../kit/channel.ts'
import { bucketsFor } from '../plain/bucket.ts'
import { mapInTurns } from '../plain/map-in-turns.ts'
import { createShortTurns } from '../plain/short-turns.ts'
import { within } from '../plain/time-limit.ts'
import { createTurns } from '../plain/turns.ts'
import type { TenantDb } from '../storage/tenant.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import type { Absent } from './absent.ts'
import type { Delivery } from './delivery.ts'
import type { Hearer, Hearers } from './hearers.ts'
import type { LogOfApp } from './log-of-app.ts'
import type { Positions } from './positions.ts'
import type { Readings } from './readings.ts'
import { dissolves, type Recent } from './recent.ts'
import { isEnded, isShown, type Session, tell, veilOf } from './session.ts'
import type { Told } from './told.ts'

/**
 * How a device comes to hear what happens: from now on, or from where it was cut off. Both are one procedure. What the user
 * hears now is read, and taken back to what they heard at the place where the device begins; from there the device goes
 * through what has happened, as it would have done had it been there, until it has reached the present. Nobody waits for it.
 */
export interface Attaching {
  /**
   * `position` is the last one that the device has; `answer` is called before anything is sent. Fails if the device may not
   * come in after all.
   */
  attach(session: Session, position: string | undefined, answer: (began: Began) => void): Promise<void>
}

export interface Began {
  /** Whether it goes on where it was cut off; if not, whatever it has may be out of date. */
  isResumed: boolean
  /** Where it begins. */
  position: string
}

interface Parts {
  readings: Readings
  areas: Area[]
  hearers: Hearers
  absent: Absent
  recent: Recent
  positions: Positions
  delivery: Delivery
  log: LogOfApp
  told(event: TailedEvent): Told
  /** A device has reached the present; from this moment on it hears by itself. */
  entered(session: Session, hearer: Hearer): void
}

interface Heard extends Pick<Hearer, 'shows'> {
  /** Keys of what they hear. */
  channels: Set<string>
}

/** Where a device stands on its way to the present, and what its user hears there. */
interface Place extends Heard {
  id: number
  /** What is taken back later on the way, and with which event; it is not told any more. */
  retracted: Map<string, number>
  /** What comes next, as far as it has been looked up. */
  next: Told[]
}

// More than this is fetched faster than it is told.
const missedMax = 10_000
// So much may be asked for as often as a user may connect.
const missedOftenMax = 1_000
const replaysAtOnce = 4
const noLimit = Number.POSITIVE_INFINITY
const learnMilliseconds = 5_000
const replaysPerMinute = 6
const walkMilliseconds = 5
const triesMax = 40
const againMilliseconds = 25
const tooLong = () => {
  throw new DatabaseUnavailable('what a user may be shown cannot be read')
}
const nothingRetracted: Map<string, number> = new Map()

export function createAttaching(parts: Parts): Attaching {
  const { readings, areas, hearers, absent, recent, positions, delivery, log } = parts
  const replaysOf = bucketsFor(replaysPerMinute / 60, replaysPerMinute)
  const replays = createTurns({
    atOnce: replaysAtOnce,
    ofUserMax: noLimit,
    ofAppMax: noLimit,
    inAllMax: noLimit,
  })

  // What is done in memory: hundreds that come back at once would else all do it before anybody else is heard.
  const shortTurns = createShortTurns()

  const toldOfEach = async (events: TailedEvent[] | undefined) => events && mapInTurns(events, parts.told)

  /** What the doors remember may be half a second old, and the event that ends a session may have passed by then. */
  async function refuseGone(session: Session): Promise<void> {
    const { uid, tokenFingerprint } = session.caller
    await readings.inApp(session.app.id, async (db) => {
      const holder = await findTokenHolder(db, tokenFingerprint)
      if (holder?.uid !== uid) throw authTokenUnknown()
    })
  }

  /** What a user hears where this node has got to. */
  async function hearingNow(session: Session): Promise<Place & { position: string }> {
    const { app, caller } = session
    for (let tries = 0; tries < triesMax; tries += 1) {
      const known = hearers.find(app.id, caller.uid)
      if (known?.shows === 'unknown') await within(learnMilliseconds, delivery.learn(known), tooLong)
      else if (known) {
        const { channels, shows } = known
        return { ...positions.heard(), channels: new Set(channels), shows, retracted: nothingRetracted, next: [] }
      } else {
        const heard = positions.heard()
        const read =
          stillHeard(session) ?? (await readings.inApp(app.id, (db) => readHearing(db, caller.uid, heard.id)))
        if (read) return { ...heard, ...read, retracted: nothingRetracted, next: [] }
        await pause(againMilliseconds)
      }
    }
    throw new DatabaseUnavailable('what a user hears changes faster than it can be read')
  }

  /** What a user heard when their last device went, if nothing has happened since that changes it. */
  function stillHeard({ app, caller: { uid } }: Session): Heard | undefined {
    const last = absent.take(app.id, uid)
    if (!last || recent.since() > last.id) return undefined
    const channels = new Set(last.channels)
    const isChanged = recent.after(last.id, app.id, uid, channels).some((told) => changesHearing(told, channels, uid))
    return isChanged ? undefined : { channels, shows: last.shows }
  }

  /** What a user hears at a place in the log: what they hear now, if nothing has happened to anybody since. */
  async function readHearing(db: TenantDb, uid: string, at: number): Promise<Heard | undefined> {
    const heard = await readHearingNow(db, uid)
    const since = await log.turns(db, at)
    return since?.length === 0 ? heard : readHearingBefore(db, uid, await toldOfEach(since), at)
  }

  /**
   * What they hear now, without what has happened since. Both are of the same moment if nothing more has happened by the
   * next look; else it is read again.
   */
  async function readHearingBefore(
    db: TenantDb,
    uid: string,
    since: Told[] | undefined,
    at: number,
  ): Promise<Heard | undefined> {
    const heard = await readHearingNow(db, uid)
    const meanwhile = await log.turns(db, at)
    if (!since || since.length !== meanwhile?.length) return undefined
    // What they were allowed to see where they are no more cannot be read any more either.
    const hasLeft = since.some(({ leaves }) => leaves.some((move) => move.uid === uid))
    if (hasLeft || since.some(dissolves)) return undefined
    takeBack(heard.channels, since, uid)
    return heard
  }

  async function readHearingNow(db: TenantDb, uid: string): Promise<Heard> {
    const channels = new Set((await channelsOf(areas, db, uid)).map(channelKey))
    return { channels, shows: await showsTo(areas, db, uid) }
  }

  /** Where a device stands that comes back to a place; nothing, if what it missed cannot be told exactly. */
  async function comeBack(session: Session, from: number, now: Place): Promise<Place | undefined> {
    const { uid } = session.caller
    const turns = await turnsBetween(session, from, now)
    // Whoever was shut out meanwhile, and let in again, begins anew: it may be somebody else's name by now.
    if (!turns || turns.some((told) => isEnded(session, told))) return undefined
    const channels = new Set(now.channels)
    takeBack(channels, turns, uid)
    const left = turns.flatMap(({ leaves }) => leaves.filter((move) => move.uid === uid).map((move) => move.channel))
    const heard = new Set([...channels, ...now.channels, ...left])
    const isChanged = turns.some(({ sights }) => sights.some((key) => heard.has(key)))
    if (isChanged || turns.some(dissolves) || (await readings.areRuled(session.app.id, left))) return undefined
    const retracted = turns.flatMap(({ id, retracts }) => retracts.map((record) => [record, id] as const))
    return { id: from, channels, shows: now.shows, retracted: new Map(retracted), next: [] }
  }

  async function turnsBetween(session: Session, from: number, now: Place): Promise<Told[] | undefined> {
    const lately = await shortTurns.take(askerOf(session), () => turnsLately(session, from, now))
    return lately ? lately.turns : turnsInLog(session, from, now)
  }

  /** From memory, if it reaches back so far; without turns, if there is too much of it. */
  function turnsLately({ app, caller }: Session, from: number, now: Place): { turns: Told[] | undefined } | undefined {
    if (recent.since() > from) return undefined
    const found = [
      ...recent.after(from, app.id, caller.uid, now.channels),
      ...recent.dissolvingAfter(from, app.id),
      ...recent.retractingAfter(from, app.id),
    ]
    const isMuch = found.length > missedOftenMax && !replaysOf(app.id, caller.uid).take(1)
    if (isMuch || found.length > missedMax) return { turns: undefined }
    return { turns: [...new Set(found)].filter(({ id }) => id <= now.id).toSorted((a, b) => a.id - b.id) }
  }

  async function turnsInLog({ app, caller }: Session, from: number, now: Place): Promise<Told[] | undefined> {
    // Whoever asks for it again and again can fetch what they want to know.
    if (!replaysOf(app.id, caller.uid).take(1)) return undefined
    return readings.inApp(app.id, async (db) => {
      const missed = await log.count(db, from, now.id, missedMax + 1)
      return missed > missedMax ? undefined : toldOfEach(await log.turns(db, from, now.id))
    })
  }

  /** Goes on to the present, and enters there. */
  async function catchUp(session: Session, place: Place, entered: number): Promise<void> {
    const { app, caller, line } = session
    let knownAt = entered
    for (;;) {
      if (place.shows === 'unknown') place.shows = await readings.shows(app.id, caller.uid)
      if (!(await line.room())) return
      if (recent.since() > knownAt) {
        knownAt = positions.last()
        await refuseGone(session)
      }
      if (place.next.length === 0 && recent.since() > place.id) {
        await readPage(session, place)
        continue
      }
      if (await shortTurns.take(askerOf(session), () => hasEntered(session, place, knownAt))) return
    }
  }

  /** Goes on for a moment; answers whether that led to the present, and in. */
  function hasEntered(session: Session, place: Place, knownAt: number): boolean {
    const { app, caller, line } = session
    const hadNext = place.next.length > 0
    // Much may happen while it waits for its turn. Whose line was closed must not enter: nobody would let go of them any more.
    const isOutdated = recent.since() > (hadNext ? knownAt : Math.min(knownAt, place.id))
    if (!line.isOpen() || isOutdated) return false
    if (!hadNext) place.next = recent.after(place.id, app.id, caller.uid, place.channels)
    walk(session, place)
    // From the last look at what has happened to the entry nothing can.
    if (hadNext || !isAtEnd(place)) return false
    refuseEnded(session, knownAt)
    enter(session, place)
    return true
  }

  /** From further back than memory reaches. */
  async function readPage(session: Session, place: Place): Promise<void> {
    const turn = replays.lineUp(askerOf(session))
    try {
      await turn?.itsTurn
      if (!session.line.isOpen()) return
      const upTo = positions.last()
      const { events, end } = await readings.inApp(session.app.id, (db) => log.page(db, place.id, upTo))
      place.next = (await toldOfEach(events)) ?? []
      if (events.length === 0) place.id = end
    } finally {
      turn?.leave()
    }
  }

  /**
   * Tells a device what it missed, for a moment; stops where it has to be found out what its user may be shown from there on,
   * and while the device has much to take.
   */
  function walk(session: Session, place: Place): void {
    const { uid } = session.caller
    const end = performance.now() + walkMilliseconds
    let walked = 0
    for (const told of place.next) {
      if (isEnded(session, told)) throw authTokenUnknown()
      const isHeard = told.channels.some((key) => place.channels.has(key))
      if (isHeard && isShown(place, told)) tell(session, told, frameAt(place, told))
      place.id = told.id
      walked += 1
      const isUnclear = told.sights.some((key) => place.channels.has(key))
      if (move(place.channels, told, uid) || isUnclear) place.shows = 'unknown'
      if (place.shows === 'unknown' || !session.line.hasRoom() || performance.now() > end) break
    }
    place.next = place.next.slice(walked)
  }

  /** Whatever ended the session while it was on its way. */
  function refuseEnded(session: Session, since: number): void {
    const { app, caller } = session
    const passed = recent.after(since, app.id, caller.uid, [channelKey(appChannel)])
    if (passed.some((told) => isEnded(session, told))) throw authTokenUnknown()
  }

  function enter(session: Session, { channels, shows }: Place): void {
    const { app, caller } = session
    const known = hearers.find(app.id, caller.uid)
    const hearer: Hearer = known ?? {
      ...{ appId: app.id, uid: caller.uid, channels: [...channels], shows },
      ...{ sessions: new Set(), sightChanges: 0, held: [], leftMeanwhile: [] },
    }
    if (!known) hearers.add(hearer)
    parts.entered(session, hearer)
  }

  return {
    async attach(session, position, answer) {
      const entered = positions.last()
      await refuseGone(session)
      const from = position === undefined ? undefined : await positions.find(position)
      const now = await hearingNow(session)
      const place = from === undefined ? undefined : await comeBack(session, from, now)
      session.reached = place?.id ?? now.id
      answer({ isResumed: place !== undefined, position: place && position ? position : now.position })
      await catchUp(session, place ?? now, entered)
    },
  }
}

const isAtEnd = ({ next, shows }: Place) => next.length === 0 && shows !== 'unknown'

const askerOf = ({ app, caller }: Session) => ({ appId: app.id, uid: caller.uid })

/** Whether a user hears other channels from an event on, or may be shown something else of them; or is somebody else. */
function changesHearing({ joins, leaves, sights, ends }: Told, channels: Set<string>, uid: string): boolean {
  const isMoved = [...joins, ...leaves].some((move) => move.uid === uid || move.uid === undefined)
  return isMoved || sights.some((key) => channels.has(key)) || ends !== undefined
}

/** Undoes what has happened to a user, the latest first. */
function takeBack(channels: Set<string>, turns: Told[], uid: string): void {
  for (const { joins, leaves } of turns.toReversed()) {
    for (const move of leaves) if (move.uid === uid) channels.add(move.channel)
    for (const move of joins) if (move.uid === uid) channels.delete(move.channel)
  }
}

/** Lets a user join and leave, as an event says; answers whether they have joined anything. */
function move(channels: Set<string>, { joins, leaves }: Told, uid: string): boolean {
  const joined = joins.filter((each) => each.uid === uid)
  for (const { channel } of joined) channels.add(channel)
  for (const each of leaves) if (each.uid === uid || each.uid === undefined) channels.delete(each.channel)
  return joined.length > 0
}

/** What was taken back later on the way is told no more. */
function frameAt(place: Place, told: Told): () => Buffer | undefined {
  const { retracted } = place
  const veil = veilOf(place)
  if (retracted.size === 0) return () => told.frame(veil)
  return () => told.frameLeft((id) => (retracted.get(id) ?? 0) > told.id, veil)
}
