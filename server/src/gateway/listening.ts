import type { Logger } from 'pino'
import { eventsByName } from '../dispatch/events-by-name.ts'
import type { Tail, TailedEvent } from '../dispatch/tail.ts'
import type { Area } from '../kit/area.ts'
import type { Tools } from '../kit/ports.ts'
import type { Database } from '../storage/database.ts'
import { type LogOfApp, logOfApp } from './log-of-app.ts'
import { openPositions, type Positions } from './positions.ts'
import { openRecent, type Recent } from './recent.ts'
import { positionSalt, type Told, teller } from './told.ts'

/** What the gateway hears of the log: what has happened lately, how far it has come, and whatever happens from now on. */
export interface Listening {
  recent: Recent
  positions: Positions
  log: LogOfApp
  told(event: TailedEvent): Told
  stop(): void
}

interface Parts {
  database: Database
  tools: Tools
  areas: Area[]
  tail: Tail
  log: Logger
  aheadMilliseconds: number
  deliver(told: Told): void
  /** Whoever is here was told what may not have happened, or cannot be told what has: they come back, and begin anew. */
  beginAnew(): void
}

export async function openListening(parts: Parts): Promise<Listening> {
  const { database, tools, tail, log, aheadMilliseconds, deliver } = parts
  const { clock } = tools
  const ofApp = logOfApp(eventsByName(parts.areas))
  const told = teller(tools)

  // What happens while the past is being read comes after it.
  const early: TailedEvent[] = []
  let hear = (event: TailedEvent) => void early.push(event)
  const stop = tail.subscribe((event) => hear(event))
  const begun = await tail.begun
  const recent = await openRecent(database, begun, clock.now, (row) => {
    const event = ofApp.eventOf(row)
    return event && told(event)
  })
  const salt = positionSalt(tools)
  const positions = await openPositions({ database, clock, salt, aheadMilliseconds }, () => recent, begun)

  function restart(since: number): void {
    log.warn({ since }, 'all devices are asked to come back, and begin anew')
    recent.restart(since)
    parts.beginAnew()
  }

  /** An event that nobody can be told of: whoever is here begins anew after it. */
  function readied(event: TailedEvent): Told | undefined {
    try {
      return told(event)
    } catch (error) {
      log.error({ err: error, event: event.definition.name, id: event.id }, 'an event cannot be told')
      restart(event.id)
      return undefined
    }
  }

  hear = (event) => {
    // The log was set back, as by a backup that was restored meanwhile.
    if (event.id <= positions.last()) restart(event.id - 1)
    const ready = readied(event)
    if (!ready) return
    recent.add(ready)
    positions.moveTo(ready)
    deliver(ready)
    ready.settle()
  }
  for (const event of early.splice(0)) hear(event)
  return { recent, positions, log: ofApp, told, stop }
}
