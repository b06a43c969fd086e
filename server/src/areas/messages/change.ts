import { badRequest } from '../../kit/errors.ts'
import type { Actor } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import { putSearchEntries, removeSearchEntries } from '../../storage/search.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { releaseFiles } from '../files/index.ts'
import { findGroup, toGroup } from '../groups/index.ts'
import { policyOf, refuseUnless, roleRules } from '../rbac/index.ts'
import { scopeRules, scopeValuesFor } from '../scope-permissions/index.ts'
import {
  addMentions,
  audienceFor,
  type Entity,
  holdConversation,
  type MessageRow,
  placeOfKey,
  toMessage,
  writeAction,
} from '../timeline/index.ts'
import type { Message } from '../timeline/schemas.ts'
import { findUser, systemRecord, systemUid, toUser } from '../users/index.ts'
import { editedContent, flagsOf } from './content.ts'
import { messageNotFound } from './errors.ts'
import { messageDeleted, messageEdited, messagePurged, messagesCleared } from './events.ts'
import { blankActions, noteAction, withoutContent } from './history.ts'
import { refuseAcrossBlock, scopeOver, speakerFor } from './parties.ts'
import { purge } from './purge.ts'
import { refusalToChange, refuseUntouchable } from './rules.ts'
import { mentionedUsers, putTags } from './send.ts'
import { messagesList, searchEntry, seenMessage } from './store.ts'

/** Changes to messages that were sent. Each leaves an action message in the history, which is also what is answered. */

export async function editMessage(
  work: Work,
  seen: MessageRow,
  actor: Actor | undefined,
  { data, tags }: { data?: unknown; tags?: string[] | undefined },
): Promise<Message> {
  const { db, now } = work
  const row = await held(db, seen)
  refuseUntouchable(row)
  await refuseChange(db, row, actor, 'edit')
  await refuseAcrossBlock(db, row, actor)
  if (data === undefined && tags === undefined) throw badRequest({ data: ['is required'] })
  const { mentions: _, entities, ...stored } = JSON.parse(row.data)
  const content = editedContent(row, stored, data === undefined ? {} : data)
  const mentions = await mentionedUsers(work, content.mentioned)
  const known = Object.keys(mentions)
  const by = actor?.uid ?? systemUid
  const kept = row.flags.includes('r') ? 'r' : ''
  const changed = await update(db, row.id, {
    data: JSON.stringify({ ...content.data, ...(known.length > 0 && { mentions }), entities }),
    flags: `${flagsOf({ ...content, mentioned: known })}${kept}`,
    ...(tags !== undefined && { tags: tags.length === 0 ? null : JSON.stringify([...new Set(tags)]) }),
    edited_at: now,
    edited_by: by,
    updated_at: now,
  })
  await db.delete('message_mentions').where('message_id', '=', row.id).execute()
  await addMentions(db, changed, known)
  if (tags !== undefined) {
    await db.delete('message_tags').where('message_id', '=', row.id).execute()
    await putTags(db, row.id, tags)
  }
  await putSearchEntries(db, messagesList, [searchEntry(changed)])
  const message = await seenMessage(work, changed.id, undefined)
  const action = await tell(work, row, actor, 'edited', message)
  await work.emit(messageEdited, { message, action })
  return action
}

/**
 * The message as it is once nobody else can change it. The conversation comes first, as for those who write to it; of
 * an edit, a deletion and a reaction at once, each sees the one before it.
 */
async function held(db: TenantDb, { id, conversation_key }: MessageRow): Promise<MessageRow> {
  const conversation = await holdConversation(db, conversation_key)
  const row = await db
    .update('messages')
    .set({ id })
    .where('id', '=', id)
    .where('purged', '=', 0)
    .returningAll()
    .executeTakeFirst()
  // A group or conversation that is gone meanwhile has taken its messages along, cleared away or not.
  if (!row || row.seq <= (conversation?.erased_seq ?? row.seq)) throw messageNotFound({ id })
  return row
}

/** Takes the content away; that there was a message stays. */
export async function deleteMessage(work: Work, seen: MessageRow, actor: Actor | undefined): Promise<Message> {
  const { db } = work
  const row = await held(db, seen)
  refuseUntouchable(row)
  await refuseChange(db, row, actor, 'delete')
  await takeContent(work, row, actor?.uid ?? systemUid)
  const message = await seenMessage(work, row.id, undefined)
  const action = await tell(work, row, actor, 'deleted', message)
  await work.emit(messageDeleted, { message, action })
  return action
}

async function takeContent(work: Work, row: MessageRow, by: string): Promise<void> {
  const { db, now } = work
  const { entities } = JSON.parse(row.data)
  const taken = await db
    .update('messages')
    .set({
      data: JSON.stringify({ entities }),
      flags: '',
      tags: null,
      deleted_at: now,
      deleted_by: by,
      updated_at: now,
      pinned_at: null,
      pinned_by: null,
    })
    .where('id', '=', row.id)
    // What is gone for good meanwhile has not even names left.
    .where('purged', '=', 0)
    .returning('id')
    .executeTakeFirst()
  if (!taken) return
  await forgetContent(db, row)
  await releaseFiles(work, [row.id])
  await blankActions(db, row.id, withoutContent)
}

