import { type JobDefinition, job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { eraseMessages, takeContents } from '../messages/index.ts'
import { type ConversationRow, holdConversation, type Side } from '../timeline/index.ts'
import { conversationDeleted, conversationReset } from './events.ts'

const atATime = 200

/** Hides all that was said from one user; what comes next brings the conversation back. */
export async function resetSide(work: Work, side: Side, keepPlace: boolean): Promise<void> {
  await clearRow(work.db, side, (await holdConversation(work.db, side.conversation_id)) ?? side, keepPlace)
  await work.emit(conversationReset, { uid: side.uid, conversationId: side.conversation_id })
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
    .where('conversation_id', '=', side.conversation_id)
    .where('uid', '=', side.uid)
    .execute()
}

/** Takes all that was said from everybody's sight, however many they are. Answers how far that is. */
async function clearForAll(work: Work, side: Side): Promise<ConversationRow> {
  const { conversation_id: conversationId } = side
  // The conversation is held by the change itself: what is said meanwhile comes after it.
  const cleared = await work.db
    .update('conversations')
    .set((value) => ({
      purged_seq: value.ref('conversations.last_seq'),
      purged_counted: value.ref('conversations.last_counted'),
      shown_seq: 0,
    }))
    .where('conversation_id', '=', conversationId)
    .returningAll()
    .executeTakeFirstOrThrow()
  await work.emit(conversationDeleted, {
    conversationId,
    uids: side.type === 'group' ? [] : [...new Set([side.first, side.second])],
    ...(side.type === 'group' && { guid: side.first }),
  })
  return cleared
}

/** Deletes what was said so far for everybody; the messages stay in the store without their content. */
export async function deleteForAll(work: Work, side: Side): Promise<void> {
  const { conversation_id: conversationId, last_seq: upTo } = await clearForAll(work, side)
  await work.later(deleteMessages, { conversationId, upTo, by: side.uid }, { key: `${conversationId} ${upTo}` })
}

/** Removes what was said so far for good: at once from everybody's sight, and then from the store, some at a time. */
export async function emptyForGood(work: Work, side: Side, keepPlace: boolean): Promise<void> {
  const cleared = await clearForAll(work, side)
  if (keepPlace) await clearRow(work.db, side, cleared, keepPlace)
  const { conversation_id: conversationId, last_seq: upTo } = cleared
  await work.later(emptyConversation, { conversationId, upTo }, { key: `${conversationId} ${upTo}` })
}

const Cleared = { conversationId: Type.String(), upTo: Type.Integer() }

function messagesUpTo(db: TenantDb, conversationId: string, upTo: number) {
  return db
    .select('messages')
    .where('messages.conversation_id', '=', conversationId)
    .where('messages.seq', '<=', upTo)
    .orderBy('messages.seq')
    .limit(atATime)
}

export const emptyConversation = job({
  name: 'conversations.empty',
  payload: Type.Object(Cleared),
  attemptsMax: Number.POSITIVE_INFINITY,
  async run({ conversationId, upTo }, work) {
    const rows = await messagesUpTo(work.db, conversationId, upTo).select('messages.id').execute()
    // Nobody's cursor stands before these any more, so not even their numbers are needed.
    await eraseMessages(
      work,
      rows.map(({ id }) => id),
    )
    return rows.length < atATime ? undefined : { againAt: work.now }
  },
})

export const deleteMessages: JobDefinition = job({
  name: 'conversations.deleteMessages',
  payload: Type.Object({ ...Cleared, by: Type.String(), after: Type.Optional(Type.Integer()) }),
  attemptsMax: Number.POSITIVE_INFINITY,
  async run({ conversationId, upTo, by, after = 0 }, work) {
    await holdConversation(work.db, conversationId)
    const rows = await messagesUpTo(work.db, conversationId, upTo)
      .selectAll('messages')
      .where('messages.seq', '>', after)
      .execute()
    await takeContents(
      work,
      rows.filter(({ deleted_at }) => deleted_at === null),
      by,
    )
    const last = rows.at(-1)
    if (!last || rows.length < atATime) return undefined
    const rest = { conversationId, upTo, by, after: last.seq }
    await work.later(deleteMessages, rest, { key: `${conversationId} ${upTo} ${last.seq}` })
    return undefined
  },
})
