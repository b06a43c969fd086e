import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { WebSocketServer } from 'ws'
import type { NamedApp } from '../dispatch/doors/app.ts'
import { eventsByName } from '../dispatch/events-by-name.ts'
import { type LiveFigures, noCounts } from '../dispatch/live-figures.ts'
import type { Tail, TailedEvent } from '../dispatch/tail.ts'
import type { Area } from '../kit/area.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import { createAnnouncer } from './announcer.ts'
import { createAttaching } from './attach.ts'
import { closeCodes } from './close-codes.ts'
import { createDelivery } from './delivery.ts'
import { createDepartures } from './departures.ts'
import { encode } from './encode.ts'
import type { PresenceWish } from './frames-in.ts'
import { createHearers, type Hearer } from './hearers.ts'
import { openPost } from './line.ts'
import { logOfApp } from './log-of-app.ts'
import { openPositions } from './positions.ts'
import { createReadings } from './readings.ts'
import { openRecent } from './recent.ts'
import type { Session } from './session.ts'
import { positionSalt, type Told, teller } from './told.ts'
import { frameBytesRead, openVisit, type Visit, type VisitParts } from './visit.ts'
import { createWords } from './words.ts'

/** Where the devices of end users are connected: they are told what happens, and say what cannot wait for a request. */
export interface Gateway {
  /** Makes a WebSocket of a connection that has asked for one. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, named: NamedApp): void
  figures(): LiveFigures
  /** Asks all devices to come back elsewhere, at moments of their own, and lets go of them within this time. */
  drain(milliseconds: number): Promise<void>
  close(): void
}

/** How long devices may take; for tests. */
export interface GatewayPatience {
  authMilliseconds: number
  /** Without a sign of life. */
  silenceMilliseconds: number
  pingMilliseconds: number
  checkMilliseconds: number
  /** Before somebody whose last device has gone is told to be offline. */
  graceMilliseconds: number
  /** For what another node may have told a device, and this one has not heard of. */
  aheadMilliseconds: number
  /** Until somebody who types, and of whom nothing more is heard, has ceased to. */
  typingMilliseconds: number
}

const usualPatience: GatewayPatience = {
  authMilliseconds: 10_000,
  silenceMilliseconds: 60_000,
  pingMilliseconds: 25_000,
  checkMilliseconds: 1_000,
  graceMilliseconds: 5_000,
  aheadMilliseconds: 5_000,
  typingMilliseconds: 5_000,
}

const unknownMax = 2_000
// Of one frame; the largest comes in a few hundred, over the slowest network.
const piecesMax = 500
const devicesPerUserMax = 100
// All devices together; beyond this, those go that have taken the least of what they were sent.
const untakenBytesMax = 256 * 1024 * 1024
const returnsPerSecond = 500
const lagMillisecondsMax = 5_000
const farewellMilliseconds = 20

interface Parts
  extends Pick<VisitParts, 'database' | 'tools' | 'doors' | 'limits' | 'dispatch' | 'registry' | 'begin' | 'end'> {
  areas: Area[]
  tail: Tail
  log: Logger
  patience?: Partial<GatewayPatience>
}

