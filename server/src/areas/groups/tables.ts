import { type Generated, type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import type { Migrations } from '../../storage/migrate.ts'
import { folded } from '../../storage/search-text.ts'
import type { Tables } from '../../storage/tables.ts'
import { type Tally, talliesAt } from '../../storage/tally.ts'
import type { GroupType, MemberScope } from './schemas.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    groups: GroupTable
    group_tags: GroupTagRow
    group_members: GroupMemberRow
    group_bans: GroupBanRow
  }
}

interface GroupTable {
  app_id: string
  guid: string
  /** Names this group and no later one of the same GUID: what belonged to a deleted one never shows in its successor. */
  id: string
  name: string
  /** What lists sort by: letters as people compare them. */
  sort_name: string
  type: Generated<GroupType>
  /** A salted hash; see passwords.ts. */
  password: Generated<string | null>
  description: Generated<string | null>
  icon: Generated<string | null>
  /** A JSON object as text. */
  metadata: Generated<string | null>
  /** A JSON array as text, for reading; `group_tags` is for finding. */
  tags: Generated<string | null>
  owner: Generated<string>
  /** The user behind `owner`; none while that is the system. */
  owner_id: Generated<string | null>
  members_count: Generated<number>
  created_at: number
  updated_at: Generated<number | null>
  updated_by: Generated<string | null>
  /** The last change, or else the creation. */
  changed_at: number
}

export type GroupRow = Selectable<GroupTable>
export type NewGroupRow = Omit<Insertable<GroupTable>, 'app_id'>

/** Finds groups by tag. */
export interface GroupTagRow {
  app_id: string
  tag: string
  guid: string
}

/** Somebody belongs to a group. Both go by the ids that no later one of the same name gets. */
export interface GroupMemberRow {
  app_id: string
  group_id: string
  user_id: string
  uid: string
  scope: MemberScope
  joined_at: number
}

/** Somebody is shut out of a group; what they were in it before is kept for the list. */
export interface GroupBanRow {
  app_id: string
  group_id: string
  user_id: string
  uid: string
  scope: MemberScope | null
  joined_at: number | null
  banned_at: number
}

/** The name of the list, for tallies and search. */
export const groupsList = 'groups'

