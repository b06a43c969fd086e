import { createClient } from '@redis/client'
import { within } from '../../plain/time-limit.ts'

const connectMilliseconds = 5_000
const closeMilliseconds = 300
// Commands that wait for an answer; what comes on top is refused.
const waitingMax = 10_000
// It is asked whether it is there once a second, and is away once it has not answered for two.
const askMilliseconds = 1_000
const silentMilliseconds = 2_000
// Once nobody writes any more, a connection that brings nothing is given up and made anew.
const idleMilliseconds = 5_000

/**
 * The connection to Redis that all adapters of a node share. It comes back by itself, with whatever was subscribed to. Nobody
 * waits for it: whoever finds that Redis is away does without.
 */
export interface RedisConnection {
  client: RedisClient
  /** Whether it answers. */
  isThere(): boolean
  /** Each time that it answers again; what happened at Redis in between is not known. Answers how to stop hearing. */
  onReturn(listener: () => void): () => void
  close(): Promise<void>
}

export type RedisClient = ReturnType<typeof clientOf>

/** Hears when Redis goes away and when it is back, however many meet with it. */
export interface RedisWatch {
  isAway(reason: unknown): void
  isBack(seconds: number): void
}

const clientOf = (url: string) =>
  createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: waitingMax,
    socket: { connectTimeout: connectMilliseconds, socketTimeout: idleMilliseconds },
  })

/** Redis must be there at the start: an address that is wrong is found out then. */
export async function connectRedis(url: string, watch: RedisWatch): Promise<RedisConnection> {
  const client = clientOf(url)
  const listeners = new Set<() => void>()
  let isConnected = false
  let awaySince: number | undefined

  function goneWith(reason: unknown): void {
    if (!isConnected || awaySince !== undefined) return
    awaySince = performance.now()
    watch.isAway(reason)
  }

  function isBack(): void {
    if (awaySince === undefined) return
    watch.isBack(Math.round((performance.now() - awaySince) / 1000))
    awaySince = undefined
    for (const listener of listeners) listener()
  }

  client.on('error', (error) => {
    // Some errors are of a command, and leave the connection as it was.
    if (!client.isReady) goneWith(error)
  })
  client.on('ready', isBack)
  await within(connectMilliseconds, client.connect(), () => {
    client.destroy()
    throw new Error('Redis does not answer at the address in PARLEY_REDIS_URL.')
  })
  isConnected = true

  let askedAt: number | undefined
  async function ask(): Promise<void> {
    if (!client.isReady) return
    if (askedAt !== undefined) {
      if (performance.now() - askedAt > silentMilliseconds) goneWith(new Error('It does not answer.'))
      return
    }
    askedAt = performance.now()
    try {
      await client.ping()
      isBack()
    } catch {
      // Told by the connection.
    } finally {
      askedAt = undefined
    }
  }
  const asking = setInterval(() => void ask(), askMilliseconds)
  asking.unref()

  return {
    client,
    isThere: () => client.isReady && awaySince === undefined,
    onReturn(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async close() {
      clearInterval(asking)
      listeners.clear()
      isConnected = false
      const closing = client.close().catch(() => {})
      await within(closeMilliseconds, closing, () => client.destroy())
    },
  }
}