/** The same for messages that nobody sees any more: no action tells of each. */
export async function takeContents(work: Work, rows: MessageRow[], by: string): Promise<void> {
  // The newest first: an action holds what it tells of, and loses it with the message, which is older.
  for (const row of rows.toSorted((a, b) => b.seq - a.seq)) await takeContent(work, row, by)
  if (rows.length > 0) await work.emit(messagesCleared, { ids: rows.map(({ id }) => id), by, at: work.now })
}

/** What is said of a message that is gone for good. */
export interface Removal {
  /** To whoever removed it, and once: the message as it was. */
  answer: Message
  /** To everybody else: that it is gone. */
  told: Message
}

/**
 * Removes a message and its thread for good. The action is told and not kept, and what the message said stands in the
 * answer alone: events and whatever else is written live on.
 */
export async function deleteForGood(work: Work, seen: MessageRow, actor: Actor | undefined): Promise<Removal> {
  const { db, now } = work
  const row = await held(db, seen)
  if (row.category === 'action' || row.category === 'call') refuseUntouchable(row)
  await refuseChange(db, row, actor, 'delete')
  const by = actor?.uid ?? systemUid
  const { deletedAt: _, deletedBy: __, ...was } = await seenMessage(work, row.id, undefined)
  const { entities } = JSON.parse(row.data)
  const gone = { ...row, data: JSON.stringify({ entities }), deleted_at: now, deleted_by: by, updated_at: now }
  const message = toMessage(work, gone, {})
  const id = String(await db.takeId('messages'))
  const telling = async (inside: Message): Promise<Message> => ({
    id,
    conversationId: message.conversationId,
    sender: by,
    receiver: row.receiver,
    receiverType: row.receiver_type,
    category: 'action',
    type: 'message',
    data: { action: 'deleted', entities: await entitiesOf(work, row, actor, inside) },
    sentAt: now,
    updatedAt: now,
  })
  const [answer, told] = [await telling(was), await telling(message)]
  await purge(work, [row])
  await work.emit(messagePurged, { message, action: told, audience: await audienceFor(db, row, by) })
  return { answer, told }
}

async function update(db: TenantDb, id: number, columns: Partial<MessageRow>): Promise<MessageRow> {
  return db.update('messages').set(columns).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}

async function forgetContent(db: TenantDb, { id }: MessageRow): Promise<void> {
  await db.delete('message_mentions').where('message_id', '=', id).execute()
  await db.delete('message_tags').where('message_id', '=', id).execute()
  await removeSearchEntries(db, messagesList, [String(id)])
}

/** Who may: by role first, then by the scope in the group, then by the message. */
async function refuseChange(
  db: TenantDb,
  row: MessageRow,
  actor: Actor | undefined,
  change: 'edit' | 'delete',
): Promise<void> {
  if (!actor) return
  const scope = await scopeOver(db, row, actor.uid)
  const isReply = row.parent_id !== null
  const [byRole, byScope] =
    change === 'edit'
      ? [roleRules.mayEditMessage, scopeRules.mayEditHere]
      : [roleRules.mayDeleteMessage, scopeRules.mayDeleteHere]
  refuseUnless(byRole(await policyOf(db, actor), { isReply, scope }))
  if (scope) refuseUnless(byScope(await scopeValuesFor(db, actor, { guid: row.receiver, scope }), isReply))
  const refusal = refusalToChange(row, { uid: actor.uid, scope })
  if (refusal) throw refusal
}

async function tell(
  work: Work,
  row: MessageRow,
  actor: Actor | undefined,
  action: string,
  message: Message,
): Promise<Message> {
  const { by, on, for: where } = await entitiesOf(work, row, actor, message)
  const sender = actor?.uid ?? systemUid
  const told = await writeAction(work, placeOfKey(row.conversation_key), {
    type: 'message',
    action,
    sender,
    receiver: row.receiver_type === 'group' || sender !== row.receiver ? row.receiver : row.sender,
    by,
    on,
    for: where,
    inThread: row.parent_id !== null,
  })
  await noteAction(work.db, row.id, Number(told.id))
  return told
}

async function entitiesOf(
  work: Work,
  row: MessageRow,
  actor: Actor | undefined,
  // What it quotes is another's to take back, and the history of this one would not hear of it.
  { quotedMessage: _, ...message }: Message,
) {
  const by: Entity = {
    entity: actor ? (await speakerFor(work, actor)).entity : await systemRecord(work),
    entityType: 'user',
  }
  const on: Entity = { entity: message, entityType: 'message' }
  return { by, on, for: await whereTold(work, row, actor) }
}

/** The other side, or the group; as the message has it where it is gone. */
async function whereTold(work: Work, row: MessageRow, actor: Actor | undefined): Promise<Entity> {
  const { db } = work
  if (row.receiver_type === 'group') {
    const group = await findGroup(db, row.receiver)
    return { entity: group ? toGroup(group) : { guid: row.receiver }, entityType: 'group' }
  }
  const uid = actor?.uid === row.receiver ? row.sender : row.receiver
  if (uid === systemUid) return { entity: await systemRecord(work), entityType: 'user' }
  const user = await findUser(db, uid)
  return { entity: user ? toUser(work, user, { withTags: false }) : { uid }, entityType: 'user' }
}
