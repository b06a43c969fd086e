import { sql } from 'kysely'
import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { messagesErased } from '../timeline/events.ts'
import { type MessageRow, messagesPerBatch } from '../timeline/index.ts'
import { blankActions, toldAmong, withoutTrace } from './history.ts'

type Purgeable = Pick<MessageRow, 'id' | 'parent_id' | 'reply_count'>

/**
 * Removes messages for good. What is left of each is its number in the conversation, without content or names: counts
 * of what people have not read are differences of these numbers. What else was kept about them goes with the event.
 */
export async function purge(work: Work, rows: Purgeable[]): Promise<void> {
  const { db, now } = work
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return
  await uncountReplies(db, rows)
  for (const id of await toldAmong(db, ids)) await blankActions(db, id, withoutTrace)
  for (const { id, reply_count } of rows) {
    if (reply_count > 0) await work.later(purgeReplies, { parentId: id }, { key: String(id) })
  }
  await work.emit(messagesErased, { ids })
  await db
    .update('messages')
    .set({
      purged: 1,
      data: '{}',
      sender: '',
      receiver: '',
      flags: '',
      muid: null,
      tags: null,
      parent_id: null,
      quoted_id: null,
      reply_count: 0,
      pinned_at: null,
      pinned_by: null,
      deleted_at: sql`coalesce(deleted_at, ${now})`,
    })
    .where('id', 'in', ids)
    .execute()
}

/** Replies that are gone no longer show on the messages that they belonged to. */
async function uncountReplies(db: TenantDb, rows: Purgeable[]): Promise<void> {
  const gone = Map.groupBy(rows, ({ parent_id }) => parent_id)
  gone.delete(null)
  for (const [parentId, replies] of [...gone].toSorted(([a], [b]) => Number(a) - Number(b))) {
    await db
      .update('messages')
      .set((value) => ({ reply_count: value('reply_count', '-', replies.length) }))
      .where('id', '=', parentId as number)
      .where('reply_count', '>=', replies.length)
      .execute()
  }
}

/** The thread of a message goes with it, some replies at a time. */
export const purgeReplies = job({
  name: 'messages.purgeReplies',
  payload: Type.Object({ parentId: Type.Integer(), after: Type.Optional(Type.Integer()) }),
  attemptsMax: Number.POSITIVE_INFINITY,
  bulk: true,
  async run({ parentId, after = 0 }, work) {
    const replies = await work.db
      .select('messages')
      .select(['messages.id', 'messages.parent_id', 'messages.reply_count'])
      .where('messages.parent_id', '=', parentId)
      .where('messages.id', '>', after)
      .orderBy('messages.id')
      .limit(messagesPerBatch)
      .modifyEnd(work.db.holdRows)
      .execute()
    await purge(work, replies)
    const last = replies.at(-1)
    return last && { againAt: work.now, payload: { parentId, after: last.id } }
  },
})
