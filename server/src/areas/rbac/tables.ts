import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    role_permissions: RolePermissionRow
  }
}

export interface RolePermissionRow {
  app_id: string
  /** `roles.id`, so that a later role of the same name begins with the defaults. */
  role_id: string
  permission: string
  /** JSON. Roles in a list stand there by their `roles.id`: a deleted one matches nobody, whatever is created later. */
  value: string
}

export const migrations: Migrations = {
  '20261101-role-permissions': async ({ schema }) => {
    await schema
      .createTable('role_permissions')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('role_id', 'text', (column) => column.notNull())
      .addColumn('permission', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('role_permissions_key', ['app_id', 'role_id', 'permission'])
      .execute()
  },
}
