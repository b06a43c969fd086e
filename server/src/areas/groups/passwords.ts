import { availableParallelism } from 'node:os'
import { tooManyRequests } from '../../kit/errors.ts'
import type { Limits } from '../../kit/limits.ts'
import type { Caller } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import { createTurns } from '../../plain/turns.ts'
import { passwordRate } from './rates.ts'

/**
 * Passwords of groups are hashed before the transaction that needs them: on SQLite all writers share one. Each hash takes
 * a core that requests need, and one of the threads that files are read on, so there are few at a time. Apps take turns,
 * and so do the users of an app, none of whom can fill its line.
 */
const turns = createTurns({
  atOnce: Math.max(1, Math.min(2, availableParallelism() - 1)),
  ofUserMax: 3,
  ofAppMax: 20,
  inAllMax: 200,
})
const retryAfterSeconds = 5

type Hashing = Pick<Work, 'db' | 'tools'> & { caller: Caller }

async function inTurn<T>({ db, caller }: Hashing, work: () => Promise<T>): Promise<T> {
  const place = turns.lineUp({ appId: db.appId, uid: caller.kind === 'client' ? caller.uid : undefined })
  if (!place) throw tooManyRequests({ retryAfter: retryAfterSeconds })
  try {
    await place.itsTurn
    return await work()
  } finally {
    place.leave()
  }
}

export function hashPassword(call: Hashing, password: string): Promise<string> {
  return inTurn(call, () => call.tools.passwords.hash(password))
}

/** A password that is a group's. */
export interface Match {
  /** The hash it was compared with; whether that is still the group's must be seen once the group is held. */
  hash: string
  /** The same password as it is hashed today, where the group's hash is from before. */
  renewed?: string
}

/** Compares a password with a group's hash; nothing, if it is another. */
export function matchPassword(call: Hashing, password: string, hash: string): Promise<Match | undefined> {
  const { passwords } = call.tools
  return inTurn(call, async () => {
    const { fits, isDated } = await passwords.compare(password, hash)
    if (!fits) return undefined
    return isDated ? { hash, renewed: await passwords.hash(password) } : { hash }
  })
}

/** Counts a hash that a client asks for; a server has every right to make groups. */
export async function countPassword({
  db,
  caller,
  limits,
}: Pick<Work, 'db'> & { caller: Caller; limits: Limits }): Promise<void> {
  if (caller.kind === 'client') await limits.count(passwordRate, [db.appId, caller.uid])
}
