import type { Generated, Selectable } from 'kysely'
import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    roles: RoleTable
  }
}

interface RoleTable {
  app_id: string
  role: string
  /** Never used twice, unlike `role`: what refers to it cannot pass to a later role of the same name. */
  id: string
  name: string
  description: Generated<string | null>
  metadata: Generated<string | null>
  settings: Generated<string | null>
  created_at: number
  updated_at: Generated<number | null>
}

export type RoleRow = Selectable<RoleTable>

export const migrations: Migrations = {
  '20261101-roles': async ({ schema }) => {
    await schema
      .createTable('roles')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('description', 'text')
      .addColumn('metadata', 'text')
      .addColumn('settings', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint')
      .addPrimaryKeyConstraint('roles_key', ['app_id', 'role'])
      .execute()
  },
}