export async function openGateway(parts: Parts): Promise<Gateway> {
  const { database, tools, areas, tail, log } = parts
  const patience = { ...usualPatience, ...parts.patience }
  const figures = noCounts()
  const hearers = createHearers()
  const ofApp = logOfApp(eventsByName(areas))
  const told = teller(tools)

  // What happens while the past is being read comes after it.
  const early: TailedEvent[] = []
  let hear = (event: TailedEvent) => void early.push(event)
  const stopHearing = tail.subscribe((event) => hear(event))
  const begun = await tail.begun
  const recent = await openRecent(database, begun, tools.clock.now, (row) => {
    const event = ofApp.eventOf(row)
    return event && told(event)
  })
  const salt = positionSalt(tools)
  const positions = await openPositions(
    { database, clock: tools.clock, salt, aheadMilliseconds: patience.aheadMilliseconds },
    () => recent,
    begun,
  )
  const readings = createReadings(database, areas)
  const delivery = createDelivery(hearers, readings, tellTrouble)
  const visits = new Set<Visit>()
  hear = (event) => {
    if (event.id <= positions.last()) beginAnew(event.id - 1)
    const ready = readied(event)
    if (!ready) return
    recent.add(ready)
    positions.moveTo(ready)
    delivery.deliver(ready)
    ready.settle()
  }
  for (const event of early.splice(0)) hear(event)

  const departures = createDepartures(tools, patience.graceMilliseconds)
  // Without the log nobody knows any more who may hear what.
  const words = createWords({
    ...{ database, tools, hearers, typingMilliseconds: patience.typingMilliseconds },
    mayTell: () => tail.behindMilliseconds() < lagMillisecondsMax,
  })
  const announcer = createAnnouncer({
    ...{ database, log, presence: tools.presence, tools: () => tools },
    frame: (type, rest) => encode({ type, ...rest }),
  })
  const subscriptions = new Map<Session, () => void>()
  const attaching = createAttaching({
    ...{ readings, areas, hearers, recent, positions, delivery, told },
    log: ofApp,
    entered,
  })
  const unknown = new Set<Visit>()
  const server = new WebSocketServer({
    ...{ noServer: true, maxPayload: frameBytesRead, perMessageDeflate: false },
    // Visits answer pings.
    autoPong: false,
    // A byte that comes by itself takes a hundred times its size.
    ...{ maxFragments: piecesMax, maxBufferedChunks: piecesMax },
  })
  let isDraining = false
  const checking = setInterval(checkAll, patience.checkMilliseconds).unref()

  /** An event that nobody can be told of: whoever is here begins anew after it. */
  function readied(event: TailedEvent): Told | undefined {
    try {
      return told(event)
    } catch (error) {
      log.error({ err: error, event: event.definition.name, id: event.id }, 'an event cannot be told')
      beginAnew(event.id)
      return undefined
    }
  }

  /** The log was set back, as by a backup that was restored meanwhile: what anybody was told may not have happened. */
  function beginAnew(since: number): void {
    log.warn({ since }, 'all devices are asked to come back, and begin anew')
    recent.restart(since)
    for (const visit of visits) {
      visit.close(closeCodes.tooSlow, 'the log was set back: come back and resume')
      // What they hear may be wrong, so nobody may come back to it.
      setImmediate(() => visit.terminate())
    }
  }

  function tellTrouble(error: unknown): void {
    if (!(error instanceof DatabaseUnavailable)) log.error({ err: error }, 'it cannot be read what a user may be shown')
  }

  function entered(session: Session, hearer: Hearer): void {
    const { sessions } = hearer
    for (const other of sessions) {
      if (other.resource === session.resource) other.line.close(closeCodes.replaced, 'continued by another connection')
    }
    const isFirst = sessions.size === 0
    sessions.add(session)
    // Those that were closed a moment ago are still among them.
    const open = [...sessions].filter(({ line }) => line.isOpen())
    const tooMany = open.slice(0, Math.max(0, open.length - devicesPerUserMax))
    for (const { line } of tooMany) line.close(closeCodes.replaced, 'too many connections')
    if (isFirst) departures.came(hearer.appId, hearer.uid)
  }

  /** Lets a device hear who comes and goes, as it wishes, and no longer as it wished before. */
  function subscribe(session: Session, { mode, roles = [] }: PresenceWish): void {
    const { app, caller, line } = session
    const before = subscriptions.get(session)
    subscriptions.delete(session)
    if (mode !== 'NONE' && line.isOpen()) {
      const whom = { appId: app.id, uid: caller.uid, mode, roles: new Set(roles) }
      subscriptions.set(session, announcer.subscribe({ ...whom, send: line.signal }))
    }
    // Only now: with its last subscriber an app forgets what it was about to tell.
    before?.()
  }

  function left(visit: Visit, session: Session | undefined): void {
    visits.delete(visit)
    unknown.delete(visit)
    if (!session) return
    words.forget(session)
    subscribe(session, { mode: 'NONE' })
    const hearer = hearers.find(session.app.id, session.caller.uid)
    if (!hearer?.sessions.delete(session) || hearer.sessions.size > 0) return
    hearers.remove(hearer)
    departures.went(hearer.appId, hearer.uid)
  }

  function checkAll(): void {
    const now = performance.now()
    for (const visit of visits) checkOne(visit, now)
    letGreediestGo()
  }

  function checkOne(visit: Visit, now: number): void {
    const isLate = unknown.has(visit) && now - visit.arrivedAt > patience.authMilliseconds
    const silence = now - visit.heardAt()
    if (isLate) visit.close(closeCodes.silent, 'nobody logged in')
    else if (silence > patience.silenceMilliseconds) visit.close(closeCodes.silent, 'nothing was heard for too long')
    else if (now - visit.askedAt() > patience.pingMilliseconds) visit.ping()
  }

  /** Each device may leave a good deal untaken, but not all of them at once. */
  function letGreediestGo(): void {
    const lines = [...visits].flatMap((visit) => visit.session()?.line ?? [])
    let untaken = lines.reduce((sum, line) => sum + line.untakenBytes(), 0)
    if (untaken <= untakenBytesMax) return
    for (const line of lines.toSorted((a, b) => b.untakenBytes() - a.untakenBytes())) {
      if (untaken <= untakenBytesMax) return
      untaken -= line.untakenBytes()
      line.close(closeCodes.tooSlow, 'what was sent was not taken: come back and resume')
    }
  }

  const post = openPost()
  const known = (visit: Visit) => void unknown.delete(visit)
  const visitParts: VisitParts = { ...parts, attaching, words, post, figures, left, subscribe, known }

  return {
    accept(request, socket, head, named) {
      if (isDraining) return void socket.destroy()
      server.handleUpgrade(request, socket, head, (device) => {
        const visit = openVisit(device, socket, named, visitParts)
        visits.add(visit)
        unknown.add(visit)
        if (unknown.size <= unknownMax) return
        const [oldest] = unknown
        if (oldest) unknown.delete(oldest)
        oldest?.terminate()
      })
    },
    figures: () => ({
      ...figures,
      sockets: visits.size,
      devices: [...hearers.all()].reduce((sum, { sessions }) => sum + sessions.size, 0),
      lagSeconds: tail.behindMilliseconds() / 1000,
    }),
    async drain(milliseconds) {
      isDraining = true
      const all = [...visits]
      const spread = (1000 * all.length) / returnsPerSecond
      const leaving = all.map(async (visit) => {
        const retryAfterMs = Math.round(Math.random() * spread)
        visit.send({ type: 'reconnect', body: { retryAfterMs } })
        await pause(Math.min(retryAfterMs, milliseconds / 2), undefined, { ref: false })
        visit.close(closeCodes.leaving, 'this node is leaving')
      })
      const deadline = performance.now() + milliseconds
      await Promise.race([Promise.all(leaving), pause(milliseconds, undefined, { ref: false })])
      while (visits.size > 0 && performance.now() < deadline) await pause(farewellMilliseconds)
      for (const visit of visits) visit.terminate()
    },
    close() {
      stopHearing()
      clearInterval(checking)
      departures.close(hearers.all())
      announcer.stop()
      words.close()
      for (const visit of visits) visit.terminate()
    },
  }
}
