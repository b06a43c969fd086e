import { systemClock } from '../../server/src/adapters/clock/system.ts'
import type { AdjustableClock } from '../../server/src/kit/ports.ts'

/** Stands still at the second it was made in, until a test moves it: nothing then depends on how long a test takes. */
export function standingClock(): AdjustableClock {
  const { offsetSeconds, setOffset, now } = systemClock()
  const startedAt = now()
  return { offsetSeconds, setOffset, now: () => startedAt + offsetSeconds() }
}
