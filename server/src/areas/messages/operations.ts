import { cursorsOf } from '../../common/cursor.ts'
import { paginationOf, sliceOf } from '../../common/page.ts'
import { one } from '../../common/reply.ts'
import { ApiError, badRequest } from '../../kit/errors.ts'
import type { Portion } from '../../kit/limits.ts'
import { type Actor, operation, type ReceivedFile } from '../../kit/operation.ts'
import { Type } from '../../kit/schema.ts'
import type { View, Work } from '../../kit/work.ts'
import { ToldOnce } from '../../plain/ready-made.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { blockedReceiver, blockedSender } from '../blocked-users/errors.ts'
import { bannedFromGroup, groupNotFound, groupNotJoined } from '../groups/errors.ts'
import { requireGroup } from '../groups/index.ts'
import { permissionDenied } from '../rbac/errors.ts'
import {
  type ConversationKey,
  findConversation,
  findConversations,
  findRow,
  type Place,
  placeOfGroup,
  placeOfUsers,
  placesNamed,
  receiptsOf,
  sidesAmong,
  veilFor,
} from '../timeline/index.ts'
import { Message } from '../timeline/schemas.ts'
import { userNotFound } from '../users/errors.ts'
import { requireActiveUser, toUser } from '../users/index.ts'
import { deleteForGood, deleteMessage, editMessage } from './change.ts'
import type { MessageContent } from './content.ts'
import * as failures from './errors.ts'
import { type Asking, limitMaxFor, readStretch } from './list.ts'
import { messagesOfUser } from './list-of-user.ts'
import { refuseOfStrangers, requireScope, type Speaker, speakerFor } from './parties.ts'
import { messageRate } from './rates.ts'
import {
  MessageDelete,
  MessageEdit,
  MessageListQuery,
  MessagePage,
  MessageSend,
  MessageStretch,
  ReceiptListQuery,
  ReceiptStretch,
  receiptLimits,
  receiversMax,
  type SentAnswer,
  SentToMany,
  UnreadCounts,
  UnreadCountsByKind,
  UserMessageListQuery,
} from './schemas.ts'
import { readContent, sendMessage as sendOne, sendTo } from './send.ts'
import { requireMessage, seenMessage } from './store.ts'
import { countsByKind, unreadCounts } from './unread-counts.ts'
import { shown } from './view.ts'
import { type InConversation, keysIn, type WayScope } from './ways.ts'

const messageBytesMax = 262_144

/** Everything that can be wrong with what is said. */
export const contentErrors = [
  failures.emptyCategory,
  failures.invalidCategory,
  failures.emptyType,
  failures.invalidType,
  failures.invalidData,
  failures.emptyText,
  failures.invalidText,
  failures.emptyFile,
  failures.invalidMedia,
  failures.tooManyFiles,
  failures.emptyCustomData,
  failures.invalidCustomData,
  failures.invalidMetadata,
]

/** Everything that can stand in the way of a message. */
export const sendErrors = [
  ...contentErrors,
  failures.emptyReceiver,
  failures.invalidReceiverType,
  failures.messageNotFound,
  failures.messageNotAccessible,
  failures.actionNotAllowed,
  failures.wrongThread,
  failures.nestedThread,
  failures.wrongThreadCategory,
  failures.blockedByExtension,
  blockedReceiver,
  blockedSender,
  userNotFound,
  groupNotFound,
  groupNotJoined,
  bannedFromGroup,
  permissionDenied,
]

/** What all ways of sending have in common for whoever sends. */
const sending = {
  doors: ['server', 'client'] as ('server' | 'client')[],
  onBehalfOf: 'optional' as const,
  may: 'createMessage',
  userRate: messageRate,
  takesFiles: true as const,
  bodyBytesMax: messageBytesMax,
  body: MessageSend,
  errors: sendErrors,
}

const sendMessage = operation({
  ...sending,
  id: 'sendMessage',
  route: 'POST /messages',
  summary: 'Send a message',
  description:
    'To a user, a group, or up to 100 receivers at once, which are then answered one by one. Without an acting user the ' +
    'app itself speaks, and asks nobody.',
  userCount: ({ multipleReceivers }) => receiversIn(multipleReceivers),
  reply: Type.Union([one(Message), one(SentToMany)]),
  run: async (call) => sendToAll(call, await speakerFor(call, call.actor, call.portion)),
})

type SendCall = Work & { body: MessageSend; files: ReceivedFile[] }

