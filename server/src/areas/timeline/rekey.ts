import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../../storage/tables.ts'
import { dropSplits, makeSplits, type Stored, splitConversation } from './split.ts'

/**
 * Conversations were stored under their id on the wire, which several can have. Gives each a key of its own, in every
 * table that names it; where several had come together under one id, each takes what is its own. The work is done by the
 * database, or in batches, so that its size is no matter of memory.
 */
export async function giveKeys(database: Kysely<Tables>): Promise<void> {
  const { schema } = database
  for (const table of keyedTables) {
    await schema.alterTable(table).renameColumn('conversation_id', 'conversation_key').execute()
  }
  const apps = await database.selectFrom('apps').select('id').execute()
  if (apps.length > 0) {
    await makeSplits(database)
    for (const { id } of apps) await splitAmbiguous(database, id)
    await dropSplits(database)
  }
  // To make them anew is much less work than to change every entry where it stands.
  for (const { name } of indexes) await schema.dropIndex(name).execute()
  for (const { id } of apps) await rename(database, id)
  for (const { name, columns, unique = false, where } of indexes) {
    const index = schema
      .createIndex(name)
      .on('messages')
      .columns(['app_id', 'conversation_key', ...columns])
    const partial = where ? index.where(where) : index
    await (unique ? partial.unique() : partial).execute()
  }
}

const keyedTables = ['conversations', 'conversation_rows', 'receipt_marks', 'messages', 'message_mentions'] as const

interface Index {
  name: string
  columns: string[]
  unique?: true
  where?: RawBuilder<boolean>
}

/** Those of messages that begin with the conversation. */
const indexes: Index[] = [
  { name: 'messages_by_seq', columns: ['seq'], unique: true },
  { name: 'messages_in_conversation', columns: ['id'] },
  { name: 'messages_by_sender', columns: ['sender', 'seq'] },
  { name: 'messages_by_muid', columns: ['muid'], where: sql`muid IS NOT NULL` },
  { name: 'messages_with_replies_of_conversation', columns: ['updated_at', 'id'], where: sql`reply_count > 0` },
  { name: 'messages_uncounted', columns: ['seq'], where: sql`deleted_at IS NOT NULL` },
  { name: 'messages_pinned', columns: ['pinned_at'], where: sql`pinned_at IS NOT NULL` },
]

/** No id has a slash, and every key has one. */
const hasId = sql`conversation_key NOT LIKE '%/%'`

const conversationsAtOnce = 100

/** What was stored under an id that can mean several conversations. */
async function splitAmbiguous(database: Kysely<Tables>, appId: string): Promise<void> {
  for (let after = ''; ; ) {
    const { rows } = await sql<Stored['row'] & { conversation_key: string }>`SELECT * FROM conversations
      WHERE app_id = ${appId} AND conversation_key > ${after} AND ${hasId}
      AND (conversation_key LIKE '%\\_user\\_%user\\_%' ESCAPE '\\' OR conversation_key LIKE 'group%\\_user\\_%' ESCAPE '\\')
      ORDER BY conversation_key LIMIT ${conversationsAtOnce}`.execute(database)
    for (const { conversation_key: conversationId, ...row } of rows) {
      await splitConversation(database, { conversationId, row })
    }
    const last = rows.at(-1)
    if (!last) return
    after = last.conversation_key
  }
}

/** The key of a conversation, as `place.ts` makes it. */
const keyOfRow = sql`CASE conversations.type WHEN 'group' THEN 'group/' || conversations.first
  ELSE 'user/' || conversations.first || '/' || conversations.second END`

/** All the rest; what has no conversation, as in an app that is being removed, is kept out of everyone's way. */
async function rename(database: Kysely<Tables>, appId: string): Promise<void> {
  for (const name of keyedTables.filter((table) => table !== 'conversations')) {
    const table = sql.table(name)
    await sql`UPDATE ${table} SET conversation_key = coalesce((SELECT ${keyOfRow} FROM conversations
      WHERE conversations.app_id = ${appId} AND conversations.conversation_key = ${table}.conversation_key),
      'lost/' || conversation_key) WHERE ${table}.app_id = ${appId} AND ${hasId}`.execute(database)
  }
  await sql`UPDATE conversations SET conversation_key = ${keyOfRow} WHERE app_id = ${appId} AND ${hasId}`.execute(
    database,
  )
}
