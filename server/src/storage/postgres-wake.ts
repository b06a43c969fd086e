import { setTimeout as pause } from 'node:timers/promises'
import { clientConfig, Session } from './postgres-pool.ts'

const channel = 'parley'
const comeBackMilliseconds = 1_000
const promptMilliseconds = 5_000

/** Tells whoever listens. A constant text: what there is to do, everybody finds out by looking. */
export const wakeStatement = `SELECT pg_notify('${channel}', '')`

/**
 * Listens on a connection of its own, and comes back by itself when that is lost. Hints that are missed meanwhile cost
 * no more than the time until the workers look by themselves.
 */
export function listenForWakes(url: string, onWake: () => void): { stop(): Promise<void> } {
  let stopped = false
  let session: Session | undefined

  async function listen(): Promise<void> {
    session = new Session({ ...clientConfig(url, 'parley (listening)'), query_timeout: promptMilliseconds })
    const ended = new Promise<void>((resolve) => {
      session?.once('end', resolve)
    })
    session.on('notification', onWake)
    try {
      await session.connect()
      await session.query(`LISTEN ${channel}`)
      onWake()
      await ended
    } catch {
      void session.end()
    }
  }

  async function keepListening(): Promise<void> {
    while (!stopped) {
      await listen()
      if (!stopped) await pause(comeBackMilliseconds, undefined, { ref: false })
    }
  }

  void keepListening()
  return {
    async stop() {
      stopped = true
      await session?.end()
    },
  }
}
