import { getUser } from '../generated/operations.ts'
import type { UserCall } from '../http/call.ts'
import type { Frame } from '../socket/frame.ts'
import { type Cell, cell, type Readable } from '../store/cell.ts'
import type { LiveUser } from '../sync/session.ts'

/** Whether somebody is there. */
export interface PresenceState {
  /** Not known before it was fetched. */
  readonly online?: boolean
  /** In UNIX seconds. */
  readonly lastActiveAt?: number
}

const knownMax = 500

/** Fetched for whom somebody looks at, and kept current for those whose coming and going is told. */
export function createPresences({ request, isIn }: { request: UserCall; isIn(): boolean }) {
  const known = new Map<string, Cell<PresenceState>>()
  const fetching = new Set<string>()

  async function look(uid: string): Promise<void> {
    if (!isIn() || fetching.has(uid)) return
    fetching.add(uid)
    const user = await request(getUser, { uid }).catch(() => undefined)
    // What was told meanwhile is newer.
    if (fetching.delete(uid) && user) set(uid, user.status === 'available', user.lastActiveAt)
  }

  function set(uid: string, online: boolean, lastActiveAt: number | undefined): void {
    known.get(uid)?.set({ online, ...(lastActiveAt !== undefined && { lastActiveAt }) })
  }

  /** Whoever is not looked at is forgotten first. */
  function makeRoom(): void {
    if (known.size < knownMax) return
    for (const [uid, each] of known) {
      if (each.isWatched()) continue
      known.delete(uid)
      return
    }
  }

  return {
    of(uid: string): Readable<PresenceState> {
      const found = known.get(uid)
      if (found) return found
      makeRoom()
      const made = cell<PresenceState>({}, { begins: () => void look(uid) })
      known.set(uid, made)
      return made
    },
    hear({ type, body }: Frame): void {
      if (type !== 'presence') return
      const { uid, lastActiveAt } = body.user as LiveUser & { lastActiveAt?: number }
      fetching.delete(uid)
      set(uid, body.action === 'online', lastActiveAt)
    },
    /** What was told while nobody was connected is not told later. */
    reload(): void {
      for (const [uid, each] of known) if (each.isWatched()) void look(uid)
    },
    drop(): void {
      fetching.clear()
      for (const each of known.values()) each.set({})
    },
  }
}
