import { createClient } from '@redis/client'
import type { Counters } from '../../kit/ports.ts'
import { memoryCounters } from './memory.ts'

const keptAfterWindowSeconds = 60

/**
 * Counts shared by all nodes of an install, whose name keeps them apart from those of another on the same Redis. While Redis cannot be reached each node counts for itself: a limit that is briefly too
 * generous is better than a service that stops.
 */
export async function redisCounters(
  url: string,
  install: string,
  onTrouble: (error: unknown) => void,
): Promise<Counters> {
  const client = createClient({ url, disableOfflineQueue: true })
  client.on('error', onTrouble)
  await client.connect()
  const own = memoryCounters()
  return {
    async add(name, windowEndsAt) {
      if (!client.isReady) return own.add(name, windowEndsAt)
      const key = `parley:${install}:count:${name}:${windowEndsAt}`
      try {
        const [count] = await client
          .multi()
          .incr(key)
          .expireAt(key, windowEndsAt + keptAfterWindowSeconds)
          .exec()
        return Number(count)
      } catch (error) {
        onTrouble(error)
        return own.add(name, windowEndsAt)
      }
    },
    async close() {
      await client.close().catch(() => {})
    },
  }
}
