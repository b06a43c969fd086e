import { tooManyRequests } from '../kit/errors.ts'

/** How much one device may say. */
export interface Allowance {
  /** Counts a frame, and refuses what is too much. */
  frame(): void
  /** Counts an error; answers whether it was one too many. */
  error(): boolean
}

const framesPerSecond = 20
const framesAtOnce = 60
const errorsPerMinute = 10
const minuteMilliseconds = 60_000

export function createAllowance(now: () => number): Allowance {
  let left = framesAtOnce
  let filledAt = now()
  let errors: number[] = []

  return {
    frame() {
      const at = now()
      left = Math.min(framesAtOnce, left + ((at - filledAt) / 1000) * framesPerSecond)
      filledAt = at
      if (left < 1) throw tooManyRequests({ retryAfter: 1 })
      left -= 1
    },
    error() {
      const at = now()
      errors = [...errors.filter((each) => each > at - minuteMilliseconds), at]
      return errors.length > errorsPerMinute
    },
  }
}
