import { type RawBuilder, sql } from 'kysely'
import type { Actor } from '../../kit/operation.ts'
import type { View } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { groupsByGuid, membershipsIn, toGroup } from '../groups/index.ts'
import { unreadAmong } from '../messages/index.ts'
import {
  type ConversationKey,
  conversationIdOf,
  listedTo,
  messagesOf,
  receiptsOfEach,
  type SeenMessage,
  type Side,
  toMessages,
  type Unread,
  unreadOf,
  withWhom,
} from '../timeline/index.ts'
import type { Message } from '../timeline/schemas.ts'
import { blocksBetween, sightOf, systemUid, toUser, uidsBlockedBy, usersByUid } from '../users/index.ts'
import type { Conversation } from './schemas.ts'
import { pinOf, systemPins, updatedAt } from './sides.ts'

export interface ConversationView {
  /** Whose side is shown to themself; absent where a server looks at everyone's. */
  viewer?: Actor | undefined
  withTags?: boolean | undefined
  withUserAndGroupTags?: boolean | undefined
  withBlockedInfo?: boolean | undefined
}

/** Records of conversations, with the last message, the other side and what is unread. */
export async function toConversations(view: View, sides: Side[], how: ConversationView): Promise<Conversation[]> {
  const { db } = view
  const [partners, pins, last, read, unreadOfUsers] = await Promise.all([
    partnersOf(view, sides, how),
    systemPins(db),
    lastMessages(view, sides, how.viewer),
    lastReadIds(db, sides),
    unreadOfEach(db, sides, how),
  ])
  const records: Conversation[] = []
  for (const { uid, own, unread } of unreadOfUsers) {
    for (const side of own) {
      const { messages = 0, mentions = 0 } = unread.get(side.conversation_key) ?? {}
      const pin = pinOf(side, pins)
      const lastReadMessageId = read.get(placeOf(side, side.read_seq))
      const lastMessage = side.shown_seq > side.cleared_seq ? last.get(placeOf(side, side.shown_seq)) : undefined
      records.push({
        conversationId: conversationIdOf(side.conversation_key),
        conversationType: side.type,
        ...(!how.viewer && { uid }),
        unreadMessageCount: String(messages),
        ...(how.viewer && { unreadMentionsCount: mentions }),
        ...(lastReadMessageId !== undefined && { lastReadMessageId: String(lastReadMessageId) }),
        createdAt: side.created_at,
        updatedAt: updatedAt(side),
        ...(lastMessage && { lastMessage }),
        conversationWith: partners.get(nameOf(side)) ?? {},
        ...(how.withTags && side.tags !== null && { tags: JSON.parse(side.tags) }),
        ...(pin
          ? { pinnedBy: systemUid, pinnedAt: pin.pinned_at }
          : side.pinned_at !== null && { pinnedBy: side.uid, pinnedAt: side.pinned_at }),
      })
    }
  }
  return records
}

interface UnreadOfUser {
  uid: string
  own: Side[]
  unread: Map<ConversationKey, Unread>
}

async function unreadOfEach(db: TenantDb, sides: Side[], how: ConversationView): Promise<UnreadOfUser[]> {
  const users: UnreadOfUser[] = []
  for (const [uid, own] of Map.groupBy(sides, (side) => side.uid)) {
    users.push({ uid, own, unread: await unreadIn(db, uid, own, how) })
  }
  return users
}

/** What one's own lists may not hold is not counted to oneself; a server is told of everything. */
async function unreadIn(
  db: TenantDb,
  uid: string,
  sides: Side[],
  { viewer }: ConversationView,
): Promise<Map<ConversationKey, Unread>> {
  if (viewer?.uid === uid) return unreadAmong(db, viewer, sides)
  return unreadOf(db, sides, await uidsBlockedBy.ask(db, uid))
}

/** Tells the sides of all users and conversations apart. */
function nameOf({ conversation_key, uid }: Side): string {
  return `${uid} ${conversation_key}`
}

/** Where a message stands. */
function placeOf({ conversation_key }: Pick<Side, 'conversation_key'>, seq: number): string {
  return `${seq} ${conversation_key}`
}

