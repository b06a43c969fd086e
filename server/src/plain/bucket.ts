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
