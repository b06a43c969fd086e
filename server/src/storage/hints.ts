import type { RunStatement } from './connection.ts'

/** What may be there to do after a commit: events to be read, or jobs to be run. */
export type Hint = 'events' | 'jobs'

export const allHints: readonly Hint[] = ['events', 'jobs']

const leavesSomething = /^\s*insert into "?(events|jobs)\b/i

/** Notes what statements leave to others. Read off the statements themselves, so that nobody who writes has to say it. */
export function notingHints(run: RunStatement, hints: Set<Hint>): RunStatement {
  return (text, parameters) => {
    const left = leavesSomething.exec(text)?.[1]
    if (left) hints.add(left.toLowerCase() as Hint)
    return run(text, parameters)
  }
}

/** Those who wait for hints on this node. */
export interface Listeners {
  tell(hints: Iterable<Hint>): void
  /** Answers how to stop listening. */
  add(hint: Hint, listener: () => void): () => void
}

// Nothing is told later than this, however many go on committing.
const gatherMilliseconds = 2

/** What commits leave, told together where they follow each other closely. */
export interface Gathering {
  /** What the commit under way leaves. */
  noted: Set<Hint>
  /** It is over, and another may follow. */
  ended(): void
  /** None follows. */
  isAtRest(): void
}

/**
 * Ten messages that are sent at once are rarely one commit. Whoever takes up what commits leave does so once for all that
 * belong together: a device is then written to once, which over TLS is most of what telling it costs.
 */
export function gatherHints(tell: Listeners['tell']): Gathering {
  const noted = new Set<Hint>()
  const untold = new Set<Hint>()
  let timer: NodeJS.Timeout | undefined

  function tellAll(): void {
    clearTimeout(timer)
    timer = undefined
    tell(untold)
    untold.clear()
  }

  return {
    noted,
    ended() {
      for (const hint of noted) untold.add(hint)
      noted.clear()
      if (untold.size > 0) timer ??= setTimeout(tellAll, gatherMilliseconds).unref()
    },
    isAtRest: tellAll,
  }
}

export function createListeners(): Listeners {
  const listeners: Record<Hint, Set<() => void>> = { events: new Set(), jobs: new Set() }
  return {
    tell(hints) {
      for (const hint of hints) for (const listener of listeners[hint]) listener()
    },
    add(hint, listener) {
      listeners[hint].add(listener)
      return () => listeners[hint].delete(listener)
    },
  }
}
