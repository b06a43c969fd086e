import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    thread_subscriptions: ThreadSubscriptionRow
  }
}

/** Whether a user follows a thread. Without a row, people follow the threads of their own messages and no others. */
export interface ThreadSubscriptionRow {
  app_id: string
  uid: string
  parent_id: number
  follows: number
}

export const migrations: Migrations = {
  '20261115-threads': async ({ schema }) => {
    await schema
      .createTable('thread_subscriptions')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('parent_id', 'bigint', (column) => column.notNull())
      .addColumn('follows', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('thread_subscriptions_key', ['app_id', 'uid', 'parent_id'])
      .execute()
    await schema
      .createIndex('thread_subscriptions_of_parent')
      .on('thread_subscriptions')
      .columns(['app_id', 'parent_id'])
      .execute()
  },
}
