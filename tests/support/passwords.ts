import { type Cost, scryptPasswords } from '../../server/src/adapters/passwords/scrypt.ts'
import type { Passwords } from '../../server/src/kit/ports.ts'

/** A hundredth of what a server spends: what a hash costs is of no matter to a test, unless it says so. */
export const cheap: Cost = { N: 2 ** 10, r: 8, p: 1 }

/** The real hashing at that cost. */
export const cheapPasswords = () => scryptPasswords(cheap)

type Act = keyof Passwords

/** The real hashing behind a gate, which counts who comes and can keep them waiting. */
export interface GatedPasswords extends Passwords {
  /** How often something was hashed or compared. */
  count(): number
  /** Whoever comes for this waits from now on. */
  close(act: Act): void
  /** Resolves once so many wait. */
  waiting(n?: number): Promise<void>
  open(): void
}

export function gatedPasswords(): GatedPasswords {
  const real = cheapPasswords()
  const closed = new Set<Act>()
  const held: (() => void)[] = []
  const watchers: { n: number; tell: () => void }[] = []
  let count = 0

  async function pass(act: Act): Promise<void> {
    count += 1
    if (!closed.has(act)) return
    await new Promise<void>((go) => {
      held.push(go)
      for (const { n, tell } of watchers) if (held.length >= n) tell()
    })
  }

  return {
    async hash(password) {
      await pass('hash')
      return real.hash(password)
    },
    async compare(password, hash) {
      await pass('compare')
      return real.compare(password, hash)
    },
    count: () => count,
    close: (act) => void closed.add(act),
    waiting: (n = 1) => new Promise((tell) => (held.length >= n ? tell() : watchers.push({ n, tell }))),
    open() {
      closed.clear()
      for (const go of held.splice(0)) go()
    },
  }
}
