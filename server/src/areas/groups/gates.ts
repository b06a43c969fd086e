import type { Actor } from '../../kit/operation.ts'
import { gate } from '../../plain/gate.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import type { GroupAct } from './rules.ts'
import type { MemberScope } from './schemas.ts'

/**
 * What is kept under a group's GUID goes with the group, before the GUID can be used again. Answers whether anything was
 * set there.
 */
export const forgetPermissions = gate(
  'forgetPermissions',
  async (_db: TenantDb, _guid: string): Promise<boolean> => false,
)

/** What was set for an act of a scope, and to whom it may be done; an empty list means all scopes. */
export interface SaidInGroup {
  word: 'allow' | 'deny' | undefined
  scopes: string[]
}

/** What a group has set for an act of its members of a scope. The area of scope permissions brings the answer. */
export const scopeSays = gate(
  'scopeSays',
  async (
    _db: TenantDb,
    _actor: Actor,
    _of: { guid: string; scope: MemberScope },
    _act: GroupAct,
  ): Promise<SaidInGroup> => ({
    word: undefined,
    scopes: [],
  }),
)
