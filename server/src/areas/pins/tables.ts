import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    saved_messages: SavedMessageRow
  }
}

/** A message that a user has put aside; nobody else knows. */
export interface SavedMessageRow {
  app_id: string
  uid: string
  message_id: number
  saved_at: number
}

export const migrations: Migrations = {
  '20261115-saved-messages': async ({ schema }) => {
    await schema
      .createTable('saved_messages')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('message_id', 'bigint', (column) => column.notNull())
      .addColumn('saved_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('saved_messages_key', ['app_id', 'uid', 'message_id'])
      .execute()
    await schema
      .createIndex('saved_messages_of_message')
      .on('saved_messages')
      .columns(['app_id', 'message_id'])
      .execute()
  },
}
