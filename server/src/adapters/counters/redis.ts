import { createClient } from '@redis/client'
import type { Counters } from '../../kit/ports.ts'
import { within } from '../../plain/time-limit.ts'
import { memoryCounters } from './memory.ts'

const keptAfterWindowSeconds = 60
const commandMilliseconds = 200
const connectMilliseconds = 5_000
const closeMilliseconds = 1_000

/**
 * Counts shared by all nodes of an install, whose name keeps them apart from those of another on the same Redis. While
 * Redis cannot be reached, or is slow, each node counts for itself: a limit that is briefly too generous is better than a
 * service that stops.
 */
export async function redisCounters(
  url: string,
  install: string,
  onTrouble: (error: unknown) => void,
): Promise<Counters> {
  const client = createClient({ url, disableOfflineQueue: true })
  client.on('error', onTrouble)
  await within(connectMilliseconds, client.connect(), () => {
    client.destroy()
    throw new Error('Redis does not answer at the address in PARLEY_REDIS_URL.')
  })
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
      if (!client.isReady) return alone()
      const counting = shared(`parley:${install}:count:${name}:${windowEndsAt}`, windowEndsAt, amount)
      try {
        return await within(commandMilliseconds, counting, alone)
      } catch (error) {
        onTrouble(error)
        return alone()
      }
    },
    close: () =>
      within(
        closeMilliseconds,
        client.close().then(
          () => {},
          () => {},
        ),
        () => client.destroy(),
      ),
  }
}
