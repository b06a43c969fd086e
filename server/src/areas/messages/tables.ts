import { type Kysely, sql } from 'kysely'
import type { Migrations } from '../../storage/migrate.ts'
import { entryText } from '../../storage/search-text.ts'
import type { Tables } from '../../storage/tables.ts'
import { messagesList, searchEntry } from './store.ts'

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
  // Entries were marked with the id of their conversation on the wire, which several can have.
  '20261118-message-marks': (schema, _numbered, { rewriteSearch }) => rewriteSearch(schema, () => markWithKeys(schema)),
  '20261119-words-without-people': setPeopleApart,
  '20261121-actions-without-quotes': dropQuotesFromActions,
  // An action is kept from whoever may not see what it tells of.
  '20261122-messages-of-actions': async ({ schema }) => {
    await schema
      .createIndex('message_actions_by_action')
      .on('message_actions')
      .columns(['app_id', 'action_id'])
      .execute()
  },
}

async function markWithKeys(database: Kysely<Tables>): Promise<void> {
  const apps = await database.selectFrom('apps').select('id').execute()
  for (const { id } of apps) {
    await sql`UPDATE search_entries SET marks = coalesce((SELECT messages.conversation_key FROM messages
      WHERE messages.app_id = ${id} AND messages.id = search_entries.at), '')
      WHERE search_entries.app_id = ${id} AND search_entries.list = 'messages'`.execute(database)
  }
}

const messagesAtOnce = 500

/** Entries of messages that mention people had all words in one text. */
async function setPeopleApart(database: Kysely<Tables>): Promise<void> {
  const apps = await database.selectFrom('apps').select('id').execute()
  for (const { id: appId } of apps) {
    for (let after = 0; ; ) {
      const rows = await mentioning(database, appId, after)
      for (const row of rows) {
        const { id, texts } = searchEntry(row)
        await sql`UPDATE search_entries SET text = ${entryText(texts)} WHERE search_entries.app_id = ${appId}
          AND search_entries.list = ${messagesList} AND search_entries.id = ${id}`.execute(database)
      }
      const last = rows.at(-1)
      if (!last) break
      after = last.id
    }
  }
}

function mentioning(database: Kysely<Tables>, appId: string, after: number) {
  return messagesAfter(database, appId, after).where('flags', 'like', '%m%').execute()
}

function messagesAfter(database: Kysely<Tables>, appId: string, after: number) {
  return database
    .selectFrom('messages')
    .select(['id', 'conversation_key', 'category', 'type', 'data'])
    .where('app_id', '=', appId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(messagesAtOnce)
}

/** Actions had what their message quotes inside, and kept it when that was deleted. */
async function dropQuotesFromActions(database: Kysely<Tables>): Promise<void> {
  const apps = await database.selectFrom('apps').select('id').execute()
  for (const { id: appId } of apps) {
    for (let after = 0; ; ) {
      const rows = await quoting(database, appId, after)
      for (const { id, data } of rows) {
        const told = JSON.parse(data)
        delete told.entities.on.entity.quotedMessage
        const changed = { data: JSON.stringify(told) }
        await database.updateTable('messages').set(changed).where('app_id', '=', appId).where('id', '=', id).execute()
      }
      const last = rows.at(-1)
      if (!last) break
      after = last.id
    }
  }
}

function quoting(database: Kysely<Tables>, appId: string, after: number) {
  return messagesAfter(database, appId, after)
    .where('category', '=', 'action')
    .where('type', '=', 'message')
    .where('data', 'like', '%"quotedMessage":%')
    .execute()
}
