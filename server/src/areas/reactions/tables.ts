import type { Generated, Selectable } from 'kysely'
import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    reactions: ReactionTable
    reaction_counts: ReactionCountRow
  }
}

interface ReactionTable {
  app_id: string
  id: Generated<number>
  message_id: number
  reaction: string
  uid: string
  reacted_at: number
}

export type ReactionRow = Selectable<ReactionTable>

/** How many have reacted so to a message. */
export interface ReactionCountRow {
  app_id: string
  message_id: number
  reaction: string
  n: number
  /** The first of them, which gives the order. */
  first_id: number
}

export const migrations: Migrations = {
  '20261115-reactions': async ({ schema }, numbered) => {
    await numbered(schema.createTable('reactions'))
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('message_id', 'bigint', (column) => column.notNull())
      .addColumn('reaction', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('reacted_at', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('reactions_key', ['app_id', 'message_id', 'uid', 'reaction'])
      .execute()
    await schema.createIndex('reactions_of_message').on('reactions').columns(['app_id', 'message_id', 'id']).execute()
    await schema
      .createIndex('reactions_of_kind')
      .on('reactions')
      .columns(['app_id', 'message_id', 'reaction', 'id'])
      .execute()
    await schema.createIndex('reactions_of_user').on('reactions').columns(['app_id', 'uid', 'id']).execute()
    await schema
      .createTable('reaction_counts')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('message_id', 'bigint', (column) => column.notNull())
      .addColumn('reaction', 'text', (column) => column.notNull())
      .addColumn('n', 'bigint', (column) => column.notNull())
      .addColumn('first_id', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('reaction_counts_key', ['app_id', 'message_id', 'reaction'])
      .execute()
  },
}
