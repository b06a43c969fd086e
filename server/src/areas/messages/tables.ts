import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    message_tags: MessageTagRow
    message_actions: MessageActionRow
  }
}

/** Finds messages by tag. */
export interface MessageTagRow {
  app_id: string
  tag: string
  message_id: number
}

/** Which actions in the history tell of a message. */
export interface MessageActionRow {
  app_id: string
  message_id: number
  action_id: number
}

export const migrations: Migrations = {
  '20261115-message-tags': async ({ schema }) => {
    await schema
      .createTable('message_tags')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('tag', 'text', (column) => column.notNull())
      .addColumn('message_id', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('message_tags_key', ['app_id', 'tag', 'message_id'])
      .execute()
    await schema.createIndex('message_tags_of_message').on('message_tags').columns(['app_id', 'message_id']).execute()
  },
  '20261115-message-actions': async ({ schema }) => {
    await schema
      .createTable('message_actions')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('message_id', 'bigint', (column) => column.notNull())
      .addColumn('action_id', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('message_actions_key', ['app_id', 'message_id', 'action_id'])
      .execute()
  },
}
