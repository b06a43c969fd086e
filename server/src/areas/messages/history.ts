import type { TenantDb } from '../../storage/tenant.ts'

/**
 * The history tells of edits and deletions with the message inside, as it was then. What a message has lost must not live
 * on there, so it is known which actions tell of which message.
 */
export async function noteAction(db: TenantDb, messageId: number, actionId: number): Promise<void> {
  await db.insert('message_actions', { message_id: messageId, action_id: actionId }).execute()
  const older = await olderThanKept(db, messageId)
  if (older.length === 0) return
  await blank(db, older, withoutTrace)
  await db.delete('message_actions').where('message_id', '=', messageId).where('action_id', 'in', older).execute()
}

// With the deletion of a message all of them are written anew, and a message can be edited without end.
const actionsKept = 100

/** The actions on a message that are only to tell that something was done, not what; few, unless there never was a limit. */
async function olderThanKept(db: TenantDb, messageId: number): Promise<number[]> {
  const rows = await db
    .select('message_actions')
    .select('message_actions.action_id')
    .where('message_actions.message_id', '=', messageId)
    .orderBy('message_actions.action_id', 'desc')
    .offset(actionsKept)
    .limit(actionsKept)
    .execute()
  return rows.map(({ action_id }) => action_id)
}

interface Told {
  data: Record<string, unknown>
  [name: string]: unknown
}

/** What stays of a deleted message: that it was there, and whose it was. */
export function withoutContent({ data: { entities }, tags: _, quotedMessage: __, ...rest }: Told): object {
  return { ...rest, data: { entities } }
}

/** What stays of a message that is gone for good. */
export function withoutTrace({ id, conversationId, category, type, sentAt }: Told): object {
  return { id, conversationId, category, type, sentAt, data: {} }
}

/** Those of some messages of which the history tells. */
export async function toldAmong(db: TenantDb, ids: number[]): Promise<number[]> {
  const rows = await db
    .select('message_actions')
    .select('message_actions.message_id')
    .distinct()
    .where('message_actions.message_id', 'in', ids)
    .execute()
  return rows.map(({ message_id }) => message_id)
}

/** Takes out of the history what a message has lost. */
export async function blankActions(db: TenantDb, messageId: number, left: (told: Told) => object): Promise<void> {
  const rows = await db
    .select('message_actions')
    .select('message_actions.action_id')
    .where('message_actions.message_id', '=', messageId)
    .execute()
  const ids = rows.map(({ action_id }) => action_id)
  for (let from = 0; from < ids.length; from += actionsKept) await blank(db, ids.slice(from, from + actionsKept), left)
}

async function blank(db: TenantDb, actionIds: number[], left: (told: Told) => object): Promise<void> {
  const rows = await db
    .select('messages')
    .select(['messages.id', 'messages.data'])
    .where('messages.id', 'in', actionIds)
    .where('messages.purged', '=', 0)
    .execute()
  for (const { id, data } of rows) {
    const told = JSON.parse(data)
    told.entities.on.entity = left(told.entities.on.entity)
    await db
      .update('messages')
      .set({ data: JSON.stringify(told) })
      .where('id', '=', id)
      .execute()
  }
}
