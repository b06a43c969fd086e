import { tooManyRequests } from '../kit/errors.ts'
import { type Asker, createTurns } from '../plain/turns.ts'
import type { Connection } from '../storage/connection.ts'
import type { Database } from '../storage/database.ts'
import { readersBusy, tookTooLong } from './errors.ts'

/** Reads that may take long: few at a time, each for a limited time, and in turns. */
export interface LongReads {
  /** `gone` is given when nobody waits for the answer any more. */
  run<T>(asker: Asker, gone: AbortSignal, work: (connection: Connection) => Promise<T>): Promise<T>
}

export interface LongReadLimits {
  /** How many can be under way. */
  atOnce: number
  /** How long each may take, and how long each may wait before. */
  seconds: number
}

// In line or at their turn.
const asked = { ofUserMax: 10, ofAppMax: 100, inAllMax: 1_000 }

export function createLongReads(database: Database, { atOnce, seconds }: LongReadLimits): LongReads {
  const turns = createTurns({ atOnce, ...asked })
  return {
    async run(asker, gone, work) {
      const place = turns.lineUp(asker)
      if (!place) throw tooManyRequests({ retryAfter: seconds })
      const ending = new AbortController()
      const { promise: begun, resolve: tellBegun } = Promise.withResolvers<void>()
      const read = async () => {
        try {
          await Promise.race([place.itsTurn, whenGiven(ending.signal)])
          return await database.readLong((connection) => {
            tellBegun()
            return work(connection)
          }, ending.signal)
        } finally {
          // Not before the reader is free again; whoever waits for the answer may have it earlier.
          place.leave()
        }
      }
      const reading = read()
      const limits = { seconds, gone, ending }
      await limited(Promise.race([begun, reading]), readersBusy({ retryAfter: seconds }), limits)
      return limited(reading, tookTooLong({ seconds }), limits)
    },
  }
}

/** Rejects with the reason of a signal once it is given. */
function whenGiven(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

interface Limits {
  seconds: number
  gone: AbortSignal
  /** Tells those at work that nobody waits for them any more. */
  ending: AbortController
}

/** The promise's outcome, or the failure as soon as the time is over or whoever waits has gone. */
async function limited<T>(promise: Promise<T>, failure: Error, { seconds, gone, ending }: Limits): Promise<T> {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const end = () => {
    ending.abort(failure)
    reject(failure)
  }
  const timer = setTimeout(end, seconds * 1000)
  gone.addEventListener('abort', end)
  if (gone.aborted) end()
  try {
    return await Promise.race([promise, ended])
  } finally {
    clearTimeout(timer)
    gone.removeEventListener('abort', end)
  }
}
