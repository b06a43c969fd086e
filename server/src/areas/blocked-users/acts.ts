import { eachItem, type ItemOutcome } from '../../common/each.ts'
import { quotaReached } from '../../common/refusals.ts'

import type { Work } from '../../kit/work.ts'
import { refuseUnless } from '../rbac/index.ts'
import { userNotFound } from '../users/errors.ts'
import { holdUsers, toUser, type UserRow } from '../users/index.ts'
import { cannotBlockSelf } from './errors.ts'
import { userBlocked, userUnblocked } from './events.ts'
import { blocksMax } from './schemas.ts'
import { addBlocks, blockedIdsOf, removeBlocks } from './store.ts'

type Outcomes = Record<string, ItemOutcome>

/** Whether users of a role may have it done to them; where nobody acts, all may. */
type Allowed = (role: string) => boolean

/** `uid` blocks each of `others`; tells what became of each, and the log of those who were not blocked before. */
export async function block(
  work: Work,
  uid: string,
  others: string[],
  isAllowed: Allowed = () => true,
): Promise<Outcomes> {
  const wanted = others.map((other) => other.toLowerCase())
  const held = await holdUsers(work.db, [uid, ...wanted])
  const user = requireActive(held, uid)
  const blocked = await blockedIdsOf(work.db, user)
  const blockable: UserRow[] = []
  const outcomes = await eachItem(wanted, (other) => {
    if (other === user.uid) throw cannotBlockSelf()
    const row = requireActive(held, other)
    refuseUnless(isAllowed(row.role))
    if (blocked.size >= blocksMax && !blocked.has(row.id)) throw quotaReached({ limit: `${blocksMax} blocked users` })
    blocked.add(row.id)
    blockable.push(row)
    return `${user.uid} has blocked ${other}.`
  })
  const changed = await addBlocks(work, user, blockable)
  const by = toUser(work, user)
  const told = blockable.filter((each) => changed.has(each.uid))
  await work.emitEach(
    userBlocked,
    told.map((other) => ({ by, user: toUser(work, other), at: work.now })),
  )
  return outcomes
}

/** `uid` blocks none of `others` any more; tells what became of each, and the log of those who were blocked before. */
export async function unblock(
  work: Work,
  uid: string,
  others: string[],
  isAllowed: Allowed = () => true,
): Promise<Outcomes> {
  const wanted = others.map((other) => other.toLowerCase())
  const held = await holdUsers(work.db, [uid, ...wanted])
  const user = requireActive(held, uid)
  const known: UserRow[] = []
  const outcomes = await eachItem(wanted, (other) => {
    const row = held.get(other)
    if (!row) throw userNotFound({ uid: other })
    refuseUnless(isAllowed(row.role))
    known.push(row)
    return `${user.uid} does not block ${other}.`
  })
  const changed = await removeBlocks(work.db, user, known)
  const by = toUser(work, user)
  const told = known.filter((each) => changed.has(each.uid))
  await work.emitEach(
    userUnblocked,
    told.map((other) => ({ by, user: toUser(work, other) })),
  )
  return outcomes
}

function requireActive(held: Map<string, UserRow>, uid: string): UserRow {
  const user = held.get(uid)
  if (user?.deactivated_at !== null) throw userNotFound({ uid })
  return user
}
