import { badRequest } from '../../kit/errors.ts'
import { useOne } from '../../kit/limits.ts'
import type { Actor, ReceivedFile } from '../../kit/operation.ts'
import type { View, Work } from '../../kit/work.ts'
import { putSearchEntries } from '../../storage/search.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { adoptAttachments, claimFiles, fileKeysOf, storedAttachment } from '../files/index.ts'
import {
  holdConversation,
  type MessageRow,
  messageSentAs,
  openConversation,
  type Place,
  placeOfKey,
  toMessage,
  toMessages,
  veilFor,
  writeMessage,
} from '../timeline/index.ts'
import type { Message } from '../timeline/schemas.ts'
import { blocksBetween, systemUid, toUser, usersByUid } from '../users/index.ts'
import { contentOf, flagsOf, isMedia, kindOf, type MessageContent, messageCharactersMax, objectOf } from './content.ts'
import {
  actionNotAllowed,
  blockedByExtension,
  emptyReceiver,
  invalidData,
  invalidMedia,
  invalidReceiverType,
  messageNotAccessible,
  messageNotFound,
  nestedThread,
  wrongThread,
  wrongThreadCategory,
} from './errors.ts'
import { messageSent } from './events.ts'
import { beforeSend, joinThread } from './gates.ts'
import { entityOf, placeFor, type Receiver, receiverFor, receiverId, refuseForbidden, type Speaker } from './parties.ts'
import type { MessageSend } from './schemas.ts'
import { findMessage, messagesList, refuseHidden, searchEntry, seenMessage } from './store.ts'

/** One message to one receiver, from what was sent to what is answered. */
export async function sendMessage(
  work: Work,
  speaker: Speaker,
  body: MessageSend,
  files: ReceivedFile[] = [],
): Promise<Message> {
  const { receiver: to, receiverType } = body
  if (to === undefined || to.trim() === '') throw emptyReceiver()
  if (receiverType !== 'user' && receiverType !== 'group') throw invalidReceiverType()
  const content = readContent(body, files, work.tools.fileLimits.countMax)
  return sendTo(work, speaker, { receiverType, to }, content, body)
}

/** The same for content that was checked already: it is checked once, however many it goes to. */
export async function sendTo(
  work: Work,
  speaker: Speaker,
  { receiverType, to }: { receiverType: 'user' | 'group'; to: string },
  content: MessageContent,
  body: MessageSend,
): Promise<Message> {
  const receiver = await receiverFor(work.db, receiverType, to)
  return deliver(work, speaker, receiver, content, body)
}

/** Checks the content before anything is looked up: it is the same for every receiver. */
export function readContent(body: MessageSend, files: ReceivedFile[], filesMax: number): MessageContent {
  const [first] = files
  const kind = kindOf(first && kindIsOpen(body) ? { ...body, type: typeFor(first) } : body)
  const data = dataOf(body, first !== undefined)
  if (data === undefined) throw badRequest({ data: ['is required'] })
  if (JSON.stringify(body).length > messageCharactersMax) {
    throw invalidData({
      reason: `and the rest of the message must not be longer than ${messageCharactersMax} characters`,
    })
  }
  return contentOf(kind, data, files.map(storedAttachment), filesMax)
}

/** A form may bring metadata in a field of their own, and a file without any words. */
function dataOf({ data, metadata }: MessageSend, hasFile: boolean): unknown {
  if (metadata === undefined) return data === undefined && hasFile ? {} : data
  const given = data === undefined ? {} : objectOf(data)
  return given ? { metadata, ...given } : data
}

/** A form that brings a file need not say what kind it is. */
function kindIsOpen({ category = 'message', type }: MessageSend): boolean {
  return category === 'message' && type === undefined
}

function typeFor({ mimeType }: ReceivedFile): string {
  const [main = ''] = mimeType.split('/')
  return ['image', 'audio', 'video'].includes(main) ? main : 'file'
}

