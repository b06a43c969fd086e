import type { Counters } from '../../kit/ports.ts'
import { within } from '../../plain/time-limit.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { memoryCounters } from './memory.ts'

const keptAfterWindowSeconds = 60
const commandMilliseconds = 200

/**
 * Counts shared by all nodes of an install, whose name keeps them apart from those of another on the same Redis. While
 * Redis cannot be reached, or is slow, each node counts for itself: a limit that is briefly too generous is better than a
 * service that stops.
 */
export function redisCounters({ client, isThere }: RedisConnection, install: string): Counters {
  const own = memoryCounters()

  async function shared(key: string, windowEndsAt: number, amount: number): Promise<number> {
    const [count] = await client
      .multi()
      .incrBy(key, amount)
      .expireAt(key, windowEndsAt + keptAfterWindowSeconds)
      .exec()
    return Number(count)
  }

  return {
    async add(name, windowEndsAt, amount) {
      const alone = () => own.add(name, windowEndsAt, amount)
      if (!isThere()) return alone()
      const counting = shared(`parley:${install}:count:${name}:${windowEndsAt}`, windowEndsAt, amount)
      try {
        return await within(commandMilliseconds, counting, alone)
      } catch {
        // It went away in the middle, which the connection tells.
        return alone()
      }
    },
  }
}
