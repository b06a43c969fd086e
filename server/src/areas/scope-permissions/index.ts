import { area } from '../../kit/area.ts'
import { forgetPermissions } from '../groups/index.ts'
import { scopePermissionsChanged } from './events.ts'
import { operations } from './operations.ts'
import { forgetGroup } from './store.ts'
import { migrations } from './tables.ts'

export type { MemberScope } from './catalogue.ts'
export * as scopeRules from './rules.ts'
export { scopeValues } from './store.ts'

forgetPermissions.attach(forgetGroup)

export const scopePermissions = area({
  name: 'scope-permissions',
  about: 'What members of a scope (admin, moderator, participant) may do in their group.',
  operations,
  events: [scopePermissionsChanged],
  migrations,
  tables: ['scope_permissions'],
})
