import { type Bucket, createBucket } from '../plain/bucket.ts'

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

export function createFrameAllowance(): FrameAllowance {
  return new DeviceAllowance()
}

class DeviceAllowance implements FrameAllowance {
  readonly #frames = createBucket(framesPerSecond, framesAtOnce)
  // Most devices never make one.
  #errors: Bucket | undefined

  frame(): boolean {
    return this.#frames.take(1)
  }

  error(): boolean {
    this.#errors ??= createBucket(errorsPerMinute / 60, errorsPerMinute)
    return !this.#errors.take(1)
  }
}
