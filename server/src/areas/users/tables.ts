import type { Generated, Selectable } from 'kysely'
import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    users: UserTable
  }
}

interface UserTable {
  app_id: string
  uid: string
  name: string
  role: Generated<string>
  created_at: number
  deactivated_at: Generated<number | null>
}

export type UserRow = Selectable<UserTable>

export const migrations: Migrations = {
  '20261101-users': async ({ schema }) => {
    await schema
      .createTable('users')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('role', 'text', (column) => column.notNull().defaultTo('default'))
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('deactivated_at', 'bigint')
      .addPrimaryKeyConstraint('users_key', ['app_id', 'uid'])
      .execute()
  },
}
