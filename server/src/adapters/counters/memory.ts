import type { Counters } from '../../kit/ports.ts'

/** Counts of this process. Windows that are over are dropped when a later one begins. */
export function memoryCounters(): Counters {
  let current = 0
  let counts = new Map<string, number>()
  return {
    add(name, windowEndsAt) {
      if (windowEndsAt !== current) {
        current = windowEndsAt
        counts = new Map()
      }
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      return count
    },
    close: async () => {},
  }
}
