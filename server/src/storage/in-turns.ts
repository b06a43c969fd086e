import type { RunStatement } from './connection.ts'

/**
 * The embedded database answers a statement at once, and what awaited it goes on before anything else is heard. A chain of
 * many would keep everybody waiting. So each turn of the event loop has some milliseconds for whatever has just come in,
 * and as many for each of these: the transaction under way, since all who write wait for it; reads that had to wait; and
 * one of the reads that have gone on since and are still not done. Short reads pass the long ones, and every long one goes
 * on in the end. Where several wait, it is another app's turn each time.
 */
const milliseconds = 6

/** Those who wait, app by app; the app that is next comes first. */
class Line {
  readonly #ofApps = new Map<string, (() => void)[]>()

  get isEmpty(): boolean {
    return this.#ofApps.size === 0
  }

  get length(): number {
    return [...this.#ofApps.values()].reduce((sum, { length }) => sum + length, 0)
  }

  push(whose: string, goOn: () => void): void {
    const waiting = this.#ofApps.get(whose)
    if (waiting) waiting.push(goOn)
    else this.#ofApps.set(whose, [goOn])
  }

  shift(): (() => void) | undefined {
    for (const [whose, waiting] of this.#ofApps) {
      this.#ofApps.delete(whose)
      const first = waiting.shift()
      if (waiting.length > 0) this.#ofApps.set(whose, waiting)
      return first
    }
    return undefined
  }
}

const transaction = new Line()
const newcomers = new Line()
const others = new Line()
/** Whose a statement is that belongs to no app. */
const nobodys = ''

/** When the time began that is being used up. */
let began: number | undefined
/** Whatever reads now has waited before. */
let isGoingOn = false
let isTurnAwaited = false

function timeIsOver(): boolean {
  const now = performance.now()
  if (began === undefined) {
    began = now
    awaitTurn()
  }
  return now - began > milliseconds
}

function awaitTurn(): void {
  if (isTurnAwaited) return
  isTurnAwaited = true
  setImmediate(takeTurn)
}

async function takeTurn(): Promise<void> {
  isTurnAwaited = false
  await goOnWith(transaction)
  isGoingOn = true
  await goOnWith(newcomers)
  await goOnWith(others, 1)
  isGoingOn = false
  began = undefined
  if (![transaction, newcomers, others].every(({ isEmpty }) => isEmpty)) awaitTurn()
}

/** One after the other for as long as there is time, and the first in any case. */
async function goOnWith(line: Line, most = line.length): Promise<void> {
  began = performance.now()
  for (let n = 0; n < most && (n === 0 || !timeIsOver()); n += 1) {
    line.shift()?.()
    await allThatFollows()
  }
}

/** Resolves when all that can go on without hearing anything from outside has done so. */
function allThatFollows(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)))
}

function nextTurn(line: Line, whose = nobodys): Promise<void> {
  return new Promise((resolve) => line.push(whose, resolve))
}

/** Where much is done in one go inside a transaction: waits for another turn, if this one has taken long enough. */
export async function letOthersIn(): Promise<void> {
  if (timeIsOver()) await nextTurn(transaction)
}

export function readInTurns(run: RunStatement, whose?: string): RunStatement {
  return inTurns(run, () => (isGoingOn ? others : newcomers), whose)
}

export function writeInTurns(run: RunStatement): RunStatement {
  return inTurns(run, () => transaction)
}

function inTurns(run: RunStatement, line: () => Line, whose?: string): RunStatement {
  return (text, parameters) =>
    timeIsOver() ? nextTurn(line(), whose).then(() => run(text, parameters)) : run(text, parameters)
}