/** Writes the message, unless it was written before under the same `muid`. */
export async function deliver(
  work: Work,
  speaker: Speaker,
  receiver: Receiver,
  content: MessageContent,
  { muid, parentMessageId, parentId = parentMessageId, quotedMessageId, tags }: MessageSend,
): Promise<Message> {
  const { db } = work
  const place = placeFor(speaker, receiver)
  await refuseForbidden(db, speaker, receiver, content, parentId !== undefined)
  const parent = parentId === undefined ? undefined : await requireParent(db, speaker, place, Number(parentId))
  const quoted = quotedMessageId === undefined ? undefined : await requireQuotable(db, place, Number(quotedMessageId))
  for (const linked of [parent, quoted]) if (linked) await refuseHidden(db, linked, speaker.actor)
  if (muid) {
    // Whoever comes second waits here until the first is written.
    await openConversation(db, place, work.now)
    const conversation = await holdConversation(db, place.conversationKey)
    const known = conversation && (await messageSentAs(db, conversation, speaker.uid, muid))
    if (known) return seenMessage(work, known.id, speaker.actor)
  }
  const kept = await withOwnFiles(work, content)
  // What a file was called counts for nothing where it is known what it is.
  if (kept !== content) await refuseForbidden(db, speaker, receiver, kept, parentId !== undefined)
  const proposal = { ...kept, sender: speaker.uid, receiver: receiverId(receiver), receiverType: receiver.type }
  const verdict = await beforeSend.ask(work, proposal)
  // Whoever wants a message held wants nobody to read it, so where it cannot be held it is not sent.
  if (verdict !== 'pass') throw blockedByExtension({ verdict })
  return write(work, speaker, receiver, place, kept, {
    muid: muid || undefined,
    tags,
    parent,
    quotedId: quoted?.id,
  })
}

interface Links {
  muid: string | undefined
  tags: string[] | undefined
  parent: MessageRow | undefined
  quotedId: number | undefined
}

async function write(
  work: Work,
  speaker: Speaker,
  receiver: Receiver,
  place: Place,
  content: MessageContent,
  { muid, tags, parent, quotedId }: Links,
): Promise<Message> {
  const { db } = work
  const mentions = await mentionedUsers(work, content.mentioned)
  const entities = {
    sender: { entity: speaker.entity, entityType: 'user' },
    receiver: entityOf(work, receiver, speaker),
  }
  const known = Object.keys(mentions)
  const { data } = content
  useOne(speaker.portion)
  const row = await writeMessage(work, place, {
    sender: speaker.uid,
    receiver: receiverId(receiver),
    category: content.category,
    type: content.type,
    data: { ...data, ...(known.length > 0 && { mentions }), entities },
    muid,
    parentId: parent?.id,
    quotedId,
    tags: tags && [...new Set(tags)],
    flags: flagsOf({ ...content, mentioned: known }),
    mentions: known,
  })
  if (isMedia(content)) await claim(db, data as Attached, row.id)
  if (tags && tags.length > 0) await putTags(db, row.id, tags)
  await putSearchEntries(db, messagesList, [searchEntry(row)])
  const notified = await notApart(db, speaker, known)
  if (parent) await countReply(work, parent, row, notified)
  // Nobody has done anything with it yet; only what it quotes has to be looked up.
  const bare = toMessage(work, row, {})
  const seenBy = async (viewer: Actor | undefined): Promise<Message> => {
    const shown = viewer ? { ...bare, threadSubscribed: true } : bare
    if (quotedId === undefined) return shown
    const [quoting] = await toMessages(work, [{ ...row, ...unseen }], { viewer })
    return quoting ?? shown
  }
  const message = await seenBy(undefined)
  await work.emit(messageSent, { message, mentioned: notified })
  if (!speaker.actor) return message
  const [shown = message] = await veilFor(db, speaker.actor, [await seenBy(speaker.actor)])
  return shown
}

type Attached = { attachments?: { url: string; mimeType: string }[] }

/** The content with files of ours, and what we know of them, in place of the addresses by which they were named. */
async function withOwnFiles({ db, tools }: Work, content: MessageContent): Promise<MessageContent> {
  if (!isMedia(content)) return content
  const named = (content.data as Attached).attachments ?? []
  const attachments = await adoptAttachments(db, tools, named)
  if (!attachments) throw invalidMedia({ reason: 'a file was never uploaded, or is gone' })
  if (attachments.every((each, index) => each === named[index])) return content
  return {
    ...content,
    data: { ...content.data, attachments, url: attachments[0]?.url },
    mimeTypes: attachments.map(({ mimeType }) => mimeType),
  }
}

