import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    scope_permissions: ScopePermissionRow
  }
}

export interface ScopePermissionRow {
  app_id: string
  guid: string
  scope: string
  permission: string
  /** JSON. */
  value: string
}

export const migrations: Migrations = {
  '20261101-scope-permissions': async ({ schema }) => {
    await schema
      .createTable('scope_permissions')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('guid', 'text', (column) => column.notNull())
      .addColumn('scope', 'text', (column) => column.notNull())
      .addColumn('permission', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('scope_permissions_key', ['app_id', 'guid', 'scope', 'permission'])
      .execute()
  },
  // Lists of messages ask whether any group narrows them.
  '20261122-scope-permissions-by-id': async ({ schema }) => {
    await schema
      .createIndex('scope_permissions_by_id')
      .on('scope_permissions')
      .columns(['app_id', 'permission'])
      .execute()
  },
}
