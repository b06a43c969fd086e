/**
 * How much of the time bulk work may take, so that requests keep their speed: an app's own work a share, and that of all
 * apps together not much more. Nobody waits for another app's rest, only for the bound on all.
 */
const shareOfApp = 1 / 5
const shareOfAll = 2 / 5
// Rests that small are put together: timers and wake-ups are no finer than some milliseconds.
const creditOfApp = 25
// What is allowed to all before they rest, so that whoever comes new need not wait for those who are at it.
const creditOfAll = 100

/** Times are milliseconds of a clock that only goes forward. */
export interface BulkPace {
  /** The apps that have to rest; every app, if all have worked enough. */
  resting(now: number): ReadonlySet<string> | 'all'
  worked(appId: string, milliseconds: number, now: number): void
  /** When somebody who rests may go on; nothing, if nobody rests. */
  restEndsAt(now: number): number | undefined
}

export function createBulkPace(): BulkPace {
  const all = createAccount(shareOfAll, creditOfAll)
  const ofApps = new Map<string, Account>()

  return {
    resting(now) {
      for (const [appId, account] of ofApps) if (account.isSettled(now)) ofApps.delete(appId)
      if (all.mayGoOnAt() > now) return 'all'
      return new Set([...ofApps].filter(([, account]) => account.mayGoOnAt() > now).map(([appId]) => appId))
    },
    worked(appId, milliseconds, now) {
      const account = ofApps.get(appId) ?? createAccount(shareOfApp, creditOfApp)
      ofApps.set(appId, account)
      account.worked(milliseconds, now)
      all.worked(milliseconds, now)
    },
    restEndsAt(now) {
      const ends = [...ofApps.values()].map((account) => account.mayGoOnAt()).filter((at) => at > now)
      if (all.mayGoOnAt() > now) return all.mayGoOnAt()
      return ends.length === 0 ? undefined : Math.min(...ends)
    },
  }
}

interface Account {
  worked(milliseconds: number, now: number): void
  mayGoOnAt(): number
  /** Nothing of what was done is left to rest from. */
  isSettled(now: number): boolean
}

function createAccount(share: number, credit: number): Account {
  // Until when the work so far would have lasted, had it only ever taken its share of the time.
  let evenUntil = 0
  return {
    worked(milliseconds, now) {
      evenUntil = Math.max(evenUntil, now - milliseconds) + milliseconds / share
    },
    mayGoOnAt: () => evenUntil - credit,
    isSettled: (now) => evenUntil <= now,
  }
}
