/** Users by app. */
export interface Crowd {
  /** Whether they were not in it yet. */
  add(appId: string, uid: string): boolean
  /** Whether they were in it. */
  delete(appId: string, uid: string): boolean
  has(appId: string, uid: string): boolean
  of(appId: string): ReadonlySet<string>
  each(): Iterable<Someone>
}

export type Someone = readonly [appId: string, uid: string]

const nobody: ReadonlySet<string> = new Set()

export function crowdOf(users: Iterable<Someone> = []): Crowd {
  const apps = new Map<string, Set<string>>()

  function add(appId: string, uid: string): boolean {
    const uids = apps.get(appId) ?? new Set()
    if (uids.has(uid)) return false
    apps.set(appId, uids.add(uid))
    return true
  }

  for (const [appId, uid] of users) add(appId, uid)
  return {
    add,
    delete(appId, uid) {
      const uids = apps.get(appId)
      if (!uids?.delete(uid)) return false
      if (uids.size === 0) apps.delete(appId)
      return true
    },
    has: (appId, uid) => apps.get(appId)?.has(uid) ?? false,
    of: (appId) => apps.get(appId) ?? nobody,
    *each() {
      for (const [appId, uids] of apps) for (const uid of uids) yield [appId, uid]
    },
  }
}
