import { lastActive } from '../areas/users/index.ts'
import type { Tools } from '../kit/ports.ts'

/** Tells who is connected: at once who comes, and after a moment who goes, since most of them are back by then. */
export interface Departures {
  came(appId: string, uid: string): void
  went(appId: string, uid: string): void
  close(): void
}

const graceMilliseconds = 5_000

export function createDepartures({ presence, notes, clock }: Tools, grace = graceMilliseconds): Departures {
  const apps = new Map<string, Map<string, NodeJS.Timeout>>()

  const note = (appId: string, uid: string) => notes.take(lastActive, appId, { key: [uid], at: clock.now() })

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
      note(appId, uid)
      if (!stay(appId, uid)) presence.came(appId, uid)
    },
    went(appId, uid) {
      note(appId, uid)
      const timer = setTimeout(() => {
        stay(appId, uid)
        presence.went(appId, uid)
      }, grace).unref()
      apps.set(appId, (apps.get(appId) ?? new Map()).set(uid, timer))
    },
    close() {
      for (const timers of apps.values()) for (const timer of timers.values()) clearTimeout(timer)
      apps.clear()
    },
  }
}
