import { DatabaseUnavailable } from './unavailable.ts'

export type InShare = <T>(whose: string | undefined, run: (timed: Timed) => Promise<T>) => Promise<T>

/** Runs what counts as the app's, where it waits for others besides. */
type Timed = <T>(work: () => Promise<T>) => Promise<T>

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

  return async function inShare<T>(whose: string | undefined, run: (timed: Timed) => Promise<T>): Promise<T> {
    if (whose === undefined) return run((work) => work())
    const line = lines.get(whose) ?? { running: 0, waiting: [], usual: 0 }
    lines.set(whose, line)
    if (line.running >= maxOf(line)) await new Promise<void>((goOn) => line.waiting.push(goOn))
    else line.running += 1
    try {
      return await run((work) => timed(line, work))
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

async function timed<T>(line: Line, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const note = () => {
    line.usual += (performance.now() - began - line.usual) * weight
  }
  try {
    const value = await work()
    note()
    return value
  } catch (error) {
    // How long it takes to learn that the database is away says nothing about what was asked.
    if (!(error instanceof DatabaseUnavailable)) note()
    throw error
  }
}
