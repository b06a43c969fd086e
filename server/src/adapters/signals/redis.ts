import { randomUUID } from 'node:crypto'
import type { Signals } from '../../kit/ports.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { signalListeners } from './listeners.ts'

// Redis has not answered for so many yet; what is sent meanwhile reaches this node alone.
const underWayMax = 1_000

/**
 * Signals between the nodes of an install, by one channel for each topic. What is sent while Redis is away, other nodes
 * never hear. `onFault` hears of what could not be understood, and of listeners that fail.
 */
export function redisSignals(
  { client, isThere, onReturn }: RedisConnection,
  install: string,
  onFault: (error: unknown) => void,
): Signals {
  const node = randomUUID()
  const { hear, tell } = signalListeners()
  const wanted = new Set<string>()
  const subscribed = new Set<string>()
  let underWay = 0

  const channelOf = (topic: string) => `parley:${install}:signal:${topic}`

  /** Whatever is thrown in here would tear the connection. */
  function take(topic: string, text: string): void {
    try {
      const [sender, signal] = JSON.parse(text)
      if (sender !== node) tell(topic, signal, false)
    } catch (error) {
      onFault(error)
    }
  }

  async function subscribe(topic: string): Promise<void> {
    wanted.add(topic)
    try {
      await client.subscribe(channelOf(topic), (text) => take(topic, text))
      // From now on the connection subscribes to it again, each time that it comes back.
      subscribed.add(topic)
    } catch {
      // Redis is away: it is tried again when it is back.
    }
  }

  const stopWaiting = onReturn(() => {
    for (const topic of wanted) if (!subscribed.has(topic)) void subscribe(topic)
  })

  async function publish(topic: string, text: string): Promise<void> {
    underWay += 1
    try {
      await client.publish(channelOf(topic), text)
    } catch {
      // Lost, as signals may be.
    } finally {
      underWay -= 1
    }
  }

  return {
    send(topic, signal) {
      tell(topic, signal, true)
      if (isThere() && underWay < underWayMax) void publish(topic, JSON.stringify([node, signal]))
    },
    hear(topic, listener) {
      if (!wanted.has(topic)) void subscribe(topic)
      return hear(topic, listener)
    },
    // Subscriptions end with the connection.
    close: async () => stopWaiting(),
  }
}
