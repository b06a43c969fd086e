import { sql } from 'kysely'
import type { Actor } from '../../kit/operation.ts'
import type { View } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { groupsSeenBy, toGroup } from '../groups/index.ts'
import { unreadAmong } from '../messages/index.ts'
import {
  type ConversationKey,
  conversationIdOf,
  listedTo,
  receiptsOfEach,
  type SeenMessage,
  type Side,
  selectedFor,
  toMessages,
  type Unread,
  unreadOf,
  withWhom,
} from '../timeline/index.ts'
import type { Message } from '../timeline/schemas.ts'
import {
  blocksBetween,
  sightOf,
  systemUid,
  toUser,
  type UserRow,
  uidsBlockedByUser,
  usersByUid,
} from '../users/index.ts'
import type { Conversation } from './schemas.ts'
import { type PinForEveryone, pinOf, systemPins, updatedAt } from './sides.ts'

export interface ConversationView {
  /** Whose side is shown to themself; absent where a server looks at everyone's. */
  viewer?: Actor | undefined
  withTags?: boolean | undefined
  withUserAndGroupTags?: boolean | undefined
  withBlockedInfo?: boolean | undefined
  /** What is pinned for everyone, where that is known. */
  pins?: PinForEveryone[] | undefined
}

/** Records of conversations, with the last message, the other side and what is unread. */
export async function toConversations(view: View, sides: Side[], how: ConversationView): Promise<Conversation[]> {
  const { db } = view
  const users = usersByUid(db, sides.filter(isWithUser).map(withWhom))
  const [partners, pins, { last, read }, unreadOfUsers] = await Promise.all([
    partnersOf(view, sides, how, users),
    how.pins ?? systemPins(db),
    messagesShown(view, sides, how.viewer, users),
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
  return unreadOf(db, sides, await uidsBlockedByUser(db, uid))
}

/** Tells the sides of all users and conversations apart. */
function nameOf({ conversation_key, uid }: Side): string {
  return `${uid} ${conversation_key}`
}

/** Where a message stands. */
function placeOf({ conversation_key }: Pick<Side, 'conversation_key'>, seq: number): string {
  return `${seq} ${conversation_key}`
}

/** The message that a conversation shows, if it does; and the last that was read on a side, whatever became of it. */
type Shown = { [Column in keyof SeenMessage]: SeenMessage[Column] | null } & {
  place_key: ConversationKey
  place_read_seq: number
  read_id: number | null
}

interface ShownMessages {
  last: Map<string, Message>
  read: Map<string, number>
}

const isWithUser = ({ type }: Side) => type === 'user'

/** None is shown after a reset, where it was deleted, or where lists do not hold it. */
async function messagesShown(
  view: View,
  sides: Side[],
  viewer: Actor | undefined,
  partners: Promise<Map<string, UserRow>>,
): Promise<ShownMessages> {
  if (sides.length === 0) return { last: new Map(), read: new Map() }
  const found = await readShown(view.db, sides, viewer)
  const read = found.flatMap(({ place_key, place_read_seq, read_id }): [string, number][] =>
    read_id === null ? [] : [[placeOf({ conversation_key: place_key }, place_read_seq), read_id]],
  )
  // Several sides can be of one conversation.
  const rows = [...new Map(found.filter(isThere).map((row) => [row.id, row])).values()]
  const known = new Map([...(await partners), ...(viewer?.row ? [[viewer.uid, viewer.row] as const] : [])])
  const [messages, receipts] = await Promise.all([
    toMessages(view, rows, { viewer }),
    receiptsOfEach(view, rows, { limit: receiptsShown, viewer }, known),
  ])
  const last = messages.map((message, index): [string, Message] => {
    const row = rows[index] as SeenMessage
    return [placeOf(row, row.seq), { ...message, receipts: { data: receipts.get(row.id) ?? [] } }]
  })
  return { last: new Map(last), read: new Map(read) }
}

const isThere = (row: Shown): row is Shown & SeenMessage => row.id !== null

async function readShown(db: TenantDb, sides: Side[], viewer: Actor | undefined): Promise<Shown[]> {
  const places = sides.map(({ conversation_key, shown_seq, cleared_seq, read_seq }) => {
    // No message has the number 0.
    const shown = shown_seq > cleared_seq ? shown_seq : 0
    return sql`(CAST(${conversation_key} AS text), CAST(${shown} AS bigint), CAST(${read_seq} AS bigint))`
  })
  const wanted = [
    sql`messages.app_id = ${db.appId}`,
    sql`messages.conversation_key = place.conversation_key`,
    sql`messages.seq = place.shown_seq`,
    sql`messages.purged = 0`,
    sql`messages.deleted_at IS NULL`,
    ...(viewer ? await listedTo.ask(db, viewer) : []),
  ]
  return db.sql<Shown>`WITH place (conversation_key, shown_seq, read_seq) AS (VALUES ${sql.join(places)})
    SELECT place.conversation_key AS place_key, place.read_seq AS place_read_seq, (
        SELECT messages.id FROM messages WHERE messages.app_id = ${db.appId}
        AND messages.conversation_key = place.conversation_key AND messages.seq = place.read_seq) AS read_id,
      ${selectedFor(db, viewer?.uid)}
    FROM place LEFT JOIN messages ON ${sql.join(wanted, sql` AND `)}`.execute()
}

// Those of a large group can be listed page by page.
const receiptsShown = 10

type Partner = Record<string, unknown>

/** The other user or the group of each side. */
async function partnersOf(
  view: View,
  sides: Side[],
  how: ConversationView,
  reading: Promise<Map<string, UserRow>>,
): Promise<Map<string, Partner>> {
  const { db } = view
  const { viewer, withUserAndGroupTags = false, withBlockedInfo = false } = how
  const uids = sides.filter(isWithUser).map(withWhom)
  const guids = sides.filter((side) => !isWithUser(side)).map(withWhom)
  const [users, sees, groups, blocks] = await Promise.all([
    reading,
    sightOf(db, viewer, () => uids),
    groupsSeenBy(db, guids, viewer?.uid),
    withBlockedInfo && viewer && uids.length > 0 ? blocksBetween.ask(db, viewer.uid, uids) : new Map(),
  ])
  return new Map(
    sides.map((side): [string, Partner] => {
      const target = withWhom(side)
      if (side.type === 'user') {
        const user = users.get(target)
        const relation = { actorUid: viewer?.uid, blocks: blocks.get(target) }
        const seen = { ...relation, withTags: withUserAndGroupTags, veiled: !sees(target) }
        return [nameOf(side), user ? toUser(view, user, seen) : { uid: target }]
      }
      const known = groups.get(target)
      const seen = { withTags: withUserAndGroupTags, ...(viewer && { member: known?.member }) }
      return [nameOf(side), known ? toGroup(known.group, seen) : { guid: target }]
    }),
  )
}
