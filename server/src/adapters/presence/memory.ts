import type { Presence } from '../../kit/ports.ts'

const nobody: ReadonlySet<string> = new Set()

/** Who is connected to this process, which is the only node. */
export function memoryPresence(): Presence {
  const apps = new Map<string, Set<string>>()

  return {
    online: (appId) => apps.get(appId) ?? nobody,
    came(appId, uid) {
      const users = apps.get(appId) ?? new Set()
      apps.set(appId, users.add(uid))
    },
    went(appId, uid) {
      const users = apps.get(appId)
      users?.delete(uid)
      if (users?.size === 0) apps.delete(appId)
    },
    close: async () => apps.clear(),
  }
}
