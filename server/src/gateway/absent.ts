import type { Hearer } from './hearers.ts'

/**
 * What users heard whose last device went a moment ago. Most of them come back, often very many at once: what they hear is
 * known then, unless something has happened since that changes it.
 */
export interface Absent {
  /** Somebody's last device has gone, when this node had heard of so much of the log. */
  keep(hearer: Hearer, reached: number): void
  /** What they heard there; it is known no more then. */
  take(appId: string, uid: string): LastHeard | undefined
  /** What was told until now may not have happened: nothing that anybody hears is kept, also of those who are still here. */
  beginAnew(here: Iterable<Hearer>): void
  /** Forgets those who have been away for too long. */
  check(): void
}

export interface LastHeard extends Pick<Hearer, 'channels' | 'shows'> {
  /** The last event before they went. */
  id: number
}

interface Kept extends LastHeard {
  at: number
}

// For as long as what happens is in memory, too.
const keptMilliseconds = 120_000
// Of all users together; some hear thousands of them.
const channelsMax = 1_000_000

export function createAbsent(now = () => performance.now()): Absent {
  // In the order in which they went.
  const users = new Map<string, Kept>()
  const outdated = new WeakSet<Hearer>()
  let channelsCount = 0

  function drop(key: string): Kept | undefined {
    const kept = users.get(key)
    if (!kept) return undefined
    users.delete(key)
    channelsCount -= kept.channels.length
    return kept
  }

  function check(): void {
    const since = now() - keptMilliseconds
    for (const [key, { at }] of users) {
      if (at >= since && channelsCount <= channelsMax) return
      drop(key)
    }
  }

  return {
    keep(hearer, reached) {
      const { appId, uid, channels, shows } = hearer
      const key = keyOf(appId, uid)
      drop(key)
      if (shows === 'unknown' || outdated.has(hearer)) return
      users.set(key, { id: reached, channels, shows, at: now() })
      channelsCount += channels.length
      check()
    },
    take: (appId, uid) => drop(keyOf(appId, uid)),
    beginAnew(here) {
      for (const hearer of here) outdated.add(hearer)
      users.clear()
      channelsCount = 0
    },
    check,
  }
}

const keyOf = (...words: string[]) => JSON.stringify(words)
