import type { Intent } from './rules.ts'
import { type CallState, isFinal } from './state.ts'

/** Somebody who cannot be in a call any more, and since when. */
export interface GoneUser {
  uid: string
  at: number
  cause: string
}

/** They leave on every device. A ring of theirs is taken back, and where two talk, or are about to, nobody is left to talk to. */
export function afterGoing(state: CallState, { uid, at: happenedAt, cause }: GoneUser): Intent | undefined {
  const { start, status, entries } = state
  if (isFinal(status)) return undefined
  const there = entries.find((entry) => entry.uid === uid && entry.state === 'ongoing')
  if (there?.deviceId !== undefined) return { kind: 'left', uid, deviceId: there.deviceId, cause, happenedAt }
  const isBetweenTwo = start.mode === 'call' && start.receiverType === 'user'
  if (status === 'initiated') {
    return isBetweenTwo || uid === start.initiator ? { kind: 'canceled', cause, happenedAt } : undefined
  }
  return isBetweenTwo ? { kind: 'ended', by: uid, cause, happenedAt } : undefined
}
