import { scryptPasswords } from '../../server/src/adapters/passwords/scrypt.ts'
import type { Passwords } from '../../server/src/kit/ports.ts'

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
  const real = scryptPasswords()
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
