import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { takeContents } from '../messages/index.ts'
import {
  type ConversationKey,
  type ConversationRow,
  conversationIdOf,
  Emptied,
  emptySome,
  holdConversation,
  type Side,
} from '../timeline/index.ts'
import { conversationDeleted, conversationReset } from './events.ts'

/** Hides all that was said from one user; what comes next brings the conversation back. */
export async function resetSide(work: Work, side: Side, keepPlace: boolean): Promise<void> {
  await clearRow(work.db, side, (await holdConversation(work.db, side.conversation_key)) ?? side, keepPlace)
  await work.emit(conversationReset, {
    uid: side.uid,
    conversationId: conversationIdOf(side.conversation_key),
    preserveOrder: keepPlace,
  })
}

async function clearRow(
  db: TenantDb,
  side: Side,
  { last_seq, last_counted }: Pick<ConversationRow, 'last_seq' | 'last_counted'>,
  keepPlace: boolean,
): Promise<void> {
  await db
    .update('conversation_rows')
    .set({
      cleared_seq: last_seq,
      read_seq: last_seq,
      read_counted: last_counted,
      delivered_seq: last_seq,
      kept: keepPlace ? 1 : 0,
    })
    .where('conversation_key', '=', side.conversation_key)
    .where('uid', '=', side.uid)
    .execute()
}

/** Takes all that was said from everybody's sight, however many they are. Answers how far that is. */
async function clearForAll(work: Work, side: Side, forGood: boolean, keepPlace = false): Promise<ConversationRow> {
  const { conversation_key: conversationKey } = side
  // The conversation is held by the change itself: what is said meanwhile comes after it.
  const cleared = await work.db
    .update('conversations')
    .set((value) => ({
      purged_seq: value.ref('conversations.last_seq'),
      purged_counted: value.ref('conversations.last_counted'),
      ...(forGood && { erased_seq: value.ref('conversations.last_seq') }),
      shown_seq: 0,
    }))
    .where('conversation_key', '=', conversationKey)
    .returningAll()
    .executeTakeFirstOrThrow()
  await work.emit(conversationDeleted, {
    conversationId: conversationIdOf(conversationKey),
    uids: side.type === 'group' ? [] : [...new Set([side.first, side.second])],
    ...(side.type === 'group' && { guid: side.first }),
    ...(keepPlace && { keptBy: side.uid }),
  })
  return cleared
}

/** Deletes what was said so far for everybody; the messages stay in the store without their content. */
export async function deleteForAll(work: Work, side: Side): Promise<void> {
  const { conversation_key: conversationKey, last_seq: upTo } = await clearForAll(work, side, false)
  await work.later(deleteMessages, { conversationKey, upTo, by: side.uid }, { key: `${conversationKey} ${upTo}` })
}

/** Removes what was said so far for good: at once from everybody's sight, and then from the store, some at a time. */
export async function emptyForGood(work: Work, side: Side, keepPlace: boolean): Promise<void> {
  const cleared = await clearForAll(work, side, true, keepPlace)
  if (keepPlace) await clearRow(work.db, side, cleared, keepPlace)
  const { conversation_key: conversationKey, last_seq: upTo } = cleared
  await work.later(emptyConversation, { conversationKey, upTo }, { key: `${conversationKey} ${upTo}` })
}

// Each of these takes several statements of its own.
const contentsPerBatch = 50

const Cleared = { conversationKey: Type.Unsafe<ConversationKey>({ type: 'string' }), upTo: Type.Integer() }

export const emptyConversation = job({
  name: 'conversations.empty',
  payload: Type.Object({ ...Cleared, emptied: Type.Optional(Emptied) }),
  attemptsMax: Number.POSITIVE_INFINITY,
  bulk: true,
  async run(payload, work) {
    const { conversationKey, upTo, emptied = {} } = payload
    const further = await emptySome(work, conversationKey, upTo, emptied)
    return further && { againAt: work.now, payload: { ...payload, emptied: further } }
  },
})

export const deleteMessages = job({
  name: 'conversations.deleteMessages',
  payload: Type.Object({ ...Cleared, by: Type.String(), after: Type.Optional(Type.Integer()) }),
  attemptsMax: Number.POSITIVE_INFINITY,
  bulk: true,
  async run(payload, work) {
    const { conversationKey, upTo, by, after = 0 } = payload
    await holdConversation(work.db, conversationKey)
    const rows = await work.db
      .select('messages')
      .selectAll()
      .where('messages.conversation_key', '=', conversationKey)
      .where('messages.seq', '>', after)
      .where('messages.seq', '<=', upTo)
      .orderBy('messages.seq')
      .limit(contentsPerBatch)
      // In the order in which others hold them, whatever order they are changed in.
      .modifyEnd(work.db.holdRows)
      .execute()
    await takeContents(
      work,
      rows.filter(({ deleted_at }) => deleted_at === null),
      by,
    )
    const last = rows.at(-1)
    return last && { againAt: work.now, payload: { ...payload, after: last.seq } }
  },
})
