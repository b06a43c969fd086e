import { getUser, listUsers } from '../generated/operations.ts'
import type { User } from '../generated/records.ts'
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
// As many as can be asked for at once.
const batchMax = 25

/** Fetched for whom somebody looks at, and kept current for those whose coming and going is told. */
export function createPresences({ request, isIn }: { request: UserCall; isIn(): boolean }) {
  const known = new Map<string, Cell<PresenceState>>()
  const fetching = new Set<string>()
  const asked: string[] = []

  /** Asked for together with all others of the turn: a page shows many people at once. */
  function look(uid: string): void {
    if (!isIn() || fetching.has(uid)) return
    fetching.add(uid)
    if (asked.push(uid) === 1) void askAll()
  }

  async function askAll(): Promise<void> {
    await undefined
    for (const all = asked.splice(0); all.length > 0; ) void fetchSome(all.splice(0, batchMax))
  }

  /** Not all who may be seen are listed. */
  async function fetchSome(uids: string[]): Promise<void> {
    const listing = request(listUsers, { uids, perPage: batchMax, withDeactivated: true })
    const listed = await listing.catch(() => undefined)
    for (const user of listed?.data ?? []) take(user.uid, user)
    for (const uid of uids) {
      if (fetching.has(uid)) take(uid, listed && (await request(getUser, { uid }).catch(() => undefined)))
    }
  }

  /** What was told meanwhile is newer. */
  function take(uid: string, user: User | undefined): void {
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
    of(name: string): Readable<PresenceState> {
      const uid = name.toLowerCase()
      const found = known.get(uid)
      if (found) return found
      makeRoom()
      const made = cell<PresenceState>({}, { begins: () => look(uid) })
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
      for (const [uid, each] of known) if (each.isWatched()) look(uid)
    },
    drop(): void {
      fetching.clear()
      asked.length = 0
      for (const each of known.values()) each.set({})
    },
  }
}