/** To the receiver, or to each of several. */
async function sendToAll(call: SendCall, speaker: Speaker): Promise<{ data: Message } | { data: SentToMany }> {
  const { multipleReceivers, ...body } = call.body
  if (!multipleReceivers) return { data: await sendOne(call, speaker, body, call.files) }
  const [uids, guids] = [eachOnce(multipleReceivers.uids), eachOnce(multipleReceivers.guids)]
  const count = uids.length + guids.length
  if (count === 0) throw failures.emptyReceiver()
  if (count > receiversMax) throw badRequest({ multipleReceivers: [`must not name more than ${receiversMax}`] })
  const content = readContent(body, call.files, call.tools.fileLimits.countMax)
  if (speaker.portion) requireLittle(content, Math.min(count, speaker.portion.left))
  const to = (receiverType: 'user' | 'group') => (to: string) =>
    sendTo(call, speaker, { receiverType, to }, content, body)
  const withSpeaker = (uid: string) => placeOfUsers(speaker.uid, uid)
  return {
    data: {
      ...(multipleReceivers.uids && { uids: await eachReceiver(uids, withSpeaker, to('user')) }),
      ...(multipleReceivers.guids && { guids: await eachReceiver(guids, placeOfGroup, to('group')) }),
    },
  }
}

// All of it is written, and put where searches find it, before anybody else writes.
const bytesToManyMax = 16_384

/** What one request of a user has written is limited by its bytes, too. */
function requireLittle({ data }: MessageContent, receivers: number): void {
  if (Buffer.byteLength(JSON.stringify(data)) * receivers <= bytesToManyMax) return
  throw badRequest({
    multipleReceivers: [`must be so few that data has no more than ${bytesToManyMax} bytes for all of them together`],
  })
}

/** By their conversations, the same for whoever writes: so no two who write to several wait for each other. */
function inOrder(ids: string[], placeOf: (id: string) => Place): string[] {
  const byKey = ids.map((id) => ({ id, key: placeOf(id).conversationKey }))
  return byKey.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ id }) => id)
}

/** How many messages a body asks for, as far as it can be read before it is checked. */
function receiversIn(multipleReceivers: unknown): number {
  const { uids, guids } = (multipleReceivers ?? {}) as { uids?: unknown; guids?: unknown }
  const count = (ids: unknown) => (Array.isArray(ids) ? eachOnce(ids.filter((id) => typeof id === 'string')).length : 0)
  return Math.min(count(uids) + count(guids), receiversMax)
}

const eachOnce = (ids: string[] = []) => [...new Set(ids.map((id) => id.toLowerCase()))]

/**
 * A refusal concerns one receiver; every check comes before the first write for them. They are answered in the order in
 * which they were named.
 */
async function eachReceiver(
  ids: string[],
  placeOf: (id: string) => Place,
  send: (id: string) => Promise<Message>,
): Promise<Record<string, SentAnswer>> {
  const outcomes = new Map<string, SentAnswer>()
  for (const id of inOrder(ids, placeOf)) {
    try {
      outcomes.set(id, { success: true, data: await send(id) })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      outcomes.set(id, { success: false, error: { code: error.code, message: error.message } })
    }
  }
  return Object.fromEntries(ids.map((id) => [id, outcomes.get(id) as SentAnswer]))
}

const sendToUser = operation({
  ...sending,
  id: 'sendMessageToUser',
  route: 'POST /users/{uid}/messages',
  summary: 'Send a message to a user',
  description: 'As `POST /messages` does; whom the body names does not matter.',
  reply: one(Message),
  find: ({ db, params }) => requireActiveUser(db, params.uid),
  run: (call) => sendByPath(call, { receiver: call.found.uid, receiverType: 'user' }),
})

const sendToGroup = operation({
  ...sending,
  id: 'sendMessageToGroup',
  route: 'POST /groups/{guid}/messages',
  summary: 'Send a message to a group',
  description: 'As `POST /messages` does; whom the body names does not matter.',
  reply: one(Message),
  find: ({ db, params }) => requireGroup(db, params.guid),
  run: (call) => sendByPath(call, { receiver: call.found.guid, receiverType: 'group' }),
})

type PathCall = SendCall & { actor: Actor | undefined; portion: Portion | undefined }

async function sendByPath(call: PathCall, to: { receiver: string; receiverType: string }) {
  const speaker = await speakerFor(call, call.actor, call.portion)
  return { data: await sendOne(call, speaker, { ...call.body, ...to }, call.files) }
}

