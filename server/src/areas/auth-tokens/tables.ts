import type { Generated, Insertable, Selectable } from 'kysely'
import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    auth_tokens: AuthTokenTable
  }
}

interface AuthTokenTable {
  app_id: string
  /** Keyed hash of the token; how a request's token is found. */
  fingerprint: string
  /** The token itself, encrypted: the API shows it again, a stolen database does not. */
  sealed: string
  uid: string
  /** Which user of that UID: one deleted and created again is another. */
  user_id: string
  /** Counts the user's tokens; those of one second keep their order by it. */
  number: number
  platform: Generated<string | null>
  user_agent: Generated<string | null>
  /** A JSON object as text. */
  app_info: Generated<string | null>
  created_at: number
}

export type AuthTokenRow = Selectable<AuthTokenTable>
export type NewAuthTokenRow = Omit<Insertable<AuthTokenTable>, 'app_id'>

export const migrations: Migrations = {
  '20261101-auth-tokens': async ({ schema }) => {
    await schema
      .createTable('auth_tokens')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('fingerprint', 'text', (column) => column.notNull())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('number', 'bigint', (column) => column.notNull())
      .addColumn('platform', 'text')
      .addColumn('user_agent', 'text')
      .addColumn('app_info', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('auth_tokens_key', ['app_id', 'fingerprint'])
      .execute()
    await schema
      .createIndex('auth_tokens_of_user')
      .on('auth_tokens')
      .columns(['app_id', 'user_id', 'number desc'])
      .unique()
      .execute()
  },
}
