import { type SqlBool, sql } from 'kysely'
import { area } from '../../kit/area.ts'
import { forgetPermissions, scopeSays } from '../groups/index.ts'
import { scopesAreRuled } from '../rbac/index.ts'
import { scopePermissionsChanged } from './events.ts'
import { operations } from './operations.ts'
import { forgetGroup, givenToActor } from './store.ts'
import { migrations } from './tables.ts'

export type { MemberScope } from './catalogue.ts'
export * as scopeRules from './rules.ts'
export { notHiddenByScope } from './shown.ts'
export { type Membership, ruledGroupsOf, scopeValuesFor } from './store.ts'

forgetPermissions.attach(forgetGroup)

scopesAreRuled.attach(
  (db) => sql<SqlBool>`EXISTS (SELECT 1 FROM scope_permissions WHERE scope_permissions.app_id = ${db.appId})`,
)

scopeSays.attach(async (db, actor, circle, act) => {
  const given = await givenToActor(db, actor, circle)
  return {
    word: given.get(act) as 'allow' | 'deny' | undefined,
    scopes: (given.get(`${act}.allowedScopes`) ?? []) as string[],
  }
})

export const scopePermissions = area({
  name: 'scope-permissions',
  about: 'What members of a scope (admin, moderator, participant) may do in their group.',
  operations,
  events: [scopePermissionsChanged],
  migrations,
  tables: ['scope_permissions'],
})