const getMessage = operation({
  id: 'getMessage',
  route: 'GET /messages/{id}',
  summary: 'Get a message',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'getMessage',
  mayTakeLong: true,
  reply: one(Message),
  errors: [failures.messageNotFound, failures.messageNotAccessible, permissionDenied],
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  async run(call) {
    const { db, found, actor } = call
    if (actor) await refuseOfStrangers(db, actor, found)
    return { data: await seenMessage(call, found.id, actor) }
  },
})

/** A message that tells of an act, as whoever acted may see it. */
async function answered({ db, actor }: { db: TenantDb; actor: Actor | undefined }, message: Message) {
  const [data = message] = await veilFor(db, actor, [message])
  return { data }
}

const updateMessage = operation({
  id: 'updateMessage',
  route: 'PUT /messages/{id}',
  summary: 'Edit a message',
  description:
    'What is given in `data` replaces what was there; `tags` replace all tags. The answer is the action message that ' +
    'tells of the edit, with the edited message inside.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'updateMessage',
  bodyBytesMax: messageBytesMax,
  body: MessageEdit,
  reply: one(Message),
  errors: [
    ...contentErrors,
    failures.messageNotFound,
    failures.messageNotAccessible,
    failures.notTheSender,
    failures.actionNotAllowed,
    permissionDenied,
    blockedReceiver,
    blockedSender,
  ],
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  run: async (call) => answered(call, await editMessage(call, call.found, call.actor, call.body)),
})

const removeMessage = operation({
  id: 'deleteMessage',
  route: 'DELETE /messages/{id}',
  summary: 'Delete a message',
  description:
    'The message stays in the history without its content. With `permanent` nothing is left of it and its thread; only ' +
    'servers may ask for that, and the answer shows it for the last time.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'deleteMessage',
  body: MessageDelete,
  reply: one(Message),
  errors: [
    failures.messageNotFound,
    failures.messageNotAccessible,
    failures.notTheSender,
    failures.actionNotAllowed,
    failures.notForClients,
    permissionDenied,
  ],
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  async run(call) {
    const { found, actor, caller, body } = call
    if (!body.permanent) return answered(call, await deleteMessage(call, found, actor))
    if (caller.kind === 'client') throw failures.notForClients()
    const { answer, told } = await deleteForGood(call, found, actor)
    return new ToldOnce(await answered(call, answer), await answered(call, told))
  },
})

const listErrors = [permissionDenied, userNotFound, groupNotFound, groupNotJoined, bannedFromGroup]
const ListReply = Type.Union([MessageStretch, UnreadCounts, UnreadCountsByKind, MessagePage])

const listMessages = operation({
  id: 'listMessages',
  route: 'GET /messages',
  summary: 'List messages',
  description:
    'Of the whole app, or of all conversations of the acting user. Messages stand in the order of their ids; `append` ' +
    'reads on from a message, `prepend` reads back from it.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'listMessages',
  query: MessageListQuery,
  mayTakeLong: true,
  reply: ListReply,
  errors: listErrors,
  async run(call) {
    const { db, query, actor } = call
    const { conversationId } = query
    if (conversationId !== undefined) return list(call, await scopeNamed(db, conversationId, actor))
    return list(call, actor ? { kind: 'viewer', uid: actor.uid } : { kind: 'app' })
  },
})

/** A conversation that is not the viewer's has nothing for them. */
async function scopeOf(db: TenantDb, { conversationKey }: Place, actor: Actor | undefined): Promise<WayScope> {
  if (!actor) {
    const conversation = await findConversation(db, conversationKey)
    return inConversation(conversationKey, conversation?.erased_seq ?? 0)
  }
  const row = await findRow(db, conversationKey, actor.uid)
  return inConversation(conversationKey, row?.cleared_seq ?? Number.MAX_SAFE_INTEGER)
}

/** All that an id can mean: for a user, of their conversations; for the app, of all. That is one as a rule. */
async function scopeNamed(db: TenantDb, conversationId: string, actor: Actor | undefined): Promise<WayScope> {
  const keys = placesNamed(conversationId).map(({ conversationKey }) => conversationKey)
  const among = actor
    ? (await sidesAmong(db, keys, actor.uid)).map((side) => inConversation(side.conversation_key, side.cleared_seq))
    : (await findConversations(db, keys)).map((row) => inConversation(row.conversation_key, row.erased_seq))
  const [only, ...others] = among
  return only && others.length === 0 ? only : { kind: 'conversations', among }
}

/** What is gone for good is seen by nobody, however long its removal takes; what a reset hides, not by its user. */
function inConversation(conversationKey: ConversationKey, clearedSeq: number): InConversation {
  return { kind: 'conversation', conversationKey, clearedSeq }
}

