import { ParleyError } from '../http/errors.ts'
import type { Runtime } from '../runtime/runtime.ts'

/**
 * Fetches what has to be fetched without anybody asking: one after the other, once for all that is heard before it begins,
 * and again for as long as the network fails.
 */
export interface Refresher {
  ask(what: string): void
  /** It may work now. */
  hurry(): void
  clear(): void
}

const firstWaitMs = 1_000
const longestWaitMs = 30_000

export function createRefresher(refresh: (what: string) => Promise<void>, runtime: Runtime): Refresher {
  const asked = new Set<string>()
  let isBusy = false
  let tried = 0
  let era = 0
  let callOff: (() => void) | undefined

  async function work(): Promise<void> {
    isBusy = true
    callOff = undefined
    const own = era
    for (const what of asked) {
      asked.delete(what)
      const isDone = await attempt(what)
      if (own !== era) return
      if (!isDone) {
        asked.add(what)
        return waitAWhile()
      }
      tried = 0
    }
    isBusy = false
  }

  /** A refusal is an answer, too. */
  async function attempt(what: string): Promise<boolean> {
    try {
      await refresh(what)
      return true
    } catch (error) {
      return ParleyError.is(error) && !['network', 'rate', 'server'].includes(error.kind)
    }
  }

  function waitAWhile(): void {
    const bound = Math.min(firstWaitMs * 2 ** tried, longestWaitMs)
    tried += 1
    callOff = runtime.after(runtime.random() * bound, () => void work())
  }

  return {
    ask(what) {
      asked.add(what)
      if (!isBusy) void work()
    },
    hurry() {
      if (!callOff) return
      callOff()
      void work()
    },
    clear() {
      era += 1
      asked.clear()
      callOff?.()
      callOff = undefined
      isBusy = false
      tried = 0
    },
  }
}
