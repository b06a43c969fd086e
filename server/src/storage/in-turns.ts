import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RunStatement } from './connection.ts'

const turnMilliseconds = 10

let turnBegan: number | undefined

function turnIsOver(): boolean {
  const now = performance.now()
  if (turnBegan === undefined) {
    turnBegan = now
    setImmediate(() => {
      turnBegan = undefined
    })
  }
  return now - turnBegan > turnMilliseconds
}

/** Where much is done in one go: waits for the next turn of the event loop, if this one has taken long enough. */
export async function letOthersIn(): Promise<void> {
  if (turnIsOver()) await nextTurn()
}

/**
 * The embedded database answers a statement at once, and what awaited it goes on before anything else is heard. A chain of
 * many would keep everybody waiting; after some milliseconds its next statement therefore waits for the next turn of the
 * event loop.
 */
export function inTurns(run: RunStatement): RunStatement {
  return (text, parameters) => (turnIsOver() ? nextTurn().then(() => run(text, parameters)) : run(text, parameters))
}
