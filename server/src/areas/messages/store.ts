import type { Actor } from '../../kit/operation.ts'
import type { View } from '../../kit/work.ts'
import type { SearchEntry } from '../../storage/search.ts'
import { withoutAccents } from '../../storage/search-text.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { findGroup, findMember, type GroupMemberRow } from '../groups/index.ts'
import { policyOf } from '../rbac/index.ts'
import { scopeRules, scopeValuesFor } from '../scope-permissions/index.ts'
import { findRow, type MessageRow, messagesOf, notErased, type SeenMessage, toMessages } from '../timeline/index.ts'
import type { Message } from '../timeline/schemas.ts'
import { isMedia } from './content.ts'
import { messageNotAccessible, messageNotFound } from './errors.ts'

/** The name of the list, for search. */
export const messagesList = 'messages'

const messageById = prepared<{ id: number }, MessageRow>((db, { id }) =>
  db.select('messages').selectAll().where('messages.id', '=', id).where('messages.purged', '=', 0).where(notErased(db)),
)

export async function findMessage(db: TenantDb, id: number): Promise<MessageRow | undefined> {
  const [row] = await messageById(db, { id })
  return row
}

const digits = /^[0-9]{1,15}$/

/** The message that a path names, for a viewer who must be able to see it; for servers, without one. */
export async function requireMessage(db: TenantDb, id: string, viewer: Actor | undefined): Promise<MessageRow> {
  const row = digits.test(id) ? await findMessage(db, Number(id)) : undefined
  if (!row) throw messageNotFound({ id: id.slice(0, 40) })
  if (viewer && !(await maySee(db, row, viewer))) throw messageNotAccessible({ id: row.id })
  return row
}

/**
 * Two users see what is between them, also what the app did there; members see what is said in their group. A reset hides
 * what was before it.
 */
async function maySee(db: TenantDb, row: MessageRow, viewer: Actor): Promise<boolean> {
  const side = await findRow(db, row.conversation_key, viewer.uid)
  if (side && side.cleared_seq >= row.seq) return false
  if (row.receiver_type === 'user') return side !== undefined
  const group = await findGroup(db, row.receiver)
  const member = group && (await findMember(db, group, viewer.uid))
  return member !== undefined && seesFromScope(db, row, viewer, member)
}

/** A group may keep from a scope what was said before its members came. */
async function seesFromScope(
  db: TenantDb,
  { receiver, sent_at }: MessageRow,
  viewer: Actor,
  { scope, joined_at }: GroupMemberRow,
): Promise<boolean> {
  return scopeRules.seesOf(await scopeValuesFor(db, viewer, { guid: receiver, scope }), sent_at, joined_at)
}

/** Refuses to build on a message that whoever acts does not see: a reset has hidden it, or their scope does. */
export async function refuseHidden(db: TenantDb, row: MessageRow, actor: Actor | undefined): Promise<void> {
  if (!actor) return
  const side = await findRow(db, row.conversation_key, actor.uid)
  const isReset = side !== undefined && side.cleared_seq >= row.seq
  const goesByScope = row.receiver_type === 'group' && (await policyOf(db, actor)).hasScopeRules
  if (isReset || (goesByScope && !(await maySee(db, row, actor)))) throw messageNotAccessible({ id: row.id })
}

const messageAlone = prepared<{ id: number }, SeenMessage>((db, { id }) =>
  messagesOf(db, undefined).where('messages.id', '=', id),
)
const messageSeenBy = prepared<{ id: number; viewer: string }, SeenMessage>((db, { id, viewer }) =>
  messagesOf(db, viewer).where('messages.id', '=', id),
)

/** One message as a viewer sees it now. */
export async function seenMessage(view: View, id: number, viewer: Actor | undefined): Promise<Message> {
  const { db } = view
  const rows = viewer ? await messageSeenBy(db, { id, viewer: viewer.uid }) : await messageAlone(db, { id })
  const [message] = await toMessages(view, rows, { viewer })
  if (!message) throw messageNotFound({ id })
  return message
}

/** Where the words of a message stand without those whom it mentions; see `searchEntry`. */
export const fieldWithoutPeople = 1

/**
 * What a message can be found by: its text, the names of its files, those it mentions, and kinds of files. Where it mentions
 * people all of it stands once more without them, for whoever may not see them.
 */
export function searchEntry(
  row: Pick<MessageRow, 'id' | 'conversation_key' | 'category' | 'type' | 'data'>,
): SearchEntry {
  const { id, conversation_key } = row
  const { text = '', mentions = {}, ...content } = JSON.parse(row.data)
  const attachments = isMedia(row) ? content.attachments : []
  const names = attachments.map(({ name, mimeType }: { name: string; mimeType: string }) => `${name} ${mimeType}`)
  const people = Object.values(mentions as Record<string, { name: string }>).map(({ name }) => name)
  const joined = (...parts: string[]) => withoutAccents(parts.join(' '))
  const withoutPeople = joined(text, ...names)
  const texts = people.length > 0 ? [joined(text, ...names, ...people), withoutPeople] : [withoutPeople]
  return { id: String(id), at: id, texts, marks: [`${conversation_key}`] }
}
