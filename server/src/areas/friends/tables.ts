import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    friends: FriendRow
  }
}

/**
 * One direction of a friendship; there are always both. They go by the ids that name a user and no later one of the same
 * UID, so whoever gets a free UID does not get its friends.
 */
export interface FriendRow {
  app_id: string
  user_id: string
  friend_id: string
  friend_uid: string
  created_at: number
}

export const migrations: Migrations = {
  '20261101-friends': async ({ schema }) => {
    await schema
      .createTable('friends')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('friend_id', 'text', (column) => column.notNull())
      .addColumn('friend_uid', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('friends_key', ['app_id', 'user_id', 'friend_id'])
      .execute()
  },
}
