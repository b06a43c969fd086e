/** A bucket that fills by so many a second, up to so many; whoever takes more than is in it gets none. */
export interface Bucket {
  take(amount: number): boolean
}

export function createBucket(perSecond: number, most: number, now = () => performance.now()): Bucket {
  let left = most
  let filledAt = now()
  return {
    take(amount) {
      const at = now()
      left = Math.min(most, left + ((at - filledAt) / 1000) * perSecond)
      filledAt = at
      if (left < amount) return false
      left -= amount
      return true
    },
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
