import { sql } from 'kysely'
import { badRequest } from '../../kit/errors.ts'
import type { Work } from '../../kit/work.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { actionNotAllowed } from '../messages/errors.ts'
import type { MessageRow, ReactionCount } from '../timeline/index.ts'
import type { ReactionRow } from './tables.ts'

const kindsMax = 25
const flag = 'r'

/** Adds a reaction; nothing, if it is there already. The message is held, so that limit and counts are right. */
export async function addReaction(
  { db, now }: Pick<Work, 'db' | 'now'>,
  { id }: Pick<MessageRow, 'id'>,
  uid: string,
  reaction: string,
): Promise<ReactionRow | undefined> {
  // Meanwhile it may have been deleted.
  if (!(await holdMessage(db, id))) throw actionNotAllowed({ id })
  const [known] = await reactionOf(db, { id, uid, reaction })
  if (known) return undefined
  const kinds = await kindsOf(db, { id })
  if (kinds.length >= kindsMax && !kinds.some((kind) => kind.reaction === reaction)) {
    throw badRequest({ reaction: [`must be one of the ${kindsMax} that the message has`] })
  }
  const [row] = await insertReaction(db, { id, reaction, uid, now })
  if (!row) throw new Error('A reaction was not written.')
  await countOneMore(db, { id, reaction, firstId: row.id })
  if (kinds.length === 0) await setFlag(db, id, true)
  return row
}

const kindsOf = prepared<{ id: number }, { reaction: string }>((db, { id }) =>
  db.select('reaction_counts').select('reaction_counts.reaction').where('reaction_counts.message_id', '=', id),
)

const insertReaction = prepared<{ id: number; reaction: string; uid: string; now: number }, ReactionRow>(
  (db, { id, reaction, uid, now }) =>
    db.insert('reactions', { message_id: id, reaction, uid, reacted_at: now }).returningAll(),
)

const countOneMore = prepared<{ id: number; reaction: string; firstId: number }, { n: number }>(
  (db, { id, reaction, firstId }) =>
    db
      .insert('reaction_counts', { message_id: id, reaction, n: 1, first_id: firstId })
      .onConflict((conflict) =>
        conflict.columns(['app_id', 'message_id', 'reaction']).doUpdateSet({ n: sql`reaction_counts.n + 1` }),
      )
      .returning('n'),
)

/** Reacts to a message by its id; for data that is made up. */
export async function reactTo(
  work: Pick<Work, 'db' | 'now'>,
  id: number,
  uid: string,
  reaction: string,
): Promise<void> {
  await addReaction(work, { id }, uid, reaction)
}

/** Takes a reaction back; nothing, if there is none. */
export async function removeReaction(
  db: TenantDb,
  { id }: Pick<MessageRow, 'id'>,
  uid: string,
  reaction: string,
): Promise<ReactionRow | undefined> {
  await holdMessage(db, id)
  const [row] = await deleteReaction(db, { id, uid, reaction })
  if (!row) return undefined
  const [count] = await countOneLess(db, { id, reaction })
  if (count && count.n > 0) return row
  await db.delete('reaction_counts').where('message_id', '=', id).where('n', '<=', 0).execute()
  if ((await kindsOf(db, { id })).length === 0) await setFlag(db, id, false)
  return row
}

const deleteReaction = prepared<{ id: number; uid: string; reaction: string }, ReactionRow>(
  (db, { id, uid, reaction }) =>
    db
      .delete('reactions')
      .where('message_id', '=', id)
      .where('uid', '=', uid)
      .where('reaction', '=', reaction)
      .returningAll(),
)

const countOneLess = prepared<{ id: number; reaction: string }, { n: number }>((db, { id, reaction }) =>
  db
    .update('reaction_counts')
    .set((value) => ({ n: value('n', '-', 1) }))
    .where('message_id', '=', id)
    .where('reaction', '=', reaction)
    .returning('n'),
)

const lockMessage = prepared<{ id: number }, { deleted_at: number | null }>((db, { id }) =>
  db.update('messages').set({ id }).where('id', '=', id).returning('deleted_at'),
)

/** Nobody else changes the message until the end; answers whether it still has content. */
async function holdMessage(db: TenantDb, id: number): Promise<boolean> {
  const [row] = await lockMessage(db, { id })
  return row?.deleted_at === null
}

/** Lists are filtered by flags. */
async function setFlag(db: TenantDb, id: number, on: boolean): Promise<void> {
  await db
    .update('messages')
    .set({ flags: on ? sql`flags || ${flag}` : sql`replace(flags, ${flag}, '')` })
    .where('id', '=', id)
    .execute()
}

const reactionOf = prepared<{ id: number; uid: string; reaction: string }, ReactionRow>((db, { id, uid, reaction }) =>
  db
    .select('reactions')
    .selectAll()
    .where('reactions.message_id', '=', id)
    .where('reactions.uid', '=', uid)
    .where('reactions.reaction', '=', reaction),
)

/** How often there is which reaction to each message, and whether the viewer's is among them. */
export async function countsOf(
  db: TenantDb,
  ids: number[],
  viewer: string | undefined,
): Promise<Map<number, ReactionCount[]>> {
  const isMine = sql<number | null>`(SELECT 1 FROM reactions WHERE reactions.app_id = ${db.appId}
    AND reactions.message_id = reaction_counts.message_id AND reactions.uid = ${viewer ?? ''}
    AND reactions.reaction = reaction_counts.reaction)`
  const counts = await db
    .select('reaction_counts')
    .selectAll('reaction_counts')
    .select(isMine.as('is_mine'))
    .where('reaction_counts.message_id', 'in', ids)
    .orderBy('reaction_counts.first_id')
    .execute()
  const byMessage = new Map<number, ReactionCount[]>()
  for (const { message_id, reaction, n, is_mine } of counts) {
    const all = byMessage.get(message_id) ?? []
    all.push({ reaction, count: n, ...(is_mine === 1 && { reactedByMe: true as const }) })
    byMessage.set(message_id, all)
  }
  return byMessage
}
