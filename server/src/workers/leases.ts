import { randomUUID } from 'node:crypto'
import type { Database } from '../storage/database.ts'

const leaseSeconds = 15

/** `anew`: another node may have had it since this one last did. */
export type Held = 'still' | 'anew' | 'no'

/** What only one node at a time may do, by name. */
export interface Leases {
  /** Takes a lease, or renews it when a third of it is used up. */
  hold(name: string): Promise<Held>
  /** Lets other nodes have all of them at once. */
  release(): Promise<void>
}

/**
 * Leases that are asked for in the same moment are claimed together. They run on real time: a clock that is moved hands
 * none over.
 */
export function createLeases(database: Database): Leases {
  const holder = randomUUID()
  const endsAt = new Map<string, number>()
  let asked = new Set<string>()
  let claiming: Promise<Set<string>> | undefined
  const seconds = () => Math.floor(Date.now() / 1000)

  async function claimAsked(): Promise<Set<string>> {
    await Promise.resolve()
    const names = [...asked]
    asked = new Set()
    claiming = undefined
    const now = seconds()
    const granted = await database.claimLeases(names, holder, now, now + leaseSeconds)
    for (const name of granted) endsAt.set(name, now + leaseSeconds)
    return new Set(granted)
  }

  return {
    async hold(name) {
      const now = seconds()
      const before = endsAt.get(name) ?? 0
      if (before - now > (leaseSeconds * 2) / 3) return 'still'
      asked.add(name)
      claiming ??= claimAsked()
      const granted = await claiming
      if (granted.has(name)) return before > now ? 'still' : 'anew'
      endsAt.delete(name)
      return 'no'
    },
    release: () => database.releaseLeases(holder),
  }
}
