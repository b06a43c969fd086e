import { area } from '../../kit/area.ts'
import { rolePermissionsChanged } from './events.ts'
import { forgetDeletedRoles } from './followers.ts'
import { operations } from './operations.ts'
import { migrations } from './tables.ts'

export * as commonPermissions from './common.ts'
export * as contentRules from './content.ts'
export { scopesAreRuled } from './gates.ts'
export * as permissionKit from './permissions.ts'
export { authorise, entriesOfUser, policyOf, refuseUnless } from './policy.ts'
export * as roleRules from './rules.ts'

export const rbac = area({
  name: 'rbac',
  about: 'What users of a role may do, across the app.',
  operations,
  events: [rolePermissionsChanged],
  migrations,
  tables: ['role_permissions'],
  followers: [forgetDeletedRoles],
})