/** Which messages are meant, each once: several sides can be of one conversation. */
function among(sides: Side[], seqOf: (side: Side) => number): RawBuilder<boolean> {
  const wanted = new Map(sides.map((side) => [placeOf(side, seqOf(side)), side]))
  const places = [...wanted.values()].map(
    (side) => sql`(CAST(${side.conversation_key} AS text), CAST(${seqOf(side)} AS bigint))`,
  )
  // Joined by OR, these would lead SQLite through all messages of the app.
  return sql<boolean>`(messages.conversation_key, messages.seq) IN (VALUES ${sql.join(places)})`
}

/** The message that each conversation shows; none after a reset, where it was deleted, or where lists do not hold it. */
async function lastMessages(view: View, sides: Side[], viewer: Actor | undefined): Promise<Map<string, Message>> {
  const { db } = view
  const wanted = sides.filter(({ shown_seq, cleared_seq }) => shown_seq > cleared_seq)
  if (wanted.length === 0) return new Map()
  const last = messagesOf(db, viewer?.uid)
    .where(among(wanted, ({ shown_seq }) => shown_seq))
    .where('messages.deleted_at', 'is', null)
  const listed = viewer ? await listedTo.ask(db, viewer) : []
  const rows = (await listed.reduce((some, condition) => some.where(condition), last).execute()) as SeenMessage[]
  const messages = await toMessages(view, rows, { viewer })
  const receipts = await receiptsOfEach(view, rows, { limit: receiptsShown, viewer })
  return new Map(
    messages.map((message, index) => {
      const row = rows[index] as SeenMessage
      return [placeOf(row, row.seq), { ...message, receipts: { data: receipts.get(row.id) ?? [] } }]
    }),
  )
}

// Those of a large group can be listed page by page.
const receiptsShown = 10

async function lastReadIds(db: TenantDb, sides: Side[]): Promise<Map<string, number>> {
  const wanted = sides.filter(({ read_seq }) => read_seq > 0)
  if (wanted.length === 0) return new Map()
  const rows = await db.sql<Pick<SeenMessage, 'conversation_key' | 'seq' | 'id'>>`
    SELECT messages.conversation_key, messages.seq, messages.id FROM messages
    WHERE messages.app_id = ${db.appId} AND ${among(wanted, ({ read_seq }) => read_seq)}`.execute()
  return new Map(rows.map((row) => [placeOf(row, row.seq), row.id]))
}

type Partner = Record<string, unknown>

/** The other user or the group of each side. */
async function partnersOf(view: View, sides: Side[], how: ConversationView): Promise<Map<string, Partner>> {
  const { db } = view
  const { viewer, withUserAndGroupTags = false, withBlockedInfo = false } = how
  const uids = sides.filter(({ type }) => type === 'user').map(withWhom)
  const guids = sides.filter(({ type }) => type === 'group').map(withWhom)
  const [users, sees, groups] = await Promise.all([
    usersByUid(db, uids),
    sightOf(db, viewer, () => uids),
    groupsByGuid(db, guids),
  ])
  const memberships = viewer ? await membershipsIn(db, viewer.uid, [...groups.values()]) : new Map()
  const blocks =
    withBlockedInfo && viewer && uids.length > 0 ? await blocksBetween.ask(db, viewer.uid, uids) : new Map()
  return new Map(
    sides.map((side): [string, Partner] => {
      const target = withWhom(side)
      if (side.type === 'user') {
        const user = users.get(target)
        const relation = { actorUid: viewer?.uid, blocks: blocks.get(target) }
        const seen = { ...relation, withTags: withUserAndGroupTags, veiled: !sees(target) }
        return [nameOf(side), user ? toUser(view, user, seen) : { uid: target }]
      }
      const group = groups.get(target)
      const member = group && memberships.get(group.id)
      const seen = { withTags: withUserAndGroupTags, ...(viewer && { member }) }
      return [nameOf(side), group ? toGroup(group, seen) : { guid: target }]
    }),
  )
}
