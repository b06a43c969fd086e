import { tooManyRequests } from '../../kit/errors.ts'

export interface TurnLimits {
  /** How many run at a time. */
  atOnce: number
  /** How many may wait, in all and under one name. */
  waitingMax: number
  waitingOfOneMax: number
  /** What is told to whoever is one too many. */
  retryAfterSeconds: number
}

/** Lets few run at a time. Names take turns, so that one with much to do does not hold up the others. */
export function turns({ atOnce, waitingMax, waitingOfOneMax, retryAfterSeconds }: TurnLimits) {
  // In the order of their turns.
  const waiting = new Map<string, (() => void)[]>()
  let [waitingCount, runningCount] = [0, 0]

  function beginNext(): void {
    const [first] = waiting
    if (!first || runningCount >= atOnce) return
    const [name, queue] = first
    const begin = queue.shift()
    waiting.delete(name)
    if (queue.length > 0) waiting.set(name, queue)
    waitingCount -= 1
    runningCount += 1
    begin?.()
  }

  return async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const queue = waiting.get(name) ?? []
    if (waitingCount >= waitingMax || queue.length >= waitingOfOneMax) {
      throw tooManyRequests({ retryAfter: retryAfterSeconds })
    }
    await new Promise<void>((begin) => {
      queue.push(begin)
      waiting.set(name, queue)
      waitingCount += 1
      beginNext()
    })
    try {
      return await work()
    } finally {
      runningCount -= 1
      beginNext()
    }
  }
}
