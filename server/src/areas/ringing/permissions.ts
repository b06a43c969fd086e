import type { Actor } from '../../kit/operation.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { blocksOf, refusalTo } from '../blocked-users/index.ts'
import type { GroupRow } from '../groups/index.ts'
import { requireScope } from '../messages/index.ts'
import { authorise, policyOf, refuseUnless, roleRules } from '../rbac/index.ts'
import { scopeRules, scopeValuesFor } from '../scope-permissions/index.ts'
import { isAmong, type UserRow, uidsOfFriends } from '../users/index.ts'

/** Who may call whom, and who may come in. */

type ScopeValues = Awaited<ReturnType<typeof scopeValuesFor>>

/** Refuses a call to a user that the caller's role, or a block, forbids. */
export async function refuseCallTo(db: TenantDb, actor: Actor & { id: string }, user: UserRow): Promise<void> {
  const policy = await policyOf(db, actor)
  const friend = await isAmong(db, user.uid, uidsOfFriends.ask(db, actor.uid))
  refuseUnless(roleRules.mayCall(policy, { role: user.role, friend }))
  const refusal = refusalTo(user.uid, await blocksOf(db, actor, user))
  if (refusal) throw refusal
}

/** Refuses a call to a group that the caller's role or scope forbids; answers what their scope allows. */
export async function refuseCallToGroup(
  db: TenantDb,
  actor: Actor,
  group: GroupRow,
  type: string,
): Promise<ScopeValues> {
  refuseUnless(roleRules.mayCall(await policyOf(db, actor), 'group'))
  const values = await valuesIn(db, actor, group)
  refuseUnless(scopeRules.mayCallGroup(values, type))
  return values
}

/** Joining asks the role where two talk, and the scope in a group. */
export async function refuseJoining(db: TenantDb, actor: Actor, group: GroupRow | undefined): Promise<void> {
  if (!group) return authorise(db, actor, 'joinCall')
  refuseUnless(scopeRules.scopeMay(await valuesIn(db, actor, group), 'joinCall'))
}

async function valuesIn(db: TenantDb, actor: Actor, group: GroupRow): Promise<ScopeValues> {
  const scope = await requireScope(db, group, actor.uid)
  return scopeValuesFor(db, actor, { guid: group.guid, scope })
}
