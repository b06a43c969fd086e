/** Things in the order in which they came; the first go first. Taking one off costs little, however many there are. */
export interface LineUp<Thing> {
  readonly length: number
  add(thing: Thing): void
  first(): Thing | undefined
  last(): Thing | undefined
  takeFirst(): Thing | undefined
  /** All from the first on of which this is true; of those before, it must be false. */
  from(isReached: (thing: Thing) => boolean): Thing[]
  clear(): void
}

export function createLineUp<Thing>(): LineUp<Thing> {
  // An array would move all of its entries for each that is taken off its front.
  let things: (Thing | undefined)[] = []
  let head = 0

  function indexOf(isReached: (thing: Thing) => boolean): number {
    let [low, high] = [head, things.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (isReached(things[middle] as Thing)) high = middle
      else low = middle + 1
    }
    return low
  }

  return {
    get length() {
      return things.length - head
    },
    add: (thing) => void things.push(thing),
    first: () => things[head],
    last: () => (head < things.length ? things.at(-1) : undefined),
    takeFirst() {
      if (head === things.length) return undefined
      const first = things[head]
      things[head] = undefined
      head += 1
      if (2 * head > things.length) {
        things = things.slice(head)
        head = 0
      }
      return first
    },
    from: (isReached) => things.slice(indexOf(isReached)) as Thing[],
    clear() {
      things = []
      head = 0
    },
  }
}