export const migrations: Migrations = {
  '20261101-groups': async ({ schema }) => {
    await schema
      .createTable('groups')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('guid', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('groups_key', ['app_id', 'guid'])
      .execute()
  },
  '20261115-groups': async (database) => {
    await addGroupColumns(database)
    await takeUpEarlierGroups(database)
    await addGroupIndexes(database)
    await addMemberTables(database)
  },
}

async function addGroupColumns({ schema }: Kysely<Tables>): Promise<void> {
  const texts = ['password', 'description', 'icon', 'metadata', 'tags', 'owner_id', 'updated_by']
  for (const name of texts) await schema.alterTable('groups').addColumn(name, 'text').execute()
  const filled = { id: '', sort_name: '', type: 'public', owner: 'app_system' }
  for (const [name, value] of Object.entries(filled)) {
    await schema
      .alterTable('groups')
      .addColumn(name, 'text', (column) => column.notNull().defaultTo(value))
      .execute()
  }
  for (const name of ['members_count', 'changed_at']) {
    await schema
      .alterTable('groups')
      .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
  }
  await schema.alterTable('groups').addColumn('updated_at', 'bigint').execute()
}

/** Groups from before lists were kept: each is numbered, counted and made findable. */
async function takeUpEarlierGroups(database: Kysely<Tables>): Promise<void> {
  const apps = await database.selectFrom('apps').select('id').execute()
  for (const app of apps) await takeUpGroupsOf(database, app.id)
}

async function takeUpGroupsOf(database: Kysely<Tables>, appId: string): Promise<void> {
  const rows = await database.selectFrom('groups').selectAll().where('groups.app_id', '=', appId).execute()
  for (const { app_id, guid, name, created_at } of rows) {
    const columns = { id: `earlier-${guid}`, sort_name: folded(name), changed_at: created_at }
    await database.updateTable('groups').set(columns).where('app_id', '=', app_id).where('guid', '=', guid).execute()
    await database
      .insertInto('search_entries')
      .values({
        app_id,
        list: groupsList,
        id: guid,
        at: created_at,
        text: [name, guid].map(folded).join('\n'),
        marks: '',
      })
      .execute()
    for (const tally of talliesAt(groupsList, { at: created_at, facets: 'public' }, 1)) {
      await countOneMore(database, app_id, tally)
    }
  }
}

async function countOneMore(database: Kysely<Tables>, app_id: string, tally: Tally): Promise<void> {
  await database
    .insertInto('tallies')
    .values({ app_id, ...tally })
    .onConflict((conflict) =>
      conflict
        .columns(['app_id', 'list', 'level', 'bucket', 'facets'])
        .doUpdateSet({ n: sql<number>`tallies.n + excluded.n` }),
    )
    .execute()
}

async function addGroupIndexes({ schema }: Kysely<Tables>): Promise<void> {
  const index = (name: string, columns: string[]) =>
    schema
      .createIndex(name)
      .on('groups')
      .columns(columns as never[])
  await index('groups_by_id', ['app_id', 'id']).unique().execute()
  // Lists are walked by time, one type or all of them; the others are for their own filter or order.
  await index('groups_by_time', ['app_id', 'created_at desc', 'guid']).execute()
  await index('groups_by_type', ['app_id', 'type', 'created_at desc', 'guid']).execute()
  await index('groups_by_age', ['app_id', 'created_at', 'guid']).execute()
  await index('groups_by_name', ['app_id', 'sort_name', 'guid']).execute()
  await index('groups_by_change', ['app_id', 'changed_at', 'guid']).execute()
  await index('groups_by_size', ['app_id', 'members_count']).execute()
  await schema
    .createTable('group_tags')
    .addColumn('app_id', 'text', (column) => column.notNull())
    .addColumn('tag', 'text', (column) => column.notNull())
    .addColumn('guid', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('group_tags_key', ['app_id', 'tag', 'guid'])
    .execute()
  await schema.createIndex('group_tags_of_group').on('group_tags').columns(['app_id', 'guid']).execute()
}

async function addMemberTables({ schema }: Kysely<Tables>): Promise<void> {
  await schema
    .createTable('group_members')
    .addColumn('app_id', 'text', (column) => column.notNull())
    .addColumn('group_id', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('uid', 'text', (column) => column.notNull())
    .addColumn('scope', 'text', (column) => column.notNull())
    .addColumn('joined_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('group_members_key', ['app_id', 'group_id', 'user_id'])
    .execute()
  await schema
    .createTable('group_bans')
    .addColumn('app_id', 'text', (column) => column.notNull())
    .addColumn('group_id', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('uid', 'text', (column) => column.notNull())
    .addColumn('scope', 'text')
    .addColumn('joined_at', 'bigint')
    .addColumn('banned_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('group_bans_key', ['app_id', 'group_id', 'user_id'])
    .execute()
  const index = (name: string, table: string, columns: string[]) =>
    schema
      .createIndex(name)
      .on(table)
      .columns(columns as never[])
      .execute()
  await index('group_members_by_time', 'group_members', ['app_id', 'group_id', 'joined_at desc', 'uid'])
  // Also finds the oldest of a scope, who follows when an owner goes.
  await index('group_members_by_scope', 'group_members', ['app_id', 'group_id', 'scope', 'joined_at desc', 'uid'])
  await index('group_members_of_user', 'group_members', ['app_id', 'user_id', 'group_id'])
  await index('group_bans_by_time', 'group_bans', ['app_id', 'group_id', 'banned_at desc', 'uid'])
  await index('group_bans_of_user', 'group_bans', ['app_id', 'user_id', 'group_id'])
}
