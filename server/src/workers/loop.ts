import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { oneByOne } from '../plain/one-by-one.ts'

export interface Loop {
  /** There may be something to do. */
  wake(): void
  /** Something that never overlaps with a round of the loop, nor with anything else done this way. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  /** Begins no round any more; resolves after the last one. */
  stop(): Promise<void>
}

export interface LoopOptions {
  /** Wake-ups that come within this time of a round are answered together; one that comes later is answered at once. */
  gatherMilliseconds?: number
  /** Hears of what went wrong; the round is tried again a moment later. */
  failed(error: unknown): void
}

// Wake-ups can be lost; this bounds how late anything is noticed without one.
export const pollMilliseconds = 500
// Wake-ups come with every commit that leaves something; where there are many, a look has what came within this time.
export const gatherMilliseconds = 2
// Woken or not: whoever connects to a database that is starting only keeps it from doing so.
const failureMilliseconds = 500

/**
 * Does a round whenever it is woken, again and again while there is anything to do, as `round` answers, and never two at
 * once.
 */
export function createLoop(round: () => Promise<boolean>, { gatherMilliseconds, failed }: LoopOptions): Loop {
  let isStopped = false
  let isGoing = false
  let isWoken = false
  let lookedAt = Number.NEGATIVE_INFINITY
  const { inTurn, rest } = oneByOne()

  async function workOff(): Promise<void> {
    await gather()
    isWoken = false
    try {
      while (!isStopped && (await inTurn(round))) {}
    } catch (error) {
      if (isStopped) return
      failed(error)
      await pause(failureMilliseconds, undefined, { ref: false })
      isWoken = true
    } finally {
      lookedAt = performance.now()
    }
  }

  async function gather(): Promise<void> {
    if (gatherMilliseconds === undefined) return
    const left = lookedAt + gatherMilliseconds - performance.now()
    // Whoever has just committed is answered first.
    await (left > 0 ? pause(left) : nextTurn())
  }

  async function goOn(): Promise<void> {
    isGoing = true
    while (isWoken && !isStopped) await workOff()
    isGoing = false
  }

  return {
    wake() {
      isWoken = true
      if (!isGoing) void goOn()
    },
    inTurn,
    async stop() {
      isStopped = true
      await rest()
    },
  }
}
