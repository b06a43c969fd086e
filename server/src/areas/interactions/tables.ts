import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    interactions: InteractionRow
  }
}

/** A user has used an element of an interactive message. */
export interface InteractionRow {
  app_id: string
  message_id: number
  uid: string
  element_id: string
  interacted_at: number
}

export const migrations: Migrations = {
  '20261115-interactions': async ({ schema }) => {
    await schema
      .createTable('interactions')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('message_id', 'bigint', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('element_id', 'text', (column) => column.notNull())
      .addColumn('interacted_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('interactions_key', ['app_id', 'message_id', 'uid', 'element_id'])
      .execute()
    await schema.createIndex('interactions_of_user').on('interactions').columns(['app_id', 'uid']).execute()
  },
}
