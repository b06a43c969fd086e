import type { Actor } from '../../kit/operation.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { type GroupRow, groupRules, placeIn } from '../groups/index.ts'
import { type MemberScope, memberScopes } from '../groups/schemas.ts'
import { authorise, policyOf, refuseUnless, roleRules } from '../rbac/index.ts'
import { scopeRules, scopeValuesFor } from '../scope-permissions/index.ts'

/** What roles and scopes have to say about who comes, who goes and who is seen, whichever path leads there. */

/** Refuses whose role may not enter such a group by themselves. */
export async function authoriseJoining(db: TenantDb, actor: Actor, { type }: GroupRow): Promise<void> {
  await authorise(db, actor, 'joinGroup')
  refuseUnless(roleRules.mayJoinGroup(await policyOf(db, actor), type))
}

/** Refuses whose scope may not leave by themselves. */
export async function authoriseLeaving(
  db: TenantDb,
  actor: Actor,
  { guid }: GroupRow,
  scope: MemberScope,
): Promise<void> {
  refuseUnless(scopeRules.scopeMay(await scopeValuesFor(db, actor, { guid, scope }), 'leaveGroup'))
}

/** The scopes whose members a user may see, in the list or one by one; refuses whoever may not see any. */
export async function scopesShownTo(db: TenantDb, group: GroupRow, actor: Actor): Promise<MemberScope[]> {
  const { standing, member } = await placeIn(db, group, actor.uid)
  groupRules.requireMayRead(standing, group.type, group.guid)
  if (!member) return [...memberScopes]
  const values = await scopeValuesFor(db, actor, { guid: group.guid, scope: member.scope })
  refuseUnless(scopeRules.scopeMay(values, 'listMembers'))
  return memberScopes.filter((scope) => scopeRules.isMemberListed(values, scope))
}
