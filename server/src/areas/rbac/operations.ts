import { pageOf, paginationOf, sliceOf } from '../../common/page.ts'
import { operation } from '../../kit/operation.ts'
import { roleNotFound } from '../roles/errors.ts'
import { requireRole } from '../roles/index.ts'
import { rolePermissions } from './catalogue.ts'
import { rolePermissionsChanged } from './events.ts'
import { acceptedValues, requirePermission, toRecords } from './permissions.ts'
import {
  PermissionListQuery,
  PermissionRecord,
  PermissionsSet,
  PermissionsSetReply,
  PermissionValuesReply,
} from './schemas.ts'
import { roleValueReader, roleValues, setRoleValues, unsetRoleValue } from './store.ts'

const listRolePermissions = operation({
  id: 'listRolePermissions',
  route: 'GET /roles/{role}/permissions',
  summary: "List a role's permissions",
  description: 'Always the whole catalogue, with the value that holds for the role.',
  query: PermissionListQuery,
  reply: pageOf(PermissionRecord),
  errors: [roleNotFound],
  find: ({ db, params }) => requireRole(db, params.role),
  async run({ db, found, query }) {
    const all = toRecords(rolePermissions, 'role', await roleValues(db, found))
    const slice = sliceOf(query)
    const data = all.slice(slice.offset, slice.offset + slice.limit)
    return { data, meta: { pagination: paginationOf(all.length, data.length, slice) } }
  },
})

const setRolePermissions = operation({
  id: 'setRolePermissions',
  route: 'PUT /roles/{role}/permissions',
  summary: "Set a role's permissions",
  description: 'Only what is sent changes. They act at once, and only where a user is acting.',
  body: PermissionsSet,
  reply: PermissionsSetReply,
  errors: [roleNotFound],
  find: ({ db, params }) => requireRole(db, params.role),
  async run({ db, found, body, emit }) {
    const accept = await roleValueReader(db)
    const { outcomes, accepted } = await acceptedValues(body.permissions, `the role ${found.role}`, accept)
    await setRoleValues(db, found, accepted)
    const permissions = await roleValues(db, found)
    await emit(rolePermissionsChanged, { role: found.role, permissions })
    return { data: { ...outcomes, permissions } }
  },
})

const unsetRolePermission = operation({
  id: 'unsetRolePermission',
  route: 'DELETE /roles/{role}/permissions/{permission}',
  summary: "Return one of a role's permissions to its default",
  reply: PermissionValuesReply,
  errors: [roleNotFound],
  find: ({ db, params }) => requireRole(db, params.role),
  async run({ db, found, params, emit }) {
    requirePermission(rolePermissions, params.permission)
    const wasSet = await unsetRoleValue(db, found, params.permission)
    const permissions = await roleValues(db, found)
    if (wasSet) await emit(rolePermissionsChanged, { role: found.role, permissions })
    return { data: { permissions } }
  },
})

export const operations = [listRolePermissions, setRolePermissions, unsetRolePermission]
