import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    restricted_features: RestrictedFeatureRow
  }
}

export interface RestrictedFeatureRow {
  app_id: string
  /** `roles.id`, so that a later role of the same name begins unrestricted. */
  role_id: string
  feature: string
  created_at: number
}

export const migrations: Migrations = {
  '20261101-restricted-features': async ({ schema }) => {
    await schema
      .createTable('restricted_features')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('role_id', 'text', (column) => column.notNull())
      .addColumn('feature', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('restricted_features_key', ['app_id', 'role_id', 'feature'])
      .execute()
  },
}
