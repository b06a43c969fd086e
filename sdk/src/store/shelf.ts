/** What is used of `localStorage`, or of whatever else keeps texts across reloads. */
export interface TextStorage {
  getItem(key: string): string | null
  setItem(key: string, text: string): void
  removeItem(key: string): void
}

/** One value that survives reloads, as well as it can: a storage may be full, forbidden, or written by somebody else. */
export interface Shelf {
  readonly name: string
  /** Whatever is there; nothing, where it cannot be read. */
  read(): unknown
  write(value: unknown): void
  clear(): void
}

/** Names are lists, so that no two of them are the same text. */
export function createShelf(storage: TextStorage, parts: readonly string[]): Shelf {
  const name = `parley ${JSON.stringify(parts)}`
  return {
    name,
    read: () => attempted(() => JSON.parse(storage.getItem(name) ?? 'null')),
    write: (value) => attempted(() => storage.setItem(name, JSON.stringify(value))),
    clear: () => attempted(() => storage.removeItem(name)),
  }
}

/** What cannot be kept is lost with the page, as without a storage. */
function attempted(run: () => unknown): unknown {
  try {
    return run()
  } catch {
    return undefined
  }
}
