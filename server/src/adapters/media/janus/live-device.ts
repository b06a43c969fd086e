import type { RoomSpec, ToDevice, ToDeviceSignal } from '../../../common/media.ts'
import type { JanusHandle } from './client.ts'
import { engineName, visitName } from './names.ts'
import type { JanusTimes, RunningJanus } from './process.ts'
import type { RememberedDevice } from './remembered.ts'

/** A device in a room: what is remembered of it, and what only this server knows. */
export interface LiveDevice {
  known: RememberedDevice
  /** Nobody can be told anything while it is away. */
  toDevice: ToDevice | undefined
  /** Runs while it is waited for: to answer an offer, or to come back after a restart of the server. */
  answerTimer: NodeJS.Timeout | undefined
  awaitedTimer: NodeJS.Timeout | undefined
  /** An offer that came while the one before was not answered. */
  held: ReceivingOffer | undefined
  /** What there is to receive has changed since it was last offered. */
  isStale: boolean
  /** Offers in a row that were not answered. */
  unanswered: number
  /** What was last asked for of a video that comes in several heights, by the mid it has for the device. */
  heights: Map<string, { layer: number; at: number }>
  heightTimer: NodeJS.Timeout | undefined
  isGone: boolean
}

export type ReceivingOffer = ToDeviceSignal & { type: 'offer' }

/** The room as seen by what is done to one of its devices. */
export interface RoomInside {
  spec: RoomSpec
  secret(): string
  devices: Map<string, LiveDevice>
  times: JanusTimes
  running(): RunningJanus
  /** Joins, leaves and all that changes what flows in a room follow each other: engines die when they overlap. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  /** The same for what nobody waits for. */
  later(work: () => Promise<void>): void
  /** Who a handle of the engine belongs to, from now on. */
  route(handle: number, device: LiveDevice, way: 'send' | 'receive'): void
  unroute(handle: number): void
  save(): void
}

export function liveDevice(known: RememberedDevice, toDevice?: ToDevice): LiveDevice {
  return {
    known,
    toDevice,
    answerTimer: undefined,
    awaitedTimer: undefined,
    held: undefined,
    isStale: false,
    unanswered: 0,
    heights: new Map(),
    heightTimer: undefined,
    isGone: false,
  }
}

export function forgetTimers(device: LiveDevice): void {
  clearTimeout(device.answerTimer)
  clearTimeout(device.awaitedTimer)
  clearTimeout(device.heightTimer)
}

export const nameIn = ({ spec }: Pick<RoomInside, 'spec'>) => engineName(spec.room)

export const nameOf = ({ device, visit }: Pick<RememberedDevice, 'device' | 'visit'>) =>
  visitName({ device, number: visit })

export function senderOf(inside: RoomInside, { known }: LiveDevice): JanusHandle {
  return inside.running().client.handle(known.session, known.sender)
}

/** Whoever is told must not be able to hurt whoever tells. */
export function tellDevice({ toDevice }: LiveDevice, signal: ToDeviceSignal): void {
  try {
    toDevice?.(signal)
  } catch {
    // It is away, or as good as that.
  }
}
