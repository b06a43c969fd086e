import type { DatabaseSync } from 'node:sqlite'
import type { StatementOutcome } from './connection.ts'

/**
 * What was read lately of what rarely changes, such as users and their roles: every request asks for it again. An answer
 * holds until a table that it was read from is written. Which tables those are is asked of the database itself, so that
 * nobody can forget one; a write that is undone only means that something is read once more.
 */
export interface Memory {
  /** What a statement answered to these parameters, if it still would. */
  recall(text: string, parameters: readonly unknown[], state: State): StatementOutcome | undefined
  /** Keeps what was read in this state. */
  keep(text: string, parameters: readonly unknown[], state: State, outcome: StatementOutcome): void
  /** The state that some tables are in. */
  stateOf(tables: readonly string[]): State
  /** These tables were just written, by a transaction that others do not see yet. */
  written(tables: readonly string[]): void
  /** What was written is there for everybody, or is undone. */
  settled(): void
  /** Whatever was read before may have changed. */
  forgetAll(): void
}

/**
 * A number that grows with every write; none while a transaction has written that is not over: what it reads of its own may
 * never be there for others, and what others read will soon be wrong.
 */
export type State = number | undefined

interface Kept {
  outcome: StatementOutcome
  state: number
  characters: number
}

const keptMax = 4_000
const charactersMax = 2_000_000
// A single large record would cost many small ones their place.
const charactersOfOneMax = 20_000
/** Of what there is room for, what stays when there is none left. */
const partLeft = 0.9

export function createMemory(): Memory {
  const kept = new Map<string, Kept>()
  const numbers = new Map<string, number>()
  const writesTo = new Map<string, number>()
  const unsettled = new Set<string>()
  let forgotten = 0
  let characters = 0

  /** Texts are few, and many times as long as a number. */
  function keyOf(text: string, parameters: readonly unknown[]): string {
    const number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    return `${number} ${JSON.stringify(parameters)}`
  }

  function forget(key: string): void {
    characters -= kept.get(key)?.characters ?? 0
    kept.delete(key)
  }

  /** For many at once: the way to the oldest leads past the places of all that went before. */
  function makeRoom(): void {
    for (const oldest of kept.keys()) {
      if (kept.size <= keptMax * partLeft && characters <= charactersMax * partLeft) return
      forget(oldest)
    }
  }

  return {
    recall(text, parameters, state) {
      if (state === undefined || !parameters.every(isPlain)) return undefined
      const known = kept.get(keyOf(text, parameters))
      return known?.state === state ? known.outcome : undefined
    },
    keep(text, parameters, state, outcome) {
      if (state === undefined || !parameters.every(isPlain)) return
      const key = keyOf(text, parameters)
      const size = key.length + charactersIn(outcome.rows)
      if (size > charactersOfOneMax) return
      forget(key)
      kept.set(key, { outcome: frozen(outcome), state, characters: size })
      characters += size
      if (kept.size > keptMax || characters > charactersMax) makeRoom()
    },
    stateOf(tables) {
      let writes = forgotten
      for (const table of tables) {
        if (unsettled.has(table)) return undefined
        writes += writesTo.get(table) ?? 0
      }
      return writes
    },
    written(tables) {
      for (const table of tables) {
        unsettled.add(table)
        writesTo.set(table, (writesTo.get(table) ?? 0) + 1)
      }
    },
    settled: () => unsettled.clear(),
    forgetAll() {
      forgotten += 1
      kept.clear()
      characters = 0
    },
  }
}

/** Anything else may look like another once it is text, so nothing is remembered by it. */
function isPlain(parameter: unknown): boolean {
  return typeof parameter === 'string' || parameter === null || Number.isFinite(parameter)
}

function charactersIn(rows: readonly unknown[]): number {
  let sum = 0
  for (const row of rows as object[]) {
    for (const value of Object.values(row)) sum += typeof value === 'string' ? value.length : 1
  }
  return sum
}

/** Many are given the same rows. */
function frozen(outcome: StatementOutcome): StatementOutcome {
  for (const row of outcome.rows) Object.freeze(row)
  Object.freeze(outcome.rows)
  return outcome
}

/**
 * Tells whether somebody else has written to the file since it was last asked, such as the command line. Reads ask once for
 * all that follows from one thing heard: it was said before. A whole turn of the event loop would be too long, because what
 * is heard later in it may tell of what was written meanwhile. A transaction asks for certain.
 */
export function watchForOthers(writer: DatabaseSync): (forCertain: boolean) => boolean {
  const version = writer.prepare('PRAGMA data_version')
  const read = () => (version.get() as { data_version: number }).data_version
  let last = read()
  let isSure = false
  return (forCertain) => {
    if (isSure && !forCertain) return false
    if (!isSure) {
      isSure = true
      process.nextTick(() => {
        isSure = false
      })
    }
    const before = last
    last = read()
    return last !== before
  }
}
