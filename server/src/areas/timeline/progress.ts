import { sql } from 'kysely'
import { channelKey } from '../../kit/channel.ts'
import type { View, Work } from '../../kit/work.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { relationBetween } from '../blocked-users/index.ts'
import { userChannel } from '../users/events.ts'
import type { Blocks } from '../users/index.ts'
import { findUser, systemUid, systemUser, toUser } from '../users/index.ts'
import { type CursorStep, receiptKinds, settleEverybody } from './cursors.ts'
import { deliveredToAll, groupChannel, messagesDelivered, messagesRead, readByAll } from './events.ts'
import { type ConversationKey, conversationIdOf, otherSide } from './place.ts'
import type { ConversationRow, MessageRow, ReceiptKind } from './tables.ts'

/** Tells whoever waits for it how far somebody has come. */
export async function tellProgress(
  work: Work,
  conversation: ConversationRow,
  uid: string,
  steps: Partial<Record<ReceiptKind, CursorStep>>,
): Promise<void> {
  const newest = await newestPassed(work.db, conversation, uid, steps)
  if (!newest) return
  const { conversation_key, type, first } = conversation
  const waiting = type === 'group' ? newest.sender : otherSide(conversation, uid)
  const { user, blocks } = await seenFrom(work, waiting, uid)
  const apart = Object.keys(blocks).length > 0
  const upTo = String(await idAt(work.db, conversation, newest, (steps.delivered ?? steps.read)?.to ?? newest.seq))
  for (const kind of receiptKinds) {
    const step = steps[kind]
    if (!step || newest.seq <= step.from) continue
    await work.emit(kind === 'read' ? messagesRead : messagesDelivered, {
      conversationId: conversationIdOf(conversation_key),
      receiver: type === 'group' ? first : newest.sender,
      receiverType: type,
      sender: uid,
      messageSender: newest.sender,
      messageId: String(newest.id),
      upTo,
      user,
      timestamp: work.now,
      audience: (type === 'group'
        ? [groupChannel(first)]
        : [...(apart ? [] : [userChannel(waiting)]), userChannel(uid)]
      ).map(channelKey),
    })
  }
}

// Whoever spoke longer ago than so many messages is told with what they say next.
const messagesLookedAt = 300

/** The newest message of somebody else that a move has passed; its author waits for the receipt. */
async function newestPassed(
  db: TenantDb,
  { conversation_key: conversationKey }: ConversationRow,
  uid: string,
  { delivered, read }: Partial<Record<ReceiptKind, CursorStep>>,
): Promise<MessageRow | undefined> {
  const first = Math.min(delivered?.from ?? Number.MAX_SAFE_INTEGER, read?.from ?? Number.MAX_SAFE_INTEGER)
  const to = (delivered ?? read)?.to ?? 0
  const passed = { conversationKey, uid, from: Math.max(first, to - messagesLookedAt), to }
  const [said] = await newestSaid(db, passed)
  // Nobody waits for those who see that they edited or joined; but the user's own devices show what is unread.
  return said ?? (await newestOfAll(db, passed))[0]
}

interface Passed {
  conversationKey: ConversationKey
  uid: string
  from: number
  to: number
}

function passedBy(db: TenantDb, { conversationKey, uid, from, to }: Passed) {
  return db
    .select('messages')
    .selectAll()
    .where('messages.conversation_key', '=', conversationKey)
    .where('messages.seq', '>', from)
    .where('messages.seq', '<=', to)
    .where('messages.sender', '!=', uid)
    .where('messages.purged', '=', 0)
    .orderBy('messages.seq', 'desc')
    .limit(1)
}

const newestOfAll = prepared<Passed, MessageRow>(passedBy)
const newestSaid = prepared<Passed, MessageRow>((db, passed) =>
  passedBy(db, passed).where(sql<boolean>`messages.category != 'action'`),
)

const messageAt = prepared<{ conversationKey: ConversationKey; seq: number }, Pick<MessageRow, 'id'>>(
  (db, { conversationKey, seq }) =>
    db
      .select('messages')
      .select('messages.id')
      .where('messages.conversation_key', '=', conversationKey)
      .where('messages.seq', '=', seq),
)

/** Which message has a number; that of a known one, where it is the one, or where nothing is left of the other. */
async function idAt(
  db: TenantDb,
  { conversation_key: conversationKey }: ConversationRow,
  known: MessageRow,
  seq: number,
): Promise<number> {
  if (known.seq === seq) return known.id
  const [found] = await messageAt(db, { conversationKey, seq })
  return found?.id ?? known.id
}

/** A user as the author of what they have read sees them: whoever marks something is there. */
async function seenFrom(
  view: View,
  author: string,
  uid: string,
): Promise<{ user: Record<string, unknown>; blocks: Blocks }> {
  const row = await findUser(view.db, uid)
  const blocks = await relationBetween(view.db, author, uid)
  const { hasBlockedMe = false, blockedByMe = false } = blocks
  const user = row ? toUser(view, row, { withTags: false }) : { uid }
  const deactivatedAt = row?.deactivated_at ?? 0
  return { user: { ...user, status: 'online', hasBlockedMe, blockedByMe, deactivatedAt }, blocks }
}

/** Notes how far everybody in a group has come by now, and tells those who waited for the last one. */
export async function settleAll(
  work: Work,
  conversation: ConversationRow,
  kinds: readonly ReceiptKind[] = receiptKinds,
): Promise<void> {
  for (const kind of kinds) {
    const step = await settleEverybody(work, conversation, kind)
    if (step) await tellAuthors(work, conversation, kind, step)
  }
}

async function tellAuthors(
  work: Work,
  { conversation_key, first: guid }: ConversationRow,
  kind: ReceiptKind,
  { from, to }: CursorStep,
): Promise<void> {
  const passed = await work.db
    .select('messages')
    .select(['messages.id', 'messages.sender'])
    .where('messages.conversation_key', '=', conversation_key)
    .where('messages.seq', '>', from)
    .where('messages.seq', '<=', to)
    .where('messages.purged', '=', 0)
    .where(sql<boolean>`messages.category != 'action'`)
    .orderBy('messages.seq', 'desc')
    .limit(messagesLookedAt)
    .execute()
  const [newest] = passed
  if (!newest) return
  await work.emit(kind === 'read' ? readByAll : deliveredToAll, {
    conversationId: conversationIdOf(conversation_key),
    receiver: guid,
    receiverType: 'group',
    sender: systemUid,
    messageSender: newest.sender,
    messageId: String(newest.id),
    upTo: String(newest.id),
    user: { ...systemUser, hasBlockedMe: false, blockedByMe: false, deactivatedAt: 0 },
    timestamp: work.now,
    audience: [...new Set(passed.map(({ sender }) => channelKey(userChannel(sender))))],
  })
}
