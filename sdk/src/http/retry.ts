import type { Runtime } from '../runtime/runtime.ts'
import { abortedError, ParleyError } from './errors.ts'

/** Trying again, for whoever may: reads, and writes that happen once under their key. */

const firstWaitMs = 500
const longestWaitMs = 30_000
// A server's minute, and some; whoever is asked to wait longer is better told.
const longestRetryAfterMs = 90_000

/** Runs something until it succeeds, cannot succeed, or was tried again so many times. */
export async function withRetries<Answer>(
  run: () => Promise<Answer>,
  retries: number,
  signal: AbortSignal | undefined,
  runtime: Runtime,
): Promise<Answer> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await run()
    } catch (error) {
      if (tried >= retries || !isWorthAnother(error)) throw error
      await pause(waitMs(tried, runtime, error.retryAfterMs), signal, runtime)
    }
  }
}

function isWorthAnother(error: unknown): error is ParleyError {
  if (!ParleyError.is(error) || !['network', 'rate', 'server'].includes(error.kind)) return false
  return (error.retryAfterMs ?? 0) <= longestRetryAfterMs
}

/** Anything up to a bound that doubles, so that those who failed together do not come back together. */
function waitMs(tried: number, { random }: Runtime, atLeast = 0): number {
  return atLeast + random() * Math.min(firstWaitMs * 2 ** tried, longestWaitMs)
}

function pause(milliseconds: number, signal: AbortSignal | undefined, runtime: Runtime): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      callOff()
      signal?.removeEventListener('abort', giveUp)
    }
    const giveUp = () => {
      end()
      reject(abortedError())
    }
    const callOff = runtime.after(milliseconds, () => {
      end()
      resolve()
    })
    if (signal?.aborted) giveUp()
    else signal?.addEventListener('abort', giveUp)
  })
}
