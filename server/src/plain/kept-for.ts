/** What was found out a moment ago, by name; forgotten after a while. */
export interface KeptFor<Thing> {
  find(name: string): Thing | undefined
  keep(name: string, thing: Thing): void
  readonly size: number
}

export function createKeptFor<Thing>(milliseconds: number, now = () => performance.now()): KeptFor<Thing> {
  /** The oldest first: whoever looks for what can be forgotten looks at nothing else. */
  const all = new Map<string, { thing: Thing; since: number }>()

  function forgetOld(): void {
    for (const [name, { since }] of all) {
      if (now() - since < milliseconds) return
      all.delete(name)
    }
  }

  return {
    find(name) {
      forgetOld()
      return all.get(name)?.thing
    },
    keep(name, thing) {
      all.delete(name)
      all.set(name, { thing, since: now() })
    },
    get size() {
      return all.size
    },
  }
}
