import type { TestContext } from 'node:test'
import { systemClock } from '../../server/src/adapters/clock/system.ts'
import type { AdjustableClock } from '../../server/src/kit/ports.ts'

/** Stands still at the second it was made in, until a test moves it: nothing then depends on how long a test takes. */
export function standingClock(): AdjustableClock {
  const { offsetSeconds, setOffset, now } = systemClock()
  const startedAt = now()
  return { offsetSeconds, setOffset, now: () => startedAt + offsetSeconds() }
}

/** Lets time pass at once for whatever measures how long something takes in this process, until the test is over. */
export function passingTime({ mock }: TestContext): (milliseconds: number) => void {
  const { now } = performance
  let passed = 0
  mock.method(performance, 'now', () => now.call(performance) + passed)
  return (milliseconds) => {
    passed += milliseconds
  }
}
