import { lastActive } from '../areas/users/index.ts'
import type { Tools } from '../kit/ports.ts'

/**
 * Tells who is connected to this node: at once who comes, and after a moment who goes, since most of them are back by then.
 * What is written down of it is written by one node, for those of a dead one too.
 */
export interface Departures {
  came(appId: string, uid: string): void
  went(appId: string, uid: string): void
  /** Announces nobody any more; when those who are here, or were until a moment ago, were last connected is still noted. */
  close(here: Iterable<{ appId: string; uid: string }>): void
}

interface Leaving {
  timer: NodeJS.Timeout
  at: number
}

export function createDepartures({ presence, notes, clock }: Tools, graceMilliseconds: number): Departures {
  const apps = new Map<string, Map<string, Leaving>>()
  let isClosed = false

  const note = (appId: string, uid: string, at: number) => notes.take(lastActive, appId, { key: [uid], at })
  const stopNoting = presence.onChange(({ appId, uid, at, isOurs }) => {
    if (isOurs) note(appId, uid, at)
  })

  /** Whether they were about to go. */
  function stay(appId: string, uid: string): boolean {
    const all = apps.get(appId)
    const leaving = all?.get(uid)
    clearTimeout(leaving?.timer)
    all?.delete(uid)
    if (all?.size === 0) apps.delete(appId)
    return leaving !== undefined
  }

  return {
    came(appId, uid) {
      if (!stay(appId, uid)) presence.came(appId, uid)
    },
    went(appId, uid) {
      if (isClosed) return
      const at = clock.now()
      const timer = setTimeout(() => {
        stay(appId, uid)
        presence.went(appId, uid, at)
      }, graceMilliseconds).unref()
      apps.set(appId, (apps.get(appId) ?? new Map()).set(uid, { timer, at }))
    },
    close(here) {
      isClosed = true
      stopNoting()
      for (const { appId, uid } of here) note(appId, uid, clock.now())
      for (const [appId, all] of apps) {
        for (const [uid, { timer, at }] of all) {
          clearTimeout(timer)
          note(appId, uid, at)
        }
      }
      apps.clear()
    },
  }
}
