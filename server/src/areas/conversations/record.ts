import { sql } from 'kysely'
import type { TenantDb } from '../../storage/tenant.ts'
import { groupsByGuid, membershipsIn, toGroup } from '../groups/index.ts'
import { messagesOf, receiptsOf, type SeenMessage, type Side, toMessages, withWhom } from '../timeline/index.ts'
import type { Message } from '../timeline/schemas.ts'
import { blocksBetween, systemUid, toUser, usersByUid } from '../users/index.ts'
import { unreadAmong } from './list.ts'
import type { Conversation } from './schemas.ts'
import { pinOf, systemPins, updatedAt } from './sides.ts'

export interface ConversationView {
  /** Whose side is shown to himself; absent where a server looks at everyone's. */
  viewer?: string | undefined
  withTags?: boolean | undefined
  withUserAndGroupTags?: boolean | undefined
  withBlockedInfo?: boolean | undefined
}

/** Records of conversations, with the last message, the other side and what is unread. */
export async function toConversations(db: TenantDb, sides: Side[], view: ConversationView): Promise<Conversation[]> {
  const partners = await partnersOf(db, sides, view)
  const pins = await systemPins(db)
  const records: Conversation[] = []
  for (const [uid, own] of Map.groupBy(sides, (side) => side.uid)) {
    const [last, unread, read] = [
      await lastMessages(db, own, uid),
      await unreadAmong(db, uid, own),
      await lastReadIds(db, own),
    ]
    for (const side of own) {
      const { messages = 0, mentions = 0 } = unread.get(side.conversation_id) ?? {}
      const pin = pinOf(side, pins)
      const lastReadMessageId = read.get(side.conversation_id)
      const lastMessage = last.get(side.conversation_id)
      records.push({
        conversationId: side.conversation_id,
        conversationType: side.type,
        ...(view.viewer === undefined && { uid }),
        unreadMessageCount: String(messages),
        ...(view.viewer !== undefined && { unreadMentionsCount: mentions }),
        ...(lastReadMessageId !== undefined && { lastReadMessageId: String(lastReadMessageId) }),
        createdAt: side.created_at,
        updatedAt: updatedAt(side),
        ...(lastMessage && { lastMessage }),
        conversationWith: partners.get(side.conversation_id + side.uid) ?? {},
        ...(view.withTags && side.tags !== null && { tags: JSON.parse(side.tags) }),
        ...(pin
          ? { pinnedBy: systemUid, pinnedAt: pin.pinned_at }
          : side.pinned_at !== null && { pinnedBy: side.uid, pinnedAt: side.pinned_at }),
      })
    }
  }
  return records
}

/** The message that each conversation shows; none after a reset, or where it was deleted. */
async function lastMessages(db: TenantDb, sides: Side[], uid: string): Promise<Map<string, Message>> {
  const wanted = sides.filter(({ shown_seq, cleared_seq }) => shown_seq > cleared_seq)
  if (wanted.length === 0) return new Map()
  const pairs = wanted.map(
    ({ conversation_id, shown_seq }) =>
      sql`(messages.conversation_id = ${conversation_id} AND messages.seq = ${shown_seq})`,
  )
  const rows = (await messagesOf(db, uid)
    .where(sql<boolean>`(${sql.join(pairs, sql` OR `)})`)
    .where('messages.deleted_at', 'is', null)
    .execute()) as SeenMessage[]
  const messages = await toMessages(db, rows, { viewer: uid })
  const shown = new Map<string, Message>()
  for (const [index, message] of messages.entries()) {
    const row = rows[index] as SeenMessage
    shown.set(row.conversation_id, {
      ...message,
      receipts: { data: await receiptsOf(db, row, { limit: receiptsShown }) },
    })
  }
  return shown
}

// Those of a large group can be listed page by page.
const receiptsShown = 10

async function lastReadIds(db: TenantDb, sides: Side[]): Promise<Map<string, number>> {
  const wanted = sides.filter(({ read_seq }) => read_seq > 0)
  if (wanted.length === 0) return new Map()
  const pairs = wanted.map(
    ({ conversation_id, read_seq }) =>
      sql`(messages.conversation_id = ${conversation_id} AND messages.seq = ${read_seq})`,
  )
  const { rows } = await sql<{ conversation_id: string; id: number }>`SELECT messages.conversation_id, messages.id
    FROM messages WHERE messages.app_id = ${db.appId} AND (${sql.join(pairs, sql` OR `)})`.execute(db.connection.query)
  return new Map(rows.map(({ conversation_id, id }) => [conversation_id, id]))
}

type Partner = Record<string, unknown>

/** The other user or the group of each side. */
async function partnersOf(db: TenantDb, sides: Side[], view: ConversationView): Promise<Map<string, Partner>> {
  const { viewer, withUserAndGroupTags = false, withBlockedInfo = false } = view
  const uids = sides.filter(({ type }) => type === 'user').map(withWhom)
  const guids = sides.filter(({ type }) => type === 'group').map(withWhom)
  const users = await usersByUid(db, uids)
  const groups = await groupsByGuid(db, guids)
  const memberships = viewer === undefined ? new Map() : await membershipsIn(db, viewer, [...groups.values()])
  const blocks =
    withBlockedInfo && viewer !== undefined && uids.length > 0 ? await blocksBetween.ask(db, viewer, uids) : new Map()
  return new Map(
    sides.map((side): [string, Partner] => {
      const target = withWhom(side)
      if (side.type === 'user') {
        const user = users.get(target)
        const seen = { actorUid: viewer, blocks: blocks.get(target), withTags: withUserAndGroupTags }
        return [side.conversation_id + side.uid, user ? toUser(user, seen) : { uid: target }]
      }
      const group = groups.get(target)
      const member = group && memberships.get(group.id)
      const seen = { withTags: withUserAndGroupTags, ...(viewer !== undefined && { member }) }
      return [side.conversation_id + side.uid, group ? toGroup(group, seen) : { guid: target }]
    }),
  )
}