/** Files of a message are its own from now on; one that went meanwhile cannot be sent. */
async function claim(db: TenantDb, { attachments = [] }: Attached, messageId: number): Promise<void> {
  const keys = fileKeysOf(attachments)
  if (keys.length === 0) return
  const claimed = await claimFiles(db, keys, messageId)
  if (claimed.length < keys.length) throw invalidMedia({ reason: 'a file is gone' })
}

const unseen = {
  delivered_at: null,
  read_at: null,
  delivered_to_me_at: null,
  read_by_me_at: null,
  saved_at: null,
  // Whoever begins a thread follows it.
  is_followed: 1 as const,
}

/** Those of the named who exist, as they are now. Their metadata stays out: it would be copied into every message. */
export async function mentionedUsers(view: View, uids: string[]): Promise<Record<string, object>> {
  const users = await usersByUid(view.db, uids)
  return Object.fromEntries(
    uids.flatMap((uid) => {
      const user = users.get(uid)
      return user?.deactivated_at === null
        ? [[uid, toUser(view, { ...user, metadata: null }, { withTags: false })]]
        : []
    }),
  )
}

/** Between two with a block nobody calls on the other; the name stands in the text all the same. */
async function notApart(db: TenantDb, speaker: Speaker, mentioned: string[]): Promise<string[]> {
  if (mentioned.length === 0 || speaker.id === '') return mentioned
  const blocks = await blocksBetween.ask(db, speaker.uid, mentioned)
  return mentioned.filter((uid) => !blocks.has(uid))
}

export async function putTags(db: TenantDb, id: number, tags: string[]): Promise<void> {
  const rows = [...new Set(tags)].map((tag) => ({ tag, message_id: id }))
  if (rows.length > 0) await db.insert('message_tags', rows).execute()
}

async function requireParent(
  db: TenantDb,
  speaker: Speaker,
  { conversationKey }: Place,
  id: number,
): Promise<MessageRow> {
  const parent = await findMessage(db, id)
  if (!parent) throw messageNotFound({ id })
  refuseOutsideApp(speaker, parent)
  if (parent.conversation_key !== conversationKey) throw wrongThread({ id })
  if (parent.parent_id !== null) throw nestedThread({ id })
  if (parent.category === 'action' || parent.category === 'call') throw wrongThreadCategory({ id })
  return parent
}

/** The app itself replies in groups and where it is one of the two; between two others somebody has to speak. */
export function refuseOutsideApp({ uid }: Speaker, { conversation_key }: MessageRow): void {
  const { type, first, second } = placeOfKey(conversation_key)
  if (uid !== systemUid || type === 'group' || [first, second].includes(systemUid)) return
  throw badRequest({ onBehalfOf: ['is required for a reply between two users'] })
}

async function requireQuotable(db: TenantDb, { conversationKey }: Place, id: number): Promise<MessageRow> {
  const quoted = await findMessage(db, id)
  if (!quoted) throw messageNotFound({ id })
  if (quoted.conversation_key !== conversationKey) throw messageNotAccessible({ id })
  if (quoted.category === 'action' || quoted.category === 'call') throw actionNotAllowed({ id })
  return quoted
}

/** A reply shows on the message that the thread belongs to; who wrote it and who is named in it follow the thread. */
async function countReply(work: Work, parent: MessageRow, reply: MessageRow, mentioned: string[]): Promise<void> {
  const counted = await work.db
    .update('messages')
    .set((value) => ({ reply_count: value('reply_count', '+', 1), updated_at: reply.sent_at }))
    .where('id', '=', parent.id)
    .where('purged', '=', 0)
    .returning('id')
    .executeTakeFirst()
  // Meanwhile it may have been removed for good.
  if (!counted) throw messageNotFound({ id: parent.id })
  await joinThread.ask(work, parent, [...new Set([reply.sender, ...mentioned])])
}
