import type { Intent } from './rules.ts'
import { type CallState, type Entry, isFinal } from './state.ts'

/**
 * What becomes of a call when its group, or who is in it, changes. Each function names the next thing that has to happen,
 * or nothing. All of it is dated when the group changed, not when that was read.
 */

/** A call in progress ends with its group; one that still rings is taken back. */
export function afterDeletion({ status }: CallState, at: number): Intent | undefined {
  if (isFinal(status)) return undefined
  return { kind: status === 'ongoing' ? 'ended' : 'canceled', cause: 'group deleted', happenedAt: at }
}

/** Somebody who is not in the group any more, or was not for a while. */
export interface Departure {
  uid: string
  at: number
  cause: string
  /** Is a member again: what such a one has joined since stays. */
  isBack: boolean
}

/** Whoever goes leaves the call on every device; a ring that nobody else has answered goes with its caller. */
export function afterDeparture(state: CallState, { uid, at, cause, isBack }: Departure): Intent | undefined {
  if (isFinal(state.status)) return undefined
  const stay = state.entries.find(
    (entry) => entry.uid === uid && entry.state === 'ongoing' && !(isBack && stayBeganAt(entry) >= at),
  )
  if (stay?.deviceId !== undefined) return { kind: 'left', uid, deviceId: stay.deviceId, cause, happenedAt: at }
  const isRingOfTheirs = state.status === 'initiated' && uid === state.start.initiator
  if (!isRingOfTheirs || (isBack && state.start.at >= at)) return undefined
  return { kind: 'canceled', cause, happenedAt: at }
}

/** When the device came, however often its camera was switched since. */
function stayBeganAt({ spans }: Entry): number {
  const first = spans.findLastIndex((span, index) => spans[index - 1]?.closedBy !== span.openedBy)
  return spans[first]?.from ?? 0
}
