/** Something that can be looked at, and tells when it is another. */
export interface Readable<Value> {
  /** The same reference until it changes. */
  get(): Value
  /** Answers how to stop; `run` is called once for all changes of a turn. */
  subscribe(run: () => void): () => void
}

export interface Cell<Value> extends Readable<Value> {
  set(value: Value): void
  isWatched(): boolean
}

interface Watching {
  /** The first subscriber has come. */
  begins?(): void
  /** The last one has gone. */
  ends?(): void
}

export function cell<Value>(first: Value, { begins, ends }: Watching = {}): Cell<Value> {
  let value = Object.freeze(first)
  let isTelling = false
  const watchers = new Set<{ run: () => void }>()

  async function tell(): Promise<void> {
    isTelling = true
    await undefined
    isTelling = false
    for (const watcher of [...watchers]) if (watchers.has(watcher)) watcher.run()
  }

  return {
    get: () => value,
    set(next) {
      if (next === value) return
      value = Object.freeze(next)
      if (!isTelling && watchers.size > 0) void tell()
    },
    subscribe(run) {
      // An object for each, as the same function may be given twice.
      const watcher = { run }
      watchers.add(watcher)
      if (watchers.size === 1) begins?.()
      return () => {
        if (watchers.delete(watcher) && watchers.size === 0) ends?.()
      }
    },
    isWatched: () => watchers.size > 0,
  }
}
