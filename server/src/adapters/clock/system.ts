import type { AdjustableClock } from '../../kit/ports.ts'

/** Real time, in whole seconds, shifted by an offset that is kept through `remember`. */
export function systemClock(offset = 0, remember: (offset: number) => void = () => {}): AdjustableClock {
  let offsetSeconds = offset
  return {
    now: () => Math.floor(Date.now() / 1000) + offsetSeconds,
    offsetSeconds: () => offsetSeconds,
    setOffset(seconds) {
      offsetSeconds = seconds
      remember(seconds)
    },
  }
}
