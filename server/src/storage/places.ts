import { DatabaseUnavailable } from './unavailable.ts'

export type InPlace = <T>(whose: string | undefined, run: () => Promise<T>) => Promise<T>

interface PlacesOptions {
  count: number
  /** How long somebody waits before they are refused. */
  patienceMilliseconds: number
}

interface Line {
  running: number
  waiting: Waiting[]
}

interface Waiting {
  /** Who came earlier has a smaller one. */
  number: number
  goOn: () => void
}

/** What belongs to no app is like one more. */
const nobodys = ''
const partOfApp = 0.7

/**
 * Hands out places of which there are only so many: one of the app that has the fewest is next, and none has all. Of apps
 * that have equally few, the one whose first has waited longest is next.
 */
export function createPlaces({ count, patienceMilliseconds }: PlacesOptions): InPlace {
  const ofAppMax = Math.max(1, Math.floor(count * partOfApp))
  const lines = new Map<string, Line>()
  let running = 0
  let came = 0

  const hasRoom = (line: Line) => running < count && line.running < ofAppMax

  function begin(line: Line): void {
    running += 1
    line.running += 1
  }

  function next(): Line | undefined {
    const ready = [...lines.values()].filter((line) => line.waiting.length > 0 && hasRoom(line))
    return ready.reduce<Line | undefined>(
      (first, line) => (first && !comesBefore(line, first) ? first : line),
      undefined,
    )
  }

  function end(whose: string, line: Line): void {
    running -= 1
    line.running -= 1
    forgetIfIdle(whose, line)
    for (let first = next(); first; first = next()) {
      begin(first)
      first.waiting.shift()?.goOn()
    }
  }

  function forgetIfIdle(whose: string, line: Line): void {
    if (line.running === 0 && line.waiting.length === 0) lines.delete(whose)
  }

  function itsTurn(whose: string, line: Line): Promise<void> {
    return new Promise((resolve, reject) => {
      const goOn = () => {
        clearTimeout(patience)
        resolve()
      }
      came += 1
      const waiting = { number: came, goOn }
      const patience = setTimeout(() => {
        line.waiting.splice(line.waiting.indexOf(waiting), 1)
        forgetIfIdle(whose, line)
        reject(new DatabaseUnavailable('too many connections to it are in use'))
      }, patienceMilliseconds)
      line.waiting.push(waiting)
    })
  }

  return async (whose = nobodys, run) => {
    const line = lines.get(whose) ?? { running: 0, waiting: [] }
    lines.set(whose, line)
    if (hasRoom(line)) begin(line)
    else await itsTurn(whose, line)
    try {
      return await run()
    } finally {
      end(whose, line)
    }
  }
}

function comesBefore(one: Line, other: Line): boolean {
  if (one.running !== other.running) return one.running < other.running
  return (one.waiting[0]?.number ?? 0) < (other.waiting[0]?.number ?? 0)
}