type ListCall = Asking & View & { query: MessageListQuery }

async function list(call: ListCall, scope: WayScope) {
  const { db, query, actor, caller } = call
  if (query.count && actor) {
    const counts = await unreadCounts(db, actor, query, keysIn(scope))
    return caller.kind === 'client' ? { data: countsByKind(counts) } : { data: counts }
  }
  const { rows, meta } = await readStretch(db, scope, query, call)
  return { data: await shown(call, rows, actor, query), meta }
}

const listUserMessages = operation({
  id: 'listUserMessages',
  route: 'GET /users/{uid}/messages',
  summary: 'List messages with a user',
  description:
    'With an acting user, what the two have said to each other. Without one, every direct message that the user has sent ' +
    'or received, page by page.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'getUserMessages',
  query: UserMessageListQuery,
  mayTakeLong: true,
  reply: ListReply,
  errors: listErrors,
  find: ({ db, params }) => requireActiveUser(db, params.uid),
  async run(call) {
    const { db, query, actor, found } = call
    const { perPage } = query
    if (actor) {
      const scope = await scopeOf(db, placeOfUsers(actor.uid, found.uid), actor)
      return list({ ...call, query: { ...(perPage !== undefined && { limit: perPage }), ...query } }, scope)
    }
    const slice = sliceOf(query)
    const { total, rows } = await messagesOfUser(db, found.uid, query, slice)
    const data = await shown(call, rows, undefined, query)
    const [first] = data
    return {
      data,
      meta: {
        pagination: paginationOf(total, data.length, slice),
        ...(first && { cursor: { id: Number(first.id), affix: 'prepend' } }),
      },
    }
  },
})

const listGroupMessages = operation({
  id: 'listGroupMessages',
  route: 'GET /groups/{guid}/messages',
  summary: 'List messages of a group',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'getGroupMessages',
  query: MessageListQuery,
  mayTakeLong: true,
  reply: ListReply,
  errors: listErrors,
  find: ({ db, params }) => requireGroup(db, params.guid),
  async run(call) {
    const { db, actor, found } = call
    if (actor) await requireScope(db, found, actor.uid)
    return list(call, await scopeOf(db, placeOfGroup(found.guid), actor))
  },
})

const listReceipts = operation({
  id: 'listReceipts',
  route: 'GET /messages/{id}/receipts',
  summary: 'List who has received and read a message',
  description: 'In the order of UIDs. `append` reads on from one, `prepend` reads back from it.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  query: ReceiptListQuery,
  mayTakeLong: true,
  reply: ReceiptStretch,
  errors: [failures.messageNotFound, failures.messageNotAccessible],
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  async run(call) {
    const { found, query, caller, actor } = call
    const limit = Math.min(query.limit ?? receiptLimits.usual, limitMaxFor(caller))
    const { affix = 'append', id } = query
    // As with every word that a list does not know: it finds nothing.
    const isKnown = affix === 'append' || affix === 'prepend'
    const data = isKnown ? await receiptsOf(call, found, { limit, affix, id: id?.toLowerCase(), viewer: actor }) : []
    const page = data.map(({ sender }) => ({ id: String(sender.uid) }))
    return { data, meta: { current: { limit, count: data.length }, ...cursorsOf(page, { id }) } }
  },
})

/** A user with this role is a bot: it speaks where it is asked to, as a member or not. */
const botRole = 'bot'

const sendAsBot = operation({
  id: 'sendMessageAsBot',
  route: 'POST /bots/{uid}/messages',
  summary: 'Send a message as a bot',
  description: 'The bot is a user with the role `bot`. It need not be a member of the groups it answers in.',
  takesFiles: true,
  bodyBytesMax: messageBytesMax,
  body: MessageSend,
  reply: Type.Union([one(Message), one(SentToMany)]),
  errors: [...sendErrors, failures.botNotFound],
  async find({ db, params }) {
    const user = await requireActiveUser(db, params.uid)
    if (user.role !== botRole) throw failures.botNotFound({ uid: user.uid })
    return user
  },
  run: (call) =>
    sendToAll(call, {
      uid: call.found.uid,
      id: call.found.id,
      actor: undefined,
      entity: toUser(call, call.found, { withTags: false }),
    }),
})

export const operations = [
  sendMessage,
  sendToUser,
  sendToGroup,
  listMessages,
  getMessage,
  updateMessage,
  removeMessage,
  listUserMessages,
  listGroupMessages,
  listReceipts,
  sendAsBot,
]
