import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import type { InteractionRow } from './tables.ts'

export interface Interaction {
  elementId: string
  interactedAt: number
}

/** Records what a user did; what they did before keeps its first time. */
export async function addInteractions(
  { db, now }: Pick<Work, 'db' | 'now'>,
  messageId: number,
  uid: string,
  elementIds: string[],
): Promise<void> {
  const rows = [...new Set(elementIds)].map((element_id) => ({
    message_id: messageId,
    uid,
    element_id,
    interacted_at: now,
  }))
  await db
    .insert('interactions', rows)
    .onConflict((conflict) => conflict.columns(['app_id', 'message_id', 'uid', 'element_id']).doNothing())
    .execute()
}

/** What a user has done with some messages. */
export async function interactionsWith(
  db: TenantDb,
  ids: number[],
  viewer: string | undefined,
): Promise<Map<number, Interaction[]>> {
  const rows: InteractionRow[] = await db
    .select('interactions')
    .selectAll()
    .where('interactions.message_id', 'in', ids)
    .where('interactions.uid', '=', viewer ?? '')
    .orderBy('interactions.interacted_at')
    .orderBy('interactions.element_id')
    .execute()
  const done = Map.groupBy(rows, ({ message_id }) => message_id)
  return new Map(
    [...done].map(([id, all]) => [
      id,
      all.map(({ element_id, interacted_at }) => ({ elementId: element_id, interactedAt: interacted_at })),
    ]),
  )
}
