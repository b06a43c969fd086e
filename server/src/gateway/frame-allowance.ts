import { tooManyRequests } from '../kit/errors.ts'
import { createBucket } from '../plain/bucket.ts'

/** How much one device may say. */
export interface FrameAllowance {
  /** Counts a frame, and refuses what is too much. */
  frame(): void
  /** Counts an error; answers whether it was one too many. */
  error(): boolean
}

const framesPerSecond = 20
const framesAtOnce = 60
const errorsPerMinute = 10

export function createFrameAllowance(now?: () => number): FrameAllowance {
  const frames = createBucket(framesPerSecond, framesAtOnce, now)
  const errors = createBucket(errorsPerMinute / 60, errorsPerMinute, now)
  return {
    frame() {
      if (!frames.take(1)) throw tooManyRequests({ retryAfter: 1 })
    },
    error: () => !errors.take(1),
  }
}
