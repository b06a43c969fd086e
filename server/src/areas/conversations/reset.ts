import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import { Emptied, emptySome, holdConversation, type Side } from '../timeline/index.ts'
import { conversationDeleted, conversationReset } from './events.ts'

/** Hides all that was said from one user; what comes next brings the conversation back. */
export async function resetSide(work: Work, side: Side, keepPlace: boolean): Promise<void> {
  const held = await holdConversation(work.db, side.conversation_id)
  await work.db
    .update('conversation_rows')
    .set({
      cleared_seq: held?.last_seq ?? side.last_seq,
      read_seq: held?.last_seq ?? side.last_seq,
      read_counted: held?.last_counted ?? side.last_counted,
      delivered_seq: held?.last_seq ?? side.last_seq,
      kept: keepPlace ? 1 : 0,
    })
    .where('conversation_id', '=', side.conversation_id)
    .where('uid', '=', side.uid)
    .execute()
  await work.emit(conversationReset, { uid: side.uid, conversationId: side.conversation_id })
}

/** Hides all that was said from everybody. Answers how far that is. */
export async function clearForAll(work: Work, side: Side): Promise<number> {
  const { db } = work
  const held = await holdConversation(db, side.conversation_id)
  const { last_seq, last_counted } = held ?? side
  await db
    .update('conversations')
    .set({ cleared_seq: last_seq, cleared_counted: last_counted })
    .where('conversation_id', '=', side.conversation_id)
    .execute()
  await work.emit(conversationDeleted, {
    conversationId: side.conversation_id,
    uids: side.type === 'group' ? [] : [...new Set([side.first, side.second])],
    ...(side.type === 'group' && { guid: side.first }),
  })
  return last_seq
}

/** Removes what was said so far for good: at once from everybody's sight, and then from the store, some at a time. */
export async function emptyForGood(work: Work, side: Side): Promise<void> {
  const upTo = await clearForAll(work, side)
  await work.db
    .update('conversations')
    .set({ purged_seq: upTo, shown_seq: 0 })
    .where('conversation_id', '=', side.conversation_id)
    .execute()
  const { conversation_id: conversationId } = side
  await work.later(emptyConversation, { conversationId, upTo }, { key: `${conversationId} ${upTo}` })
}

export const emptyConversation = job({
  name: 'conversations.empty',
  payload: Type.Object({
    conversationId: Type.String(),
    upTo: Type.Integer(),
    emptied: Type.Optional(Emptied),
  }),
  attemptsMax: Number.POSITIVE_INFINITY,
  bulk: true,
  async run(payload, work) {
    const { conversationId, upTo, emptied = {} } = payload
    const further = await emptySome(work, conversationId, upTo, emptied)
    return further && { againAt: work.now, payload: { ...payload, emptied: further } }
  },
})
