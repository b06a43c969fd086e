import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { badRequest } from '../../kit/errors.ts'
import type { Search } from '../../storage/grams.ts'
import { askedOfEach, textAsFound } from '../../storage/plans.ts'
import { withoutAccents, wordsIn } from '../../storage/search-text.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { type ConversationKey, placesNamed, receiptAt } from '../timeline/index.ts'
import { savedIds } from './gates.ts'
import { type MessageListQuery, searchWordsMax } from './schemas.ts'
import { messagesList } from './store.ts'

/** What a list of messages asks for, as conditions on the rows of `messages`. */
export type Condition = RawBuilder<SqlBool>

/** Who looks, and whom they have blocked. */
export interface ViewerOfMessages {
  uid: string
  blocked: string[]
}

type Query = MessageListQuery

/** Times, compared with a column; `from` and `to` are both included. */
function between(column: string, from: number | undefined, to: number | undefined): Condition[] {
  const reference = sql.ref(column)
  return [
    ...(from === undefined ? [] : [sql<SqlBool>`${reference} >= ${from}`]),
    ...(to === undefined ? [] : [sql<SqlBool>`${reference} <= ${to}`]),
  ]
}

function anyOf(column: string, one: string | undefined, several: string[] | undefined): Condition[] {
  const values = [...(several ?? []), ...(one === undefined ? [] : [one])]
  return values.length === 0 ? [] : [sql<SqlBool>`${sql.ref(column)} IN (${sql.join(values)})`]
}

/** In any conversation that the id can mean; which of them are seen at all is not for a filter to say. */
function isNamed(conversationId: string): Condition {
  const keys = placesNamed(conversationId).map(({ conversationKey }) => conversationKey)
  return keys.length === 0 ? sql`1 = 0` : sql`messages.conversation_key IN (${sql.join(keys)})`
}

function flagged(letter: string, wanted: boolean | undefined): Condition[] {
  if (wanted === undefined) return []
  const pattern = `%${letter}%`
  return [wanted ? sql<SqlBool>`messages.flags LIKE ${pattern}` : sql<SqlBool>`messages.flags NOT LIKE ${pattern}`]
}

function when(asked: boolean | undefined, ...conditions: Condition[]): Condition[] {
  return asked ? conditions : []
}

const lower = (uids: string[]) => uids.map((uid) => uid.toLowerCase())

/** Whose messages are asked for; nobody, if it does not matter. */
export function sendersAsked({ sender, senders = [] }: Query): string[] {
  return [...new Set(lower(sender === undefined ? senders : [...senders, sender]))]
}

/** All that is asked, but for whose messages and how far somebody has come: see `sendersAsked` and `cursorsAsked`. */
export function conditionsOf(
  db: TenantDb,
  query: Query,
  viewer: ViewerOfMessages | undefined,
  inThread = false,
): Condition[] {
  const toTimestamp = query.fromTimestamp === undefined ? undefined : query.toTimestamp
  return [
    ...between('messages.sent_at', query.fromTimestamp, toTimestamp),
    ...between('messages.sent_at', query['sentAt[from]'], query['sentAt[to]']),
    ...changedWhen(query),
    ...between('messages.edited_at', query['editedAt[from]'], query['editedAt[to]']),
    ...anyOf('messages.category', query.category, query.categories),
    ...anyOf('messages.type', query.type, query.types),
    ...anyOf('messages.receiver_type', query.receiverType, undefined),
    ...(query.conversationId === undefined ? [] : [isNamed(query.conversationId)]),
    ...flagged('a', query.hasAttachments),
    ...flagged('l', query.hasLinks),
    ...flagged('m', query.hasMentions),
    ...when(query.hasReactions, ...flagged('r', true)),
    ...(query.attachmentTypes
      ? [sql<SqlBool>`messages.flags LIKE '%a%'`, ...anyOf('messages.type', undefined, query.attachmentTypes)]
      : []),
    ...namedBy(db, query, viewer).map(({ each }) => each),
    ...when(query.hideDeleted, sql<SqlBool>`messages.deleted_at IS NULL`),
    ...when(query.onlyDeleted, sql<SqlBool>`messages.deleted_at IS NOT NULL`),
    ...when(query.hideReplies, sql<SqlBool>`messages.parent_id IS NULL`),
    ...when(query.pinned, sql<SqlBool>`messages.pinned_at IS NOT NULL`),
    // As with every word that a list does not know: it finds nothing.
    ...when(query.affix !== undefined && !['append', 'prepend'].includes(query.affix), sql<SqlBool>`1 = 0`),
    ...viewerConditions(query, viewer, inThread),
  ]
}

/**
 * What has changed after sending, and when. Nothing is written into a message that is received or read, so its receipts
 * are looked up; a change within the second of sending is one, too.
 */
function changedWhen(query: Query): Condition[] {
  const { updatedAt: after, onlyUpdates, 'updatedAt[from]': from, 'updatedAt[to]': to } = query
  const seen = sql`coalesce(${receiptAt}, 0)`
  return [
    ...(from === undefined ? [] : [sql<SqlBool>`(messages.updated_at >= ${from} OR ${seen} >= ${from})`]),
    ...(to === undefined ? [] : [sql<SqlBool>`messages.updated_at <= ${to} AND ${seen} <= ${to}`]),
    ...(after === undefined ? [] : [sql<SqlBool>`(messages.updated_at > ${after} OR ${seen} > ${after})`]),
    ...when(
      from !== undefined || to !== undefined || onlyUpdates,
      sql<SqlBool>`(messages.edited_at IS NOT NULL OR messages.deleted_at IS NOT NULL OR messages.reply_count > 0
        OR messages.updated_at > messages.sent_at OR ${receiptAt} IS NOT NULL)`,
    ),
  ]
}

