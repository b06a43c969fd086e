import { type SqlBool, sql } from 'kysely'
import type { Shows } from '../../kit/channel.ts'
import type { Actor } from '../../kit/operation.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { policyOf, roleRules } from '../rbac/index.ts'
import { uidsOfFriends } from './gates.ts'
import { systemUid } from './store.ts'
import { type UserWithin, usersWithin, withUsersVeiled } from './users-within.ts'

/**
 * What is told live, as somebody may see it whose role may not get every user: as over REST (see sight.ts), of the others it
 * tells no more than a UID. Decided from what was read beforehand, and by the role that a user had when it happened.
 */
export async function veilBefore(db: TenantDb, uid: string, actor: Actor | undefined): Promise<Shows | undefined> {
  const sees = await sightBeforehand(db, uid, actor)
  if (!sees) return undefined
  const hidden = (frame: object) => [...new Set(usersIn(frame).flatMap((user) => (sees(user) ? [] : [user.uid])))]
  return { veil: { hidden, without } }
}

/** Nothing for everyone. */
async function sightBeforehand(
  db: TenantDb,
  uid: string,
  actor: Actor | undefined,
): Promise<((user: UserWithin) => boolean) | undefined> {
  const seen = actor ? roleRules.seenUsers(await policyOf(db, actor)) : 'nobody'
  if (seen === 'everyone') return undefined
  const friends = seen !== 'nobody' && seen.friendsOnly ? await friendsOf(db, uid) : undefined
  const seesOther = ({ uid: other, role = '' }: UserWithin) =>
    seen !== 'nobody' && (friends?.has(other) ?? true) && (seen.roles.length === 0 || seen.roles.includes(role))
  return (user) => user.uid === uid || user.uid === systemUid || seesOther(user)
}

/** The friends of a user, whose role may be kept to them. */
export async function friendsOf(db: TenantDb, uid: string): Promise<Set<string>> {
  const rows = await db
    .select('users')
    .select('users.uid')
    .where(sql<SqlBool>`users.uid IN ${uidsOfFriends.ask(db, uid)}`)
    .execute()
  return new Set(rows.map((row) => row.uid))
}

const known = new WeakMap<object, UserWithin[]>()

/** All users of whom a frame tells; looked for once, however many it goes to. */
function usersIn(frame: object): UserWithin[] {
  const users = known.get(frame) ?? usersWithin(frame)
  known.set(frame, users)
  return users
}

function without(frame: object, uids: string[]): object {
  const hidden = new Set(uids)
  return withUsersVeiled(frame, (uid) => hidden.has(uid))
}
