import type { Migrations } from '../../storage/migrate.ts'
import { giveKeysToJobs } from './rekey.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    conversation_pins: ConversationPinRow
  }
}

/** A conversation pinned for everyone: with this user, or of this group. */
export interface ConversationPinRow {
  app_id: string
  type: 'user' | 'group'
  /** UID or GUID. */
  target: string
  position: number
  pinned_at: number
}

export const migrations: Migrations = {
  '20261115-conversation-pins': async ({ schema }) => {
    await schema
      .createTable('conversation_pins')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('target', 'text', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('pinned_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('conversation_pins_key', ['app_id', 'type', 'target'])
      .execute()
  },
  '20261118-cleared-conversations': giveKeysToJobs,
}