/** Filters that only mean something where somebody looks; how far they have come is told by `cursorsAsked`. */
function viewerConditions(query: Query, viewer: ViewerOfMessages | undefined, inThread: boolean): Condition[] {
  if (query.saved && !viewer) throw badRequest({ saved: ['needs an acting user'] })
  // The others ask about somebody who is not there, which is no question.
  if (!viewer) return []
  return [
    ...when(query.unread, ...counted(viewer, inThread)),
    ...when(query.undelivered, sql<SqlBool>`messages.sender != ${viewer.uid}`),
    ...(query.hideMessagesFromBlockedUsers && viewer.blocked.length > 0
      ? [sql<SqlBool>`messages.sender NOT IN (${sql.join(viewer.blocked)})`]
      : []),
  ]
}

/** Whether `Viewer.blocked` makes a difference to the conditions of a list. */
export function asksWhoIsBlocked({ unread, hideMessagesFromBlockedUsers }: Query): boolean {
  return Boolean(unread || hideMessagesFromBlockedUsers)
}

/** What counts as unread, wherever unread messages are counted. Replies count in their thread and nowhere else. */
export function counted({ uid, blocked }: ViewerOfMessages, inThread = false): Condition[] {
  return [
    ...when(!inThread, sql<SqlBool>`messages.counts = 1`),
    sql<SqlBool>`messages.deleted_at IS NULL`,
    sql<SqlBool>`messages.sender NOT IN (${sql.join([uid, ...blocked])})`,
  ]
}

/** How far a user has come in a conversation; lists of what is not read, or has not come, begin after it. */
export type SideCursor = 'read_seq' | 'delivered_seq'

export function cursorsAsked({ unread, undelivered }: Query): SideCursor[] {
  return [...(unread ? (['read_seq'] as const) : []), ...(undelivered ? (['delivered_seq'] as const) : [])]
}

export function sentBy(uids: string[]): Condition[] {
  return anyOf('messages.sender', undefined, uids)
}

/** After the cursors of a user, asked of one message after the other. */
export function beyondCursors(db: TenantDb, uid: string, cursors: SideCursor[]): Condition[] {
  return cursors.map(
    (cursor) => sql`messages.seq > (SELECT conversation_rows.${sql.raw(cursor)} FROM conversation_rows
      WHERE conversation_rows.app_id = ${db.appId} AND conversation_rows.uid = ${uid}
      AND conversation_rows.conversation_key = messages.conversation_key)`,
  )
}

/**
 * Which messages are asked for by what a table beside them tells: tags, mentions, and what somebody has saved. The ids, as
 * a subquery of one column, and the same asked of one message after the other.
 */
export interface Named {
  ids: RawBuilder<number>
  each: Condition
  /** There are never many of them. */
  isFew?: true
}

export function namedBy(db: TenantDb, query: Query, viewer: ViewerOfMessages | undefined): Named[] {
  const { tags, mentionedUids, myMentionsOnly, saved } = query
  return [
    ...(tags ? [namedIn(db, 'message_tags', 'tag', tags)] : []),
    ...(mentionedUids ? [namedIn(db, 'message_mentions', 'uid', lower(mentionedUids))] : []),
    ...(viewer && myMentionsOnly ? [namedIn(db, 'message_mentions', 'uid', [viewer.uid])] : []),
    ...(viewer && saved ? [savedBy(db, viewer)] : []),
  ]
}

function namedIn(db: TenantDb, table: 'message_tags' | 'message_mentions', column: string, values: string[]): Named {
  const [rows, id, value] = [sql.table(table), sql.ref(`${table}.message_id`), sql.ref(`${table}.${column}`)]
  const from = sql`FROM ${rows} WHERE ${sql.ref(`${table}.app_id`)} = ${db.appId}`
  const wanted = sql.join(values)
  return {
    ids: sql`(SELECT DISTINCT ${id} ${from} AND ${value} IN (${wanted}))`,
    // The values of a message are few, so they are found by the message and then compared.
    each: askedOfEach(sql`${from} AND ${id} = messages.id AND ${textAsFound(`${table}.${column}`)} IN (${wanted})`),
  }
}

function savedBy(db: TenantDb, { uid }: ViewerOfMessages): Named {
  const ids = sql<number>`${savedIds.ask(db, uid)}`
  return { ids, each: sql`messages.id IN ${ids}`, isFew: true }
}

/** The words that a message must have, narrowed to a conversation; nothing, if none are asked for. */
export function searchOf({ searchKey = '' }: Query, among: ConversationKey[] | undefined): Search | undefined {
  const words = wordsIn(withoutAccents(searchKey))
  if (words.length === 0) return undefined
  if (words.length > searchWordsMax) {
    throw badRequest({ searchKey: [`must not have more than ${searchWordsMax} different words`] })
  }
  // Entries have all marks that are asked for, so several conversations cannot be.
  return { list: messagesList, words, ...(among?.length === 1 && { marks: among.map(String) }) }
}
