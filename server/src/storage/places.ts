import { DatabaseUnavailable } from './unavailable.ts'

export type InPlace = <T>(whose: string | undefined, run: () => Promise<T>) => Promise<T>

interface PlacesOptions {
  count: number
  /** How long somebody waits before they are refused. */
  patienceMilliseconds: number
  milliseconds?: () => number
}

interface Line {
  whose: string
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
/** Of an app that is alone, and of one beside others: these wait for the database too, not only for a place. */
const partOfApp = 0.7
const partBesideOthers = 0.5
/** An app is about for so long after it has asked. */
const aboutMilliseconds = 1_000

/**
 * Hands out places of which there are only so many: one of the app that has the fewest is next, and none has all. Of apps
 * that have equally few, the one whose first has waited longest is next.
 */
export function shareConnections({
  count,
  patienceMilliseconds,
  milliseconds = () => performance.now(),
}: PlacesOptions): InPlace {
  const partOf = (part: number) => Math.max(1, Math.floor(count * part))
  const ofAppMax = partOf(partOfApp)
  const besideOthersMax = partOf(partBesideOthers)
  const company = watchCompany(milliseconds)
  const lines = new Map<string, Line>()
  let running = 0
  let came = 0

  function hasRoom(line: Line): boolean {
    const max = company.isBesideOthers(line.whose) ? besideOthersMax : ofAppMax
    return running < count && line.running < max
  }

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

  function end(line: Line): void {
    running -= 1
    line.running -= 1
    forgetIfIdle(line)
    for (let first = next(); first; first = next()) {
      begin(first)
      first.waiting.shift()?.goOn()
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
      came += 1
      const waiting = { number: came, goOn }
      const patience = setTimeout(() => {
        line.waiting.splice(line.waiting.indexOf(waiting), 1)
        forgetIfIdle(line)
        reject(new DatabaseUnavailable('too many connections to it are in use'))
      }, patienceMilliseconds)
      line.waiting.push(waiting)
    })
  }

  return async (whose = nobodys, run) => {
    const line = lines.get(whose) ?? { whose, running: 0, waiting: [] }
    lines.set(whose, line)
    company.asks(whose)
    if (hasRoom(line)) begin(line)
    else await itsTurn(line)
    try {
      return await run()
    } finally {
      end(line)
    }
  }
}

/** Knows whether an app has the places for itself: the last two that have asked tell it of every one. */
function watchCompany(milliseconds: () => number) {
  let last = { whose: nobodys, at: Number.NEGATIVE_INFINITY }
  let lastOther = last
  return {
    asks(whose: string): void {
      if (whose === nobodys) return
      if (whose !== last.whose) lastOther = last
      last = { whose, at: milliseconds() }
    },
    isBesideOthers(whose: string): boolean {
      const other = last.whose === whose ? lastOther : last
      return whose !== nobodys && other.at > milliseconds() - aboutMilliseconds
    },
  }
}

function comesBefore(one: Line, other: Line): boolean {
  if (one.running !== other.running) return one.running < other.running
  return (one.waiting[0]?.number ?? 0) < (other.waiting[0]?.number ?? 0)
}
