import { DatabaseUnavailable } from './unavailable.ts'

export type InPlace = <T>(whose: string | undefined, run: () => Promise<T>) => Promise<T>

interface PlacesOptions {
  count: number
  /** How long somebody waits before they are refused. */
  patienceMilliseconds: number
}

interface Line {
  whose: string
  running: number
  waiting: (() => void)[]
}

/** What belongs to no app is like one more. */
const nobodys = ''
const partOfApp = 0.7

/**
 * Hands out places of which there are only so many: one of the app that has the fewest is next, and none has all. Of apps
 * that have equally few, the one that has waited longest for a place is next.
 */
export function createPlaces({ count, patienceMilliseconds }: PlacesOptions): InPlace {
  const ofAppMax = Math.max(1, Math.floor(count * partOfApp))
  /** Whoever got a place last comes last. */
  const lines = new Map<string, Line>()
  let running = 0

  const hasRoom = (line: Line) => running < count && line.running < ofAppMax

  function begin(line: Line): void {
    running += 1
    line.running += 1
  }

  function next(): Line | undefined {
    let fewest: Line | undefined
    for (const line of lines.values()) {
      if (line.waiting.length > 0 && hasRoom(line) && line.running < (fewest?.running ?? count)) fewest = line
    }
    return fewest
  }

  function end(line: Line): void {
    running -= 1
    line.running -= 1
    forgetIfIdle(line)
    for (let first = next(); first; first = next()) {
      begin(first)
      lines.delete(first.whose)
      lines.set(first.whose, first)
      first.waiting.shift()?.()
    }
  }

  function forgetIfIdle({ whose, running, waiting }: Line): void {
    if (running === 0 && waiting.length === 0) lines.delete(whose)
  }

  function itsTurn(line: Line): Promise<void> {
    return new Promise((resolve, reject) => {
      const goOn = () => {
        clearTimeout(patience)
        resolve()
      }
      const patience = setTimeout(() => {
        line.waiting.splice(line.waiting.indexOf(goOn), 1)
        forgetIfIdle(line)
        reject(new DatabaseUnavailable('too many connections to it are in use'))
      }, patienceMilliseconds)
      line.waiting.push(goOn)
    })
  }

  return async (whose = nobodys, run) => {
    const line = lines.get(whose) ?? { whose, running: 0, waiting: [] }
    lines.set(whose, line)
    if (hasRoom(line)) begin(line)
    else await itsTurn(line)
    try {
      return await run()
    } finally {
      end(line)
    }
  }
}
