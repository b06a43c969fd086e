import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    blocks: BlockRow
  }
}

/** `uid` has blocked `blocked_uid`. The ids name these users and no later ones of the same UIDs. */
export interface BlockRow {
  app_id: string
  user_id: string
  uid: string
  blocked_id: string
  blocked_uid: string
  created_at: number
}

export const migrations: Migrations = {
  '20261101-blocks': async ({ schema }) => {
    await schema
      .createTable('blocks')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('blocked_id', 'text', (column) => column.notNull())
      .addColumn('blocked_uid', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('blocks_key', ['app_id', 'user_id', 'blocked_id'])
      .execute()
    await schema.createIndex('blocks_of_blocked').on('blocks').columns(['app_id', 'blocked_id', 'user_id']).execute()
  },
}
