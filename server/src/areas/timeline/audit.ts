import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Audit } from '../../kit/area.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { systemUid } from '../users/index.ts'
import { type ConversationKey, placeOfGroup, placeOfUsers } from './place.ts'

/**
 * For `parley doctor`: whether what is stored about conversations follows from their messages, and whether everything lies
 * where it belongs. Hand it a snapshot: what changes between two reads would look like a fault.
 */

export const audit: Audit = {
  ofApp: async (db) => ({
    'conversations are numbered without gaps': await auditTimeline(db),
    'all that was said lies in the conversation that it names': await auditPlaces(db),
  }),
}

const findingsMax = 20

/** Conversations whose numbers do not follow from their messages. */
export async function auditTimeline(db: TenantDb): Promise<string[]> {
  const rows = await db.sql<{ conversation_key: string; what: string }>`
    SELECT conversations.conversation_key, CASE
      WHEN coalesce(counted.n, 0) != conversations.last_seq - conversations.purged_seq THEN 'has gaps in its numbers'
      WHEN coalesce(counted.last, conversations.purged_seq) != conversations.last_seq THEN 'ends with another message'
      WHEN coalesce(counted.counted, conversations.last_counted) != conversations.last_counted
        THEN 'counts other messages than it has'
      ELSE 'shows a message that does not exist' END AS what
    FROM conversations LEFT JOIN (
      SELECT messages.app_id, messages.conversation_key, count(*) AS n, max(messages.seq) AS last,
        max(messages.counted) AS counted
      FROM messages JOIN conversations AS owner ON owner.app_id = messages.app_id
        AND owner.conversation_key = messages.conversation_key
      WHERE messages.app_id = ${db.appId} AND messages.seq > owner.purged_seq
      GROUP BY messages.app_id, messages.conversation_key
    ) AS counted ON counted.app_id = conversations.app_id AND counted.conversation_key = conversations.conversation_key
    WHERE conversations.app_id = ${db.appId} AND (
      coalesce(counted.n, 0) != conversations.last_seq - conversations.purged_seq
      OR coalesce(counted.last, conversations.purged_seq) != conversations.last_seq
      OR coalesce(counted.counted, conversations.last_counted) != conversations.last_counted
      OR conversations.shown_seq > conversations.last_seq)
    LIMIT ${findingsMax}`.execute()
  return [
    ...rows.map(({ conversation_key, what }) => `the conversation ${conversation_key} ${what}`),
    ...(await miscounted(db)),
    ...(await strayCursors(db)),
  ]
}

/** Messages whose count is not that of the message before them, and one more if they count. */
async function miscounted(db: TenantDb): Promise<string[]> {
  const rows = await db.sql<{ id: number }>`SELECT counted.id FROM (
      SELECT messages.id, messages.counted - messages.counts AS before, lag(messages.counted, 1, conversations.purged_counted)
        OVER (PARTITION BY messages.conversation_key ORDER BY messages.seq) AS known
      FROM messages JOIN conversations ON conversations.app_id = messages.app_id
        AND conversations.conversation_key = messages.conversation_key
      WHERE messages.app_id = ${db.appId} AND messages.seq > conversations.purged_seq) AS counted
    WHERE counted.before != counted.known LIMIT ${findingsMax}`.execute()
  return rows.map(({ id }) => `message ${id} is counted wrongly`)
}

/** Users who have come further than their conversation, or have counted otherwise on the way. */
async function strayCursors(db: TenantDb): Promise<string[]> {
  const rows = await db.sql<{ uid: string; conversation_key: string }>`
    SELECT conversation_rows.uid, conversation_rows.conversation_key FROM conversation_rows
    JOIN conversations ON conversations.app_id = conversation_rows.app_id
      AND conversations.conversation_key = conversation_rows.conversation_key
    LEFT JOIN messages ON messages.app_id = conversation_rows.app_id
      AND messages.conversation_key = conversation_rows.conversation_key AND messages.seq = conversation_rows.read_seq
    WHERE conversation_rows.app_id = ${db.appId} AND (conversation_rows.read_seq > conversations.last_seq
      OR conversation_rows.delivered_seq > conversations.last_seq OR conversation_rows.cleared_seq > conversations.last_seq
      OR (messages.seq > conversations.purged_seq AND messages.counted != conversation_rows.read_counted))
    LIMIT ${findingsMax}`.execute()
  return rows.map(({ uid, conversation_key }) => `${uid} stands in ${conversation_key} where nobody can`)
}

