/** A bucket that fills by so many a second, up to so many; whoever takes more than is in it gets none. */
export interface Bucket {
  take(amount: number): boolean
}

const milliseconds = () => performance.now()

export function createBucket(perSecond: number, most: number, now = milliseconds): Bucket {
  return new FillingBucket(perSecond, most, now)
}

/** A class, because there are very many of them, and functions of its own would be most of what each takes. */
class FillingBucket implements Bucket {
  readonly #perSecond: number
  readonly #most: number
  readonly #now: () => number
  #left: number
  #filledAt: number

  constructor(perSecond: number, most: number, now: () => number) {
    this.#perSecond = perSecond
    this.#most = most
    this.#now = now
    this.#left = most
    this.#filledAt = now()
  }

  take(amount: number): boolean {
    const at = this.#now()
    this.#left = Math.min(this.#most, this.#left + ((at - this.#filledAt) / 1000) * this.#perSecond)
    this.#filledAt = at
    if (this.#left < amount) return false
    this.#left -= amount
    return true
  }
}

const namesMax = 10_000

/** A bucket for each of many, named by some words; there are only so many of them at a time. */
export function bucketsFor(perSecond: number, most: number, now?: () => number): (...name: string[]) => Bucket {
  const buckets = new Map<string, Bucket>()
  return (...name) => {
    const key = JSON.stringify(name)
    const known = buckets.get(key)
    if (known) return known
    const bucket = createBucket(perSecond, most, now)
    const [oldest] = buckets.keys()
    if (buckets.size >= namesMax && oldest !== undefined) buckets.delete(oldest)
    buckets.set(key, bucket)
    return bucket
  }
}
