import type { Generated, Selectable } from 'kysely'
import type { KeyScope } from '../../kit/operation.ts'
import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    api_keys: ApiKeyTable
  }
}

interface ApiKeyTable {
  app_id: string
  /** Keyed hash of the key; how a request's key is found. */
  fingerprint: string
  /** The key itself, encrypted: the API shows it again, a stolen database does not. */
  sealed: string
  name: string
  scope: KeyScope
  created_by: string
  created_at: number
  updated_at: Generated<number | null>
}

export type ApiKeyRow = Selectable<ApiKeyTable>

export const migrations: Migrations = {
  '20261101-api-keys': async ({ schema }) => {
    await schema
      .createTable('api_keys')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('fingerprint', 'text', (column) => column.notNull())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('scope', 'text', (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint')
      .addPrimaryKeyConstraint('api_keys_key', ['app_id', 'fingerprint'])
      .addUniqueConstraint('api_keys_name', ['app_id', 'name'])
      .execute()
  },
}
