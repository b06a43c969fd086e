import { area } from '../../kit/area.ts'
import { roleCreated, roleDeleted, roleUpdated } from './events.ts'
import { operations } from './operations.ts'
import { migrations } from './tables.ts'

export { addDefaultRole, addRole, requireRole, roleIds, rolesOf } from './store.ts'
export type { RoleRow } from './tables.ts'

export const roles = area({
  name: 'roles',
  about: 'Labels on users that carry what they may do. Every user has exactly one.',
  operations,
  events: [roleCreated, roleUpdated, roleDeleted],
  migrations,
  tables: ['roles'],
})
