import type { Generated, Selectable } from 'kysely'
import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    apps: AppTable
    accounts: AccountRow
    management_keys: ManagementKeyRow
  }
}

interface AppTable {
  id: string
  account_id: number
  name: string
  region: string
  created_at: number
  /** Set while the app waits for its deletion. */
  archived_at: number | null
  /** What somebody has set, as a JSON object in text; see `settings.ts`. */
  settings: Generated<string | null>
}

export type AppRow = Selectable<AppTable>

export interface AccountRow {
  id: number
  name: string
  /** In lower case. */
  email: string
}

export interface ManagementKeyRow {
  key: string
  account_id: number
  /** The secret is shown once; only its keyed hash is kept. */
  secret_hash: string
  created_at: number
}

export const migrations: Migrations = {
  '20261101-apps': async ({ schema }) => {
    await schema
      .createTable('accounts')
      .addColumn('id', 'bigint', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('email', 'text', (column) => column.notNull().unique())
      .execute()
    await schema
      .createTable('apps')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'bigint', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('region', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('archived_at', 'bigint')
      .execute()
    await schema.createIndex('apps_by_account').on('apps').columns(['account_id', 'created_at']).execute()
    await schema
      .createTable('management_keys')
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'bigint', (column) => column.notNull())
      .addColumn('secret_hash', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
  },
  '20261116-app-settings': async ({ schema }) => {
    await schema.alterTable('apps').addColumn('settings', 'text').execute()
  },
}
