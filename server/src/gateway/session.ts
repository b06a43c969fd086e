import type { KnownApp } from '../dispatch/directory.ts'
import type { Veil } from '../kit/channel.ts'
import type { Caller } from '../kit/operation.ts'
import type { Hearer } from './hearers.ts'
import type { Line } from './line.ts'
import type { Told } from './told.ts'

/** A device that has said who it is. */
export interface Session {
  app: KnownApp
  caller: Extract<Caller, { kind: 'client' }>
  /** Names this connection, and the one that continues it. */
  resource: string
  line: Line
  /** The last event that was passed on this way, to the device or over it. */
  reached: number
}

/** Whether a user may be shown an event. What they may be shown is known by now. */
export function isShown({ shows }: Pick<Hearer, 'shows'>, { definition, payload }: Told): boolean {
  if (typeof shows !== 'object' || !definition.tellsOf) return true
  return shows.isTold?.(definition, payload()) ?? true
}

/** What is kept from a user of what they are told. */
export function veilOf({ shows }: Pick<Hearer, 'shows'>): Veil | undefined {
  return typeof shows === 'object' ? shows.veil : undefined
}

/** Sends an event to a device, unless it has it or knows of it, or nothing of it is left to tell. */
export function tell(session: Session, told: Told, frame: () => Buffer | undefined): void {
  if (told.id <= session.reached) return
  session.reached = told.id
  const sent = isDoneBy(session, told) ? undefined : frame()
  if (sent) session.line.send(sent)
}

function isDoneBy({ caller, resource }: Session, { doneBy }: Told): boolean {
  return doneBy !== undefined && doneBy.device === resource && doneBy.uid === caller.uid
}

/** Whether an event ends a connection. */
export function isEnded({ caller }: Session, { ends }: Told): boolean {
  if (!ends || (ends.uid !== undefined && ends.uid !== caller.uid)) return false
  return ends.tokenFingerprint === undefined || ends.tokenFingerprint === caller.tokenFingerprint
}
