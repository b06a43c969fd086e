export type InShare = <T>(whose: string | undefined, run: () => Promise<T>) => Promise<T>

interface ShareOptions {
  /** How many of an app go on at a time. */
  max: number
  /** The same for an app whose last ones took longer than so many milliseconds, where those are another matter. */
  slow?: { milliseconds: number; max: number }
}

interface Line {
  running: number
  waiting: (() => void)[]
  /** What its last ones took, in milliseconds. */
  usual: number
}

/** How much the last one counts in what is usual. */
const weight = 0.2

/** Lets so many of each app go on at a time; the others wait in line. What belongs to no app waits for nobody. */
export function createShares({ max, slow }: ShareOptions): InShare {
  const lines = new Map<string, Line>()
  const maxOf = ({ usual }: Line) => (slow && usual > slow.milliseconds ? slow.max : max)

  async function timed<T>(line: Line, run: () => Promise<T>): Promise<T> {
    const began = performance.now()
    const value = await run()
    line.usual += (performance.now() - began - line.usual) * weight
    return value
  }

  return async function inShare<T>(whose: string | undefined, run: () => Promise<T>): Promise<T> {
    if (whose === undefined) return run()
    const line = lines.get(whose) ?? { running: 0, waiting: [], usual: 0 }
    lines.set(whose, line)
    if (line.running >= maxOf(line)) await new Promise<void>((goOn) => line.waiting.push(goOn))
    else line.running += 1
    try {
      return await timed(line, run)
    } finally {
      line.running -= 1
      // Whoever is next is counted at once: somebody else could come before they go on.
      while (line.waiting.length > 0 && line.running < maxOf(line)) {
        line.running += 1
        line.waiting.shift()?.()
      }
      if (line.running === 0) lines.delete(whose)
    }
  }
}
