import { sql } from 'kysely'
import { oneAtATime } from '../../storage/sql.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { roleNotFound } from '../roles/errors.ts'
import { type RoleRow, roleIds } from '../roles/index.ts'
import { type RoleValues, rolePermissions } from './catalogue.ts'
import { acceptedValue, noRole, type PermissionValue, permissionOf, valuesInForce } from './permissions.ts'

/** Calls that change the same rows in different order would wait for each other for ever. */
const lockName = 'role-permissions'

/** A permission as it is stored. */
export interface Given {
  permission: string
  value: string
}

/** The values in force for a role. */
export async function roleValues(db: TenantDb, { id }: RoleRow): Promise<RoleValues> {
  const given = await db
    .select('role_permissions')
    .select(['role_permissions.permission', 'role_permissions.value'])
    .where('role_permissions.role_id', '=', id)
    .execute()
  return readValues(db, given)
}

/** What stored permissions amount to. */
export async function readValues(db: TenantDb, given: Given[]): Promise<RoleValues> {
  // Most roles have no list of roles, and need no look at what the roles are called.
  const named = given.some(({ permission }) => isRoleList(permission)) ? await roleNamesById(db) : new Map()
  const values = given.map(({ permission, value }): [string, PermissionValue] => {
    const read = JSON.parse(value)
    return [permission, isRoleList(permission) ? namesOf(read, named) : read]
  })
  return valuesInForce(rolePermissions, new Map(values))
}

function isRoleList(permission: string): boolean {
  return permissionOf(rolePermissions, permission)?.kind.dataType === 'rolesStringArray'
}

async function roleNamesById(db: TenantDb): Promise<Map<string, string>> {
  return new Map((await roleIds(db)).map(({ id, role }) => [id, role]))
}

function namesOf(ids: string[], named: Map<string, string>): string[] {
  const names = ids.map((id) => named.get(id)).filter((name) => name !== undefined)
  return ids.length > 0 && names.length === 0 ? [noRole] : names
}

/** Checks a value for a role; a list of roles comes back with their ids, as it is stored. */
export async function roleValueReader(db: TenantDb): Promise<(id: string, sent: unknown) => PermissionValue> {
  const idOf = new Map((await roleIds(db)).map(({ id, role }) => [role, id]))
  idOf.set(noRole, noRole)
  return (permission, sent) => {
    const value = acceptedValue(rolePermissions, permission, sent)
    if (!isRoleList(permission) || !Array.isArray(value)) return value
    return value.map((role) => {
      const id = idOf.get(role.toLowerCase())
      if (id === undefined) throw roleNotFound({ role })
      return id
    })
  }
}

export async function setRoleValues(db: TenantDb, role: RoleRow, values: Map<string, PermissionValue>): Promise<void> {
  await oneAtATime(db, lockName)
  await db
    .insert(
      'role_permissions',
      [...values].map(([permission, value]) => ({ role_id: role.id, permission, value: JSON.stringify(value) })),
    )
    .onConflict((conflict) =>
      conflict.columns(['app_id', 'role_id', 'permission']).doUpdateSet({ value: sql`excluded.value` }),
    )
    .execute()
}

/** Back to the default; answers whether it was set. */
export async function unsetRoleValue(db: TenantDb, role: RoleRow, permission: string): Promise<boolean> {
  await oneAtATime(db, lockName)
  const row = await db
    .delete('role_permissions')
    .where('role_id', '=', role.id)
    .where('permission', '=', permission)
    .returning('permission')
    .executeTakeFirst()
  return row !== undefined
}

/** All that was set for a role that is no more. */
export async function forgetRole(db: TenantDb, roleId: string): Promise<void> {
  await db.delete('role_permissions').where('role_id', '=', roleId).execute()
}
