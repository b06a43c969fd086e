export type InShare = <T>(whose: string | undefined, run: () => Promise<T>) => Promise<T>

/** Lets so many of each app go on at a time; the others wait in line. What belongs to no app waits for nobody. */
export function createShares(max: number): InShare {
  const lines = new Map<string, { running: number; waiting: (() => void)[] }>()

  return async function inShare<T>(whose: string | undefined, run: () => Promise<T>): Promise<T> {
    if (whose === undefined) return run()
    const line = lines.get(whose) ?? { running: 0, waiting: [] }
    lines.set(whose, line)
    if (line.running < max) line.running += 1
    else await new Promise<void>((goOn) => line.waiting.push(goOn))
    try {
      return await run()
    } finally {
      // Whoever is next takes the place over.
      const next = line.waiting.shift()
      if (next) next()
      else line.running -= 1
      if (line.running === 0) lines.delete(whose)
    }
  }
}
