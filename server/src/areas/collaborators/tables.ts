import type { Migrations } from '../../storage/migrate.ts'
import type { TeamRole } from './schemas.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    collaborators: CollaboratorRow
  }
}

export interface CollaboratorRow {
  app_id: string
  /** The address in lower case: who they are. */
  email: string
  id: string
  role: TeamRole
  /** Keyed hash of what the last invitation link ends in; nothing where they had an account when they were added. */
  invitation: string | null
  created_at: number
}

export const migrations: Migrations = {
  '20261123-collaborators': async ({ schema }) => {
    await schema
      .createTable('collaborators')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('email', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('invitation', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('collaborators_key', ['app_id', 'email'])
      .execute()
  },
}
