import type { Actor } from '../../kit/operation.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { permissionDenied } from '../rbac/errors.ts'
import { permissionKit, refuseUnless } from '../rbac/index.ts'
import { scopeSays } from './gates.ts'
import { type Acting, actingWith, type GroupAct, type Standing } from './rules.ts'
import type { MemberScope } from './schemas.ts'
import type { GroupRow } from './tables.ts'

/** How far somebody reaches with an act in a group: as what they act, and on whom; an empty list means all scopes. */
export interface Reach {
  acting: Acting
  scopes: readonly string[]
}

/** Refuses whose scope the group denies the act; everyone else goes by the clearance of what the answer says they act as. */
export async function reachOf(
  db: TenantDb,
  actor: Actor | undefined,
  { guid }: Pick<GroupRow, 'guid'>,
  acting: Acting,
  act: GroupAct,
): Promise<Reach> {
  if (!actor || acting === 'server' || acting === 'outsider' || acting === 'banned') return { acting, scopes: [] }
  const { word, scopes } = await scopeSays.ask(db, actor, { guid, scope: scopeOfStanding(acting) }, act)
  const raised = actingWith(acting, act, word)
  if (raised === 'denied') throw permissionDenied()
  return { acting: raised, scopes }
}

/** Permissions know three scopes: an owner is an admin, and who is not in the group counts as a participant. */
export function scopeOfStanding(standing: Standing): MemberScope {
  if (standing === 'owner') return 'admin'
  return standing === 'outsider' || standing === 'banned' ? 'participant' : standing
}

/** Refuses an act on somebody of a scope, or with one, that it does not reach. */
export function requireReach({ scopes }: Reach, scope: MemberScope): void {
  refuseUnless(permissionKit.isIn(scopes, scope))
}
