import { createBucket } from '../plain/bucket.ts'

/** How much one device may say. */
export interface FrameAllowance {
  /** Counts a frame; answers whether it may be said. */
  frame(): boolean
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
    frame: () => frames.take(1),
    error: () => !errors.take(1),
  }
}