/** What lies in another conversation than it names itself. */
export async function auditPlaces(db: TenantDb): Promise<string[]> {
  const findings = await wrongKeys(db)
  for (const { what, from, name, wrong } of belongings) {
    const rows = await db.sql<{ name: string; conversation_key: string }>`
      SELECT CAST(${name} AS text) AS name, ${sql.ref(`${what}.conversation_key`)} AS conversation_key FROM ${from}
      WHERE ${sql.ref(`${what}.app_id`)} = ${db.appId} AND ${wrong} LIMIT ${findingsMax}`.execute()
    findings.push(
      ...rows.map((row) => `${nouns[what]} ${row.name} lies in ${row.conversation_key}, which is not its place`),
    )
  }
  return findings
}

const conversationsPerStep = 512

/** Conversations that are stored under another key than that of who is in them. */
async function wrongKeys(db: TenantDb): Promise<string[]> {
  const wrong: string[] = []
  for (let after = '' as unknown as ConversationKey; ; ) {
    const rows = await db
      .select('conversations')
      .select(['conversations.conversation_key', 'conversations.type', 'conversations.first', 'conversations.second'])
      .where('conversations.conversation_key', '>', after)
      .orderBy('conversations.conversation_key')
      .limit(conversationsPerStep)
      .execute()
    for (const { conversation_key, type, first, second } of rows) {
      const place = type === 'group' ? placeOfGroup(first) : placeOfUsers(first, second)
      const isOwn = place.conversationKey === conversation_key && place.first === first && place.second === second
      if (!isOwn) wrong.push(`the conversation ${conversation_key} is that of ${type} ${first} ${second}`.trim())
    }
    const last = rows.at(-1)
    if (!last || wrong.length >= findingsMax) return wrong
    after = last.conversation_key
  }
}

type Keyed = 'messages' | 'conversation_rows' | 'message_mentions' | 'receipt_marks'

const nouns: Record<Keyed, string> = {
  messages: 'message',
  conversation_rows: 'the side of',
  message_mentions: 'the mention in message',
  receipt_marks: 'a receipt of',
}

interface Belonging {
  what: Keyed
  /** The table, and what it is held against. */
  from: RawBuilder<unknown>
  name: RawBuilder<unknown>
  wrong: RawBuilder<SqlBool>
}

const withConversation = (table: Keyed) => sql`${sql.table(table)} LEFT JOIN conversations
  ON conversations.app_id = ${sql.ref(`${table}.app_id`)}
  AND conversations.conversation_key = ${sql.ref(`${table}.conversation_key`)}`

const noOneOfTwo = (uid: string) => sql<SqlBool>`conversations.type = 'user'
  AND ${sql.ref(uid)} NOT IN (conversations.first, conversations.second)`

/** Of a message, the conversation is that of its sender and receiver; of what the app did between two, of its receiver. */
const inAnother = sql<SqlBool>`messages.purged = 0 AND (messages.receiver_type != conversations.type OR CASE
  WHEN conversations.type = 'group' THEN messages.receiver != conversations.first
  WHEN messages.category = 'action' AND messages.sender = ${sql.lit(systemUid)}
    THEN messages.receiver NOT IN (conversations.first, conversations.second)
  ELSE NOT (messages.sender = conversations.first AND messages.receiver = conversations.second
    OR messages.sender = conversations.second AND messages.receiver = conversations.first) END)`

/** A message that is answered or quoted is in the same conversation, unless nothing is left of it. */
const linkedElsewhere = (column: 'parent_id' | 'quoted_id') => ({
  what: 'messages' as const,
  from: sql`messages JOIN messages AS linked ON linked.app_id = messages.app_id
    AND linked.id = ${sql.ref(`messages.${column}`)}`,
  name: sql`messages.id`,
  wrong: sql<SqlBool>`linked.purged = 0 AND linked.conversation_key != messages.conversation_key`,
})

const belongings: Belonging[] = [
  {
    what: 'messages',
    from: withConversation('messages'),
    name: sql`messages.id`,
    wrong: sql`(conversations.conversation_key IS NULL OR (${inAnother}))`,
  },
  linkedElsewhere('parent_id'),
  linkedElsewhere('quoted_id'),
  {
    what: 'conversation_rows',
    from: withConversation('conversation_rows'),
    name: sql`conversation_rows.uid`,
    wrong: sql`(conversations.conversation_key IS NULL OR (${noOneOfTwo('conversation_rows.uid')}))`,
  },
  {
    what: 'receipt_marks',
    from: withConversation('receipt_marks'),
    name: sql`receipt_marks.uid`,
    wrong: sql`(conversations.conversation_key IS NULL OR receipt_marks.seq > conversations.last_seq
      OR (${noOneOfTwo('receipt_marks.uid')}))`,
  },
  {
    // Those of messages that are gone are forgotten by and by.
    what: 'message_mentions',
    from: sql`message_mentions JOIN messages ON messages.app_id = message_mentions.app_id
      AND messages.id = message_mentions.message_id`,
    name: sql`message_mentions.message_id`,
    wrong: sql`(message_mentions.conversation_key != messages.conversation_key OR message_mentions.seq != messages.seq)`,
  },
]
