import type { Counters } from '../../kit/ports.ts'

type Counts = Map<string, number>

/** Counts of this process. Windows that are over are dropped when another begins. */
export function memoryCounters(): Counters {
  const windows = new Map<number, Counts>()

  function begin(windowEndsAt: number): Counts {
    for (const end of windows.keys()) if (end * 1000 <= Date.now()) windows.delete(end)
    const counts: Counts = new Map()
    windows.set(windowEndsAt, counts)
    return counts
  }

  return {
    add(name, windowEndsAt, amount) {
      const counts = windows.get(windowEndsAt) ?? begin(windowEndsAt)
      const count = Math.max(0, (counts.get(name) ?? 0) + amount)
      if (count === 0) counts.delete(name)
      else counts.set(name, count)
      return count
    },
  }
}
