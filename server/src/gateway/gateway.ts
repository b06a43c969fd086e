import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { WebSocketServer } from 'ws'
import type { NamedApp } from '../dispatch/doors/app.ts'
import { type LiveFigures, noCounts } from '../dispatch/live-figures.ts'
import type { Tail } from '../dispatch/tail.ts'
import type { Area } from '../kit/area.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import { createAbsent } from './absent.ts'
import { createAnnouncer } from './announcer.ts'
import { createAttaching } from './attach.ts'
import { createCallSessions } from './call-sessions.ts'
import { closeCodes } from './close-codes.ts'
import { createDelivery } from './delivery.ts'
import { createDepartures } from './departures.ts'
import { encode } from './encode.ts'
import { createHearers, type Hearer } from './hearers.ts'
import { openPost } from './line.ts'
import { openListening } from './listening.ts'
import { type GatewayPatience, usualPatience } from './patience.ts'
import { createReadings } from './readings.ts'
import type { Session } from './session.ts'
import { createSubscriptions } from './subscriptions.ts'
import { frameBytesRead, openVisit, type Visit, type VisitParts } from './visit.ts'
import { createVisitors } from './visitors.ts'
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

// Of one frame; the largest comes in a few hundred, over the slowest network.
const piecesMax = 500
const devicesPerUserMax = 100
const lagMillisecondsMax = 5_000
// Browsers tell by these that the page goes, or that its client wanted to, with or without a word.
const deliberate = new Set([1000, 1001, 1005])

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
  const { aheadMilliseconds, typingMilliseconds } = patience
  const figures = noCounts()
  const hearers = createHearers()
  const absent = createAbsent()
  const visitors = createVisitors(patience)
  const readings = createReadings(database, areas)
  const delivery = createDelivery(hearers, readings, tellTrouble)
  const { deliver, learn } = delivery
  const listening = await openListening({ database, tools, areas, tail, log, aheadMilliseconds, deliver, beginAnew })
  const departures = createDepartures(tools, patience.graceMilliseconds)
  // Without the log nobody knows any more who may hear what.
  const mayTell = () => tail.behindMilliseconds() < lagMillisecondsMax
  const words = createWords({ database, tools, hearers, learn, typingMilliseconds, mayTell })
  const announcer = createAnnouncer({
    ...{ database, log, presence: tools.presence, tools: () => tools },
    frame: (type, rest) => encode({ type, ...rest }),
  })
  const { subscribe } = createSubscriptions(announcer)
  const attaching = createAttaching({ ...listening, readings, areas, hearers, absent, delivery, entered })
  const server = new WebSocketServer({
    ...{ noServer: true, maxPayload: frameBytesRead, perMessageDeflate: false },
    // Visits answer pings.
    autoPong: false,
    // A byte that comes by itself takes a hundred times its size.
    ...{ maxFragments: piecesMax, maxBufferedChunks: piecesMax },
  })
  const { known } = visitors
  const calls = createCallSessions({ database, tools, limits: parts.limits, tellTrouble: tellLoss })
  const visitParts: VisitParts = {
    ...parts,
    attaching,
    words,
    calls,
    post: openPost(),
    figures,
    left,
    subscribe,
    known,
  }
  const checking = setInterval(check, patience.checkMilliseconds).unref()
  let isDraining = false

  function tellTrouble(error: unknown): void {
    if (!(error instanceof DatabaseUnavailable)) log.error({ err: error }, 'it cannot be read what a user may be shown')
  }

  function tellLoss(error: unknown): void {
    if (!(error instanceof DatabaseUnavailable))
      log.error({ err: error }, 'a page that was closed could not leave its call')
  }

  function beginAnew(): void {
    absent.beginAnew(hearers.all())
    visitors.beginAnew()
  }

  function check(): void {
    visitors.check()
    absent.check()
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

  function left(visit: Visit, session: Session | undefined, code: number): void {
    visitors.remove(visit)
    if (!session) return
    words.forget(session)
    subscribe(session, { mode: 'NONE' })
    const hearer = hearers.find(session.app.id, session.caller.uid)
    const isContinued = [...(hearer?.sessions ?? [])].some(
      (other) => other !== session && other.resource === session.resource,
    )
    if (deliberate.has(code) && !isContinued) calls.closed(session)
    if (!hearer?.sessions.delete(session) || hearer.sessions.size > 0) return
    hearers.remove(hearer)
    absent.keep(hearer, listening.positions.last())
    departures.went(hearer.appId, hearer.uid)
  }

  return {
    accept(request, socket, head, named) {
      if (isDraining) return void socket.destroy()
      server.handleUpgrade(request, socket, head, (device) =>
        visitors.add(openVisit(device, socket, named, visitParts)),
      )
    },
    figures: () => ({
      ...figures,
      sockets: visitors.count(),
      devices: [...hearers.all()].reduce((sum, { sessions }) => sum + sessions.size, 0),
      lagSeconds: tail.behindMilliseconds() / 1000,
    }),
    drain(milliseconds) {
      isDraining = true
      return visitors.drain(milliseconds)
    },
    close() {
      listening.stop()
      clearInterval(checking)
      departures.close(hearers.all())
      announcer.stop()
      words.close()
      visitors.terminate()
    },
  }
}
