import { type Generated, type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import type { Migrations } from '../../storage/migrate.ts'
import type { Tables } from '../../storage/tables.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    users: UserTable
    user_tags: UserTagRow
  }
}

interface UserTable {
  app_id: string
  uid: string
  /** Names this user and no later one of the same UID. */
  id: string
  name: string
  avatar: Generated<string | null>
  link: Generated<string | null>
  role: Generated<string>
  /** The row of the role, unless it is `default`: a role deleted and made again is another one. */
  role_id: Generated<string | null>
  status_message: Generated<string | null>
  /** A JSON object as text. */
  metadata: Generated<string | null>
  /** A JSON array as text, for reading; `user_tags` is for finding. */
  tags: Generated<string | null>
  /** Written down now and then; see online.ts. */
  last_active_at: Generated<number | null>
  created_at: number
  updated_at: Generated<number | null>
  deactivated_at: Generated<number | null>
  /** The values that list filters compare, in one column; see `facetsOfUser`. */
  facets: string
}

export type UserRow = Selectable<UserTable>
export type NewUserRow = Omit<Insertable<UserTable>, 'app_id'>

/** Finds users by tag. */
export interface UserTagRow {
  app_id: string
  tag: string
  uid: string
}

export const migrations: Migrations = {
  '20261101-users': async ({ schema }) => {
    await schema
      .createTable('users')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('avatar', 'text')
      .addColumn('link', 'text')
      .addColumn('role', 'text', (column) => column.notNull().defaultTo('default'))
      .addColumn('role_id', 'text')
      .addColumn('status', 'text', (column) => column.notNull().defaultTo('offline'))
      .addColumn('status_message', 'text')
      .addColumn('metadata', 'text')
      .addColumn('tags', 'text')
      .addColumn('last_active_at', 'bigint')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint')
      .addColumn('deactivated_at', 'bigint')
      .addColumn('facets', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('users_key', ['app_id', 'uid'])
      .execute()
    // Lists are walked by time; a filter that wants few users goes by facets first.
    await schema
      .createIndex('users_by_time')
      .on('users')
      .columns(['app_id', 'created_at desc', 'uid', 'facets'])
      .execute()
    await schema
      .createIndex('users_by_facets')
      .on('users')
      .columns(['app_id', 'facets', 'created_at desc', 'uid'])
      .execute()
    await schema
      .createTable('user_tags')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('tag', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('user_tags_key', ['app_id', 'tag', 'uid'])
      .execute()
    await schema.createIndex('user_tags_of_user').on('user_tags').columns(['app_id', 'uid']).execute()
  },
  // Lists tell of the newest change among users, however many there are.
  '20261122-users-by-change': async ({ schema }) => {
    await schema
      .createIndex('users_by_change')
      .on('users')
      .column('app_id')
      .expression(sql`coalesce(updated_at, created_at)`)
      .execute()
  },
  // Who is connected is not told by rows any more, nor counted with the other facets.
  '20261124-users-without-status': async (database) => {
    for (const { id } of await database.selectFrom('apps').select('id').execute()) await dropStatus(database, id)
    await database.schema.alterTable('users').dropColumn('status').execute()
  },
}

async function dropStatus(database: Kysely<Tables>, appId: string): Promise<void> {
  await sql`UPDATE users SET facets = role || '|' || CASE WHEN deactivated_at IS NULL THEN '0' ELSE '1' END
    WHERE app_id = ${appId}`.execute(database)
  const facets = sql`replace(replace(facets, '|available|', '|'), '|offline|', '|')`
  const ofUsers = sql`app_id = ${appId} AND list = 'users' AND facets LIKE '%|%|%'`
  await sql`INSERT INTO tallies (app_id, list, level, bucket, facets, n)
    SELECT app_id, list, level, bucket, ${facets}, sum(n) FROM tallies WHERE ${ofUsers}
    GROUP BY app_id, list, level, bucket, ${facets}`.execute(database)
  await sql`DELETE FROM tallies WHERE ${ofUsers}`.execute(database)
}
