import { setImmediate as nextTurn } from 'node:timers/promises'

/** Counts how much is done in a turn of the event loop. */
export interface Laborious {
  work(): void
  /** How much was done in all, and how much of it in one turn. */
  end(): Promise<{ count: number; mostInATurn: number }>
}

/** Work that takes its time, so that what fits into a turn does not depend on how fast the machine is. */
export function laborious(milliseconds: number): Laborious {
  const doneIn = new Map<number, number>()
  let turn = 0
  let isOver = false
  const turning = (async () => {
    for (; !isOver; turn += 1) await nextTurn()
  })()
  return {
    work() {
      for (const since = performance.now(); performance.now() - since < milliseconds; );
      doneIn.set(turn, (doneIn.get(turn) ?? 0) + 1)
    },
    async end() {
      isOver = true
      await turning
      const counts = [...doneIn.values()]
      return { count: counts.reduce((sum, each) => sum + each, 0), mostInATurn: Math.max(...counts) }
    },
  }
}
