import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    groups: GroupRow
  }
}

export interface GroupRow {
  app_id: string
  guid: string
  name: string
  created_at: number
}

export const migrations: Migrations = {
  '20261101-groups': async ({ schema }) => {
    await schema
      .createTable('groups')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('guid', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('groups_key', ['app_id', 'guid'])
      .execute()
  },
}
