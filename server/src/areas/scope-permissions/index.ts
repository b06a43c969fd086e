import { area } from '../../kit/area.ts'
import { forgetPermissions, scopeSays } from '../groups/index.ts'
import { scopesAreRuled } from '../rbac/index.ts'
import { scopePermissionsChanged } from './events.ts'
import { operations } from './operations.ts'
import { anyRuled, forgetGroup, saidFor } from './store.ts'
import { migrations } from './tables.ts'

export type { MemberScope } from './catalogue.ts'
export * as scopeRules from './rules.ts'
export { notHiddenByScope } from './shown.ts'
export { isRuled, type Membership, ruledGroupsOf, scopeValuesFor } from './store.ts'

export const scopePermissions = area({
  name: 'scope-permissions',
  about: 'What members of a scope (admin, moderator, participant) may do in their group.',
  operations,
  events: [scopePermissionsChanged],
  migrations,
  tables: ['scope_permissions'],
  answers: [
    forgetPermissions.answeredBy(forgetGroup),
    scopesAreRuled.answeredBy(anyRuled),
    scopeSays.answeredBy(saidFor),
  ],
})
