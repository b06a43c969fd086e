import { sql } from 'kysely'
import { badRequest } from '../../kit/errors.ts'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
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
  const known = await find(db, id, uid, reaction)
  if (known) return undefined
  const kinds = await db
    .select('reaction_counts')
    .select('reaction_counts.reaction')
    .where('reaction_counts.message_id', '=', id)
    .execute()
  if (kinds.length >= kindsMax && !kinds.some((kind) => kind.reaction === reaction)) {
    throw badRequest({ reaction: [`must be one of the ${kindsMax} that the message has`] })
  }
  const row = await db
    .insert('reactions', { message_id: id, reaction, uid, reacted_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
  await db
    .insert('reaction_counts', { message_id: id, reaction, n: 1, first_id: row.id })
    .onConflict((conflict) =>
      conflict.columns(['app_id', 'message_id', 'reaction']).doUpdateSet({ n: sql`reaction_counts.n + 1` }),
    )
    .execute()
  if (kinds.length === 0) await setFlag(db, id, true)
  return row
}

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
  const row = await db
    .delete('reactions')
    .where('message_id', '=', id)
    .where('uid', '=', uid)
    .where('reaction', '=', reaction)
    .returningAll()
    .executeTakeFirst()
  if (!row) return undefined
  await db
    .update('reaction_counts')
    .set((value) => ({ n: value('n', '-', 1) }))
    .where('message_id', '=', id)
    .where('reaction', '=', reaction)
    .execute()
  await db.delete('reaction_counts').where('message_id', '=', id).where('n', '<=', 0).execute()
  const left = await db
    .select('reaction_counts')
    .select('reaction_counts.n')
    .where('reaction_counts.message_id', '=', id)
    .limit(1)
    .executeTakeFirst()
  if (!left) await setFlag(db, id, false)
  return row
}

/** Nobody else changes the message until the end; answers whether it still has content. */
async function holdMessage(db: TenantDb, id: number): Promise<boolean> {
  const row = await db.update('messages').set({ id }).where('id', '=', id).returning('deleted_at').executeTakeFirst()
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

function find(db: TenantDb, id: number, uid: string, reaction: string): Promise<ReactionRow | undefined> {
  return db
    .select('reactions')
    .selectAll()
    .where('reactions.message_id', '=', id)
    .where('reactions.uid', '=', uid)
    .where('reactions.reaction', '=', reaction)
    .executeTakeFirst() as Promise<ReactionRow | undefined>
}

/** How often there is which reaction to each message, and whether the viewer's is among them. */
export async function countsOf(
  db: TenantDb,
  ids: number[],
  viewer: string | undefined,
): Promise<Map<number, ReactionCount[]>> {
  const counts = await db
    .select('reaction_counts')
    .selectAll()
    .where('reaction_counts.message_id', 'in', ids)
    .orderBy('reaction_counts.first_id')
    .execute()
  const own =
    viewer === undefined
      ? []
      : await db
          .select('reactions')
          .select(['reactions.message_id', 'reactions.reaction'])
          .where('reactions.message_id', 'in', ids)
          .where('reactions.uid', '=', viewer)
          .execute()
  const mine = new Set(own.map(({ message_id, reaction }) => `${message_id} ${reaction}`))
  const byMessage = new Map<number, ReactionCount[]>()
  for (const { message_id, reaction, n } of counts) {
    const all = byMessage.get(message_id) ?? []
    all.push({ reaction, count: n, ...(mine.has(`${message_id} ${reaction}`) && { reactedByMe: true as const }) })
    byMessage.set(message_id, all)
  }
  return byMessage
}
