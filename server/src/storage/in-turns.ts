import type { RunStatement } from './connection.ts'

/**
 * The embedded database answers a statement at once, and what awaited it goes on before anything else is heard. A chain of
 * many would keep everybody waiting. So each turn of the event loop has some milliseconds for whatever has just come in,
 * and as many for each of these: the transaction under way, since all who write wait for it; reads that had to wait; and
 * one of the reads that have gone on since and are still not done. Short reads pass the long ones, and every long one goes
 * on in the end.
 */
const milliseconds = 6

type Line = (() => void)[]

const transaction: Line = []
const newcomers: Line = []
const others: Line = []

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
  if (transaction.length + newcomers.length + others.length > 0) awaitTurn()
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

function nextTurn(line: Line): Promise<void> {
  return new Promise((resolve) => line.push(resolve))
}

/** Where much is done in one go inside a transaction: waits for another turn, if this one has taken long enough. */
export async function letOthersIn(): Promise<void> {
  if (timeIsOver()) await nextTurn(transaction)
}

export function readInTurns(run: RunStatement): RunStatement {
  return inTurns(run, () => (isGoingOn ? others : newcomers))
}

export function writeInTurns(run: RunStatement): RunStatement {
  return inTurns(run, () => transaction)
}

function inTurns(run: RunStatement, line: () => Line): RunStatement {
  return (text, parameters) =>
    timeIsOver() ? nextTurn(line()).then(() => run(text, parameters)) : run(text, parameters)
}
