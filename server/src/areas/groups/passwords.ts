import { availableParallelism } from 'node:os'
import { tooManyRequests } from '../../kit/errors.ts'
import type { Limits } from '../../kit/limits.ts'
import type { Caller } from '../../kit/operation.ts'
import { createTurns } from '../../kit/turns.ts'
import type { Work } from '../../kit/work.ts'

/**
 * Passwords of groups are hashed before the transaction that needs them: on SQLite all writers share one. Each hash takes
 * a core that requests need, and one of the threads that files are read on, so there are few at a time, and apps take
 * turns.
 */
const turns = createTurns({
  atOnce: Math.max(1, Math.min(2, availableParallelism() - 1)),
  ofUserMax: 20,
  ofAppMax: 20,
  inAllMax: 200,
})
const retryAfterSeconds = 5

async function inTurn<T>(appId: string, work: () => Promise<T>): Promise<T> {
  const place = turns.lineUp({ appId, uid: undefined })
  if (!place) throw tooManyRequests({ retryAfter: retryAfterSeconds })
  try {
    await place.itsTurn
    return await work()
  } finally {
    place.leave()
  }
}

type Hashing = Pick<Work, 'db' | 'tools'>

export function hashPassword({ db, tools }: Hashing, password: string): Promise<string> {
  return inTurn(db.appId, () => tools.passwords.hash(password))
}

/** A password that is a group's. */
export interface Match {
  /** The hash it was compared with; whether that is still the group's must be seen once the group is held. */
  hash: string
  /** The same password as it is hashed today, where the group's hash is from before. */
  renewed?: string
}

/** Compares a password with a group's hash; nothing, if it is another. */
export function matchPassword({ db, tools }: Hashing, password: string, hash: string): Promise<Match | undefined> {
  return inTurn(db.appId, async () => {
    const { fits, isDated } = await tools.passwords.compare(password, hash)
    if (!fits) return undefined
    return isDated ? { hash, renewed: await tools.passwords.hash(password) } : { hash }
  })
}

/** Counts a hash that a client asks for; a server has every right to make groups. */
export async function countPassword({
  db,
  caller,
  limits,
}: Pick<Work, 'db'> & { caller: Caller; limits: Limits }): Promise<void> {
  if (caller.kind === 'client') await limits.count('password', [db.appId, caller.uid])
}
