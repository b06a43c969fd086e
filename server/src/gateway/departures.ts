import { lastActive } from '../areas/users/index.ts'
import type { Tools } from '../kit/ports.ts'

/**
 * Tells who is connected to this node: at once who comes, and after a moment who goes, since most of them are back by then.
 * What is written down of it is written by one node, for those of a dead one too.
 */
export interface Departures {
  came(appId: string, uid: string): void
  went(appId: string, uid: string): void
  close(): void
}

export function createDepartures({ presence, notes, clock }: Tools, graceMilliseconds: number): Departures {
  const apps = new Map<string, Map<string, NodeJS.Timeout>>()

  const stopNoting = presence.onChange(({ appId, uid, at, isOurs }) => {
    if (isOurs) notes.take(lastActive, appId, { key: [uid], at })
  })

  /** Whether they were about to go. */
  function stay(appId: string, uid: string): boolean {
    const timers = apps.get(appId)
    const timer = timers?.get(uid)
    clearTimeout(timer)
    timers?.delete(uid)
    if (timers?.size === 0) apps.delete(appId)
    return timer !== undefined
  }

  return {
    came(appId, uid) {
      if (!stay(appId, uid)) presence.came(appId, uid)
    },
    went(appId, uid) {
      const at = clock.now()
      const timer = setTimeout(() => {
        stay(appId, uid)
        presence.went(appId, uid, at)
      }, graceMilliseconds).unref()
      apps.set(appId, (apps.get(appId) ?? new Map()).set(uid, timer))
    },
    close() {
      stopNoting()
      for (const timers of apps.values()) for (const timer of timers.values()) clearTimeout(timer)
      apps.clear()
    },
  }
}
