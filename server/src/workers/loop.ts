import { setTimeout as pause } from 'node:timers/promises'

/** Work that is looked for whenever somebody says that there may be some. */
export interface Loop {
  /** Lets it look, soon. */
  wake(): void
  /** Something that never overlaps with a round of the loop, nor with anything else done this way. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  start(): void
  /** Begins no round any more; resolves after the last one. */
  stop(): Promise<void>
}

// Wake-ups come with every commit; what comes within this time is looked at together.
const gatherMilliseconds = 5
// After a round that failed.
const awayMilliseconds = 500

/** `round` answers whether there was anything to do; while there is, it is called again. */
export function createLoop(round: () => Promise<boolean>, onTrouble: (error: unknown) => void): Loop {
  let running = false
  let looping = false
  let wokenMeanwhile = false
  let current: Promise<unknown> = Promise.resolve()

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = current.then(work)
    current = next.catch(() => {})
    return next
  }

  async function loop(): Promise<void> {
    looping = true
    try {
      do {
        wokenMeanwhile = false
        await pause(gatherMilliseconds)
        while (running && (await inTurn(round))) {}
      } while (wokenMeanwhile && running)
    } catch (error) {
      onTrouble(error)
      // Woken or not: whoever connects to a database that is starting only keeps it from doing so.
      await pause(awayMilliseconds, undefined, { ref: false })
    } finally {
      looping = false
    }
  }

  return {
    wake() {
      wokenMeanwhile = true
      if (running && !looping) void loop()
    },
    inTurn,
    start() {
      running = true
    },
    async stop() {
      running = false
      await current
    },
  }
}
