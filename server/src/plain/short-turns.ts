import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Asker, createTurns } from './turns.ts'

/**
 * Short work that is done for many, piece by piece: apps take turns, and so do the users of an app. However much of it waits,
 * everybody else has a turn after a few milliseconds.
 */
export interface ShortTurns {
  take<Made>(asker: Asker, work: () => Made): Promise<Made>
}

const turnMilliseconds = 5
const noLimit = Number.POSITIVE_INFINITY

export function createShortTurns(now = () => performance.now()): ShortTurns {
  const turns = createTurns({ atOnce: 1, ofUserMax: noLimit, ofAppMax: noLimit, inAllMax: noLimit })
  let since = now()
  return {
    async take(asker, work) {
      const turn = turns.lineUp(asker)
      await turn?.itsTurn
      try {
        return work()
      } finally {
        if (now() - since >= turnMilliseconds) {
          await nextTurn()
          since = now()
        }
        turn?.leave()
      }
    },
  }
}
