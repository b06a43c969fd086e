import { setTimeout as pause } from 'node:timers/promises'
import type { Server } from './check.ts'

/** How checks wait for a server of which they know nothing but its answers. */

const pauseMilliseconds = 50
const secondMilliseconds = 1_100

/** Asks again and again for so long, and answers what was said last. */
export function asking(patienceMilliseconds: number): Server['soon'] {
  return async (ask, has) => {
    const deadline = performance.now() + patienceMilliseconds
    for (;;) {
      const answer = await ask()
      if (has(answer) || performance.now() > deadline) return answer
      await pause(pauseMilliseconds)
    }
  }
}

/** Waits for longer than a second, wherever in it the server is. */
export const realSecond = (): Promise<void> => pause(secondMilliseconds)
