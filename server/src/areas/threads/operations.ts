import { one } from '../../common/reply.ts'
import { badRequest } from '../../kit/errors.ts'
import { type Actor, operation } from '../../kit/operation.ts'
import { Type } from '../../kit/schema.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { bannedFromGroup, groupNotFound, groupNotJoined } from '../groups/errors.ts'
import { requireGroup } from '../groups/index.ts'
import { messageNotAccessible, messageNotFound, nestedThread } from '../messages/errors.ts'
import {
  messageRate,
  readStretch,
  refuseOutsideApp,
  requireMessage,
  requireScope,
  scopeOver,
  sendErrors,
  sendMessage,
  shown,
  speakerFor,
} from '../messages/index.ts'
import { MessageListQuery, MessageSend, MessageStretch } from '../messages/schemas.ts'
import { permissionDenied } from '../rbac/errors.ts'
import { refuseUnless } from '../rbac/index.ts'
import { type MemberScope, scopeRules, scopeValuesFor } from '../scope-permissions/index.ts'
import { type ConversationKey, otherSide, placeOfGroup, placeOfKey, placeOfUsers } from '../timeline/index.ts'
import { Message } from '../timeline/schemas.ts'
import { userNotFound } from '../users/errors.ts'
import { requireActiveUser } from '../users/index.ts'
import { threadFollowed, threadUnfollowed } from './events.ts'
import { listThreads } from './list.ts'
import { ThreadListQuery, ThreadStretch } from './schemas.ts'
import { isFollowing, setFollowing } from './store.ts'

const replyBytesMax = 262_144
const doors: ('server' | 'client')[] = ['server', 'client']

const reply = operation({
  id: 'sendReply',
  route: 'POST /messages/{id}/thread',
  summary: 'Reply in a thread',
  description:
    'Without a receiver, the reply goes to the conversation of the message. Without an acting user the app itself speaks, ' +
    'in groups and where it is one of the two.',
  doors,
  onBehalfOf: 'optional',
  may: 'createMessageThread',
  userRate: messageRate,
  takesFiles: true,
  bodyBytesMax: replyBytesMax,
  body: MessageSend,
  reply: one(Message),
  errors: sendErrors,
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  async run(call) {
    const { found, actor } = call
    const speaker = await speakerFor(call, actor, call.portion)
    refuseOutsideApp(speaker, found)
    // The message may be the app's, which has done something between two.
    const usual =
      found.receiver_type === 'group'
        ? { receiver: found.receiver, receiverType: 'group' }
        : { receiver: otherSide(placeOfKey(found.conversation_key), speaker.uid), receiverType: 'user' }
    const { multipleReceivers: _, ...body } = call.body
    return { data: await sendMessage(call, speaker, { ...usual, ...body, parentId: found.id }, call.files) }
  },
})

const listReplies = operation({
  id: 'listReplies',
  route: 'GET /messages/{id}/thread',
  summary: 'List the replies in a thread',
  doors,
  onBehalfOf: 'optional',
  may: 'listThreadedMessages',
  query: MessageListQuery,
  mayTakeLong: true,
  reply: MessageStretch,
  errors: [messageNotFound, messageNotAccessible, permissionDenied],
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  async run(call) {
    const { db, found, query, actor } = call
    if (actor) await refuseThreads(db, actor, found.receiver, await scopeOver(db, found, actor.uid))
    const { rows, meta } = await readStretch(db, { kind: 'thread', parentId: found.id }, query, call)
    return { data: await shown(call, rows, actor, query), meta }
  },
})

/** A group can keep its threads from a scope. */
async function refuseThreads(db: TenantDb, actor: Actor, guid: string, scope: MemberScope | undefined): Promise<void> {
  if (!scope) return
  refuseUnless(scopeRules.scopeMay(await scopeValuesFor(db, actor, { guid, scope }), 'listThreadedMessages'))
}

const listAllThreads = operation({
  id: 'listThreads',
  route: 'GET /threads',
  summary: 'List threads',
  description: 'Those with the newest activity first, each with its last reply.',
  doors,
  onBehalfOf: 'optional',
  may: 'listThreadedMessages',
  query: ThreadListQuery,
  mayTakeLong: true,
  reply: ThreadStretch,
  errors: [userNotFound, groupNotFound, groupNotJoined, bannedFromGroup, permissionDenied],
  async run(call) {
    const { db, query, actor } = call
    for (const name of ['participatedByMe', 'withUnreadReplyCount', 'withMentionCount'] as const) {
      if (query[name] && !actor) throw badRequest({ [name]: ['needs an acting user'] })
    }
    if (query.uid !== undefined && query.guid !== undefined) throw badRequest({ guid: ['excludes uid'] })
    const conversationKey = await conversationOf(db, query, actor)
    const { threads, meta } = await listThreads(call, query, { viewer: actor, conversationKey })
    return { data: threads, meta }
  },
})

async function conversationOf(
  db: TenantDb,
  { uid, guid }: { uid?: string | undefined; guid?: string | undefined },
  actor: Actor | undefined,
): Promise<ConversationKey | undefined> {
  if (guid !== undefined) {
    const group = await requireGroup(db, guid)
    if (actor) await refuseThreads(db, actor, group.guid, await requireScope(db, group, actor.uid))
    return placeOfGroup(group.guid).conversationKey
  }
  if (uid === undefined) return undefined
  const user = await requireActiveUser(db, uid)
  if (!actor) throw badRequest({ uid: ['needs an acting user'] })
  return placeOfUsers(actor.uid, user.uid).conversationKey
}

const Success = one(Type.Object({ success: Type.Literal(true) }))

const follow = (['POST', 'DELETE'] as const).map((method) =>
  operation({
    id: method === 'POST' ? 'followThread' : 'unfollowThread',
    route: `${method} /messages/{id}/thread/subscription`,
    summary: method === 'POST' ? 'Follow a thread' : 'Stop following a thread',
    description:
      method === 'POST'
        ? 'One also follows a thread by beginning it, by replying in it, and by being named in it.'
        : 'Until one replies or is named again.',
    doors,
    onBehalfOf: 'required',
    reply: Success,
    errors: [messageNotFound, messageNotAccessible, nestedThread],
    find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
    async run({ db, found, actor, emit }) {
      if (found.parent_id !== null) throw nestedThread({ id: found.id })
      const [uid, follows] = [actor?.uid ?? '', method === 'POST']
      const followed = await isFollowing(db, found, uid)
      // Of two at once, one changes something.
      const changed = (await setFollowing(db, found.id, [uid], follows)).length > 0 && followed !== follows
      const payload = { uid, messageId: String(found.id) }
      if (changed) await emit(follows ? threadFollowed : threadUnfollowed, payload)
      return { data: { success: true as const } }
    },
  }),
)

export const operations = [reply, listReplies, listAllThreads, ...follow]
