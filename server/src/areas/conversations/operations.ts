import { pageOfRows, paginationOf, sliceOf } from '../../common/page.ts'
import { Done, done, one } from '../../common/reply.ts'
import { ApiError, badRequest } from '../../kit/errors.ts'
import { useOne } from '../../kit/limits.ts'
import { type Actor, operation, type Route } from '../../kit/operation.ts'
import type { View } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { bannedFromGroup, groupNotFound, groupNotJoined } from '../groups/errors.ts'
import { requireGroup } from '../groups/index.ts'
import { messageNotFound, notForClients } from '../messages/errors.ts'
import { requireScope } from '../messages/index.ts'
import { permissionDenied } from '../rbac/errors.ts'
import {
  conversationIdOf,
  findConversations,
  findSide,
  openConversation,
  openRows,
  type Place,
  placeOfGroup,
  placeOfKey,
  placeOfUsers,
  placesNamed,
  type Side,
  sidesAmong,
} from '../timeline/index.ts'
import { userNotFound } from '../users/errors.ts'
import { findUser, requireActiveUser, toUser } from '../users/index.ts'
import {
  ambiguousId,
  conversationNotFound,
  notAccessible,
  pinnedForEveryone,
  tooManyPins,
  tooManySystemPins,
} from './errors.ts'
import { conversationPinned, conversationTagged, conversationUnpinned, markedUnread } from './events.ts'
import { listedSides } from './list.ts'
import { everySide } from './list-of-all.ts'
import { pin, putSystemPins, toSystemPin, unpin } from './pins.ts'
import { unreadRate } from './rates.ts'
import { accessible, markDownTo, markUpTo } from './receipts.ts'
import { toConversations } from './record.ts'
import { deleteForAll, emptyForGood, resetSide } from './reset.ts'
import {
  Conversation,
  ConversationListQuery,
  ConversationPage,
  ConversationUpdate,
  DownTo,
  GroupReset,
  Marked,
  SystemPins,
  SystemPinsPut,
  UpTo,
  UserReset,
} from './schemas.ts'
import { isListed, type PinForEveryone, systemPins, updatedAt } from './sides.ts'

const clientPageMax = 50
const clientPageUsual = 30

const listConversations = operation({
  id: 'listConversations',
  route: 'GET /conversations',
  summary: 'List conversations',
  description:
    'Of the acting user: what is pinned for everyone, then own pins, then the rest by their last activity. Without an ' +
    'acting user, every side of every conversation, by UID.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'listConversations',
  query: ConversationListQuery,
  mayTakeLong: true,
  reply: ConversationPage,
  errors: [permissionDenied],
  async run(call) {
    const { db, query, actor, caller } = call
    const perPage = caller.kind === 'client' ? Math.min(query.perPage ?? clientPageUsual, clientPageMax) : query.perPage
    const slice = sliceOf({ ...query, perPage })
    const page: ConversationsOnPage = actor
      ? await pageOfUser(db, actor, query, slice)
      : await everySide(db, query, slice)
    const { total, sides, pins } = page
    const data = await toConversations(call, sides, { ...query, viewer: actor, pins })
    const newest = sides.length === 0 ? undefined : Math.max(...sides.map(updatedAt))
    return {
      data,
      meta: {
        pagination: paginationOf(total, data.length, slice),
        ...(newest !== undefined &&
          query.useCursoredIndex !== 0 && { cursor: { updatedAt: newest, affix: 'prepend' as const } }),
      },
    }
  },
})

interface ConversationsOnPage {
  total: number
  sides: Side[]
  pins?: PinForEveryone[]
}

async function pageOfUser(
  db: TenantDb,
  actor: Actor,
  query: ConversationListQuery,
  { limit, offset }: { limit: number; offset: number },
): Promise<ConversationsOnPage> {
  const { sides, pins } = await listedSides(db, actor, query)
  return { total: sides.length, sides: pageOfRows(sides.slice(offset), limit, query, updatedAt), pins }
}

/** With whom a conversation is, as the path names it. */
type With = 'user' | 'group'

interface Found {
  place: Place
  side: Side | undefined
}

/** What the path names, and the acting user's side of it. */
async function findIn(db: TenantDb, kind: With, id: string, actor: Actor | undefined): Promise<Found> {
  const uid = actor?.uid ?? ''
  if (kind === 'user') {
    const place = placeOfUsers(uid, (await requireActiveUser(db, id)).uid)
    return { place, side: await findSide(db, place.conversationKey, uid) }
  }
  const group = await requireGroup(db, id)
  await requireScope(db, group, uid)
  const place = placeOfGroup(group.guid)
  return { place, side: await findSide(db, place.conversationKey, uid) }
}

/** For whoever only looks, a group that they are not in is a conversation that they do not have. */
async function asRead(finding: Promise<Found>): Promise<Found> {
  try {
    return await finding
  } catch (error) {
    throw error instanceof ApiError && error.code === groupNotJoined.code ? notAccessible() : error
  }
}

/** The same operation for the conversation with a user and for that of a group. */
function ofBoth<Made>(make: (kind: With, path: string, name: string) => Made): Made[] {
  return [make('user', '/users/{uid}/conversation', 'User'), make('group', '/groups/{guid}/conversation', 'Group')]
}

function route(method: string, path: string): Route {
  return `${method} ${path}` as Route
}

/** Paths have their own names for the id; inside it is one. */
function idIn(params: object): string {
  const { uid, guid } = params as { uid?: string; guid?: string }
  return uid ?? guid ?? ''
}

const doors: ('server' | 'client')[] = ['server', 'client']
const lookErrors = [userNotFound, groupNotFound, bannedFromGroup, notAccessible, permissionDenied]
const sideErrors = [...lookErrors, groupNotJoined]

async function shownTo(view: View, side: Side, actor: Actor | undefined, withTags = false): Promise<Conversation> {
  const fresh = (await findSide(view.db, side.conversation_key, side.uid)) ?? side
  const [conversation] = await toConversations(view, [fresh], { viewer: actor, withTags })
  return conversation as Conversation
}

const getConversation = ofBoth((kind, path, name) =>
  operation({
    id: `get${name}Conversation`,
    route: route('GET', path),
    summary: kind === 'user' ? 'Get the conversation with a user' : 'Get the conversation of a group',
    doors,
    onBehalfOf: 'required',
    may: 'getConversation',
    mayTakeLong: true,
    reply: one(Conversation),
    errors: lookErrors,
    find: ({ db, params, actor }) => asRead(findIn(db, kind, idIn(params), actor)),
    run: async (call) => ({ data: await shownTo(call, accessible(call.found.side), call.actor) }),
  }),
)

const tagConversation = ofBoth((kind, path, name) =>
  operation({
    id: `update${name}Conversation`,
    route: route('PUT', path),
    summary: kind === 'user' ? 'Tag the conversation with a user' : 'Tag the conversation of a group',
    description: 'The tags are the acting user’s alone.',
    doors,
    onBehalfOf: 'required',
    may: 'updateConversation',
    body: ConversationUpdate,
    reply: one(Conversation),
    errors: sideErrors,
    find: ({ db, params, actor }) => findIn(db, kind, idIn(params), actor),
    async run(call) {
      const { db, found, body, actor } = call
      const side = accessible(found.side)
      const tags = [...new Set(body.tags)]
      await db
        .update('conversation_rows')
        .set({ tags: tags.length === 0 ? null : JSON.stringify(tags) })
        .where('conversation_key', '=', side.conversation_key)
        .where('uid', '=', side.uid)
        .execute()
      const conversation = { ...(await shownTo(call, side, actor, true)), tags }
      await call.emit(conversationTagged, { uid: side.uid, conversation })
      return { data: conversation }
    },
  }),
)

const resetConversation = ofBoth((kind, path, name) =>
  operation({
    id: `reset${name}Conversation`,
    route: route('DELETE', path),
    summary:
      kind === 'user'
        ? 'Delete the conversation with a user for oneself'
        : 'Delete the conversation of a group for oneself',
    description: 'All messages so far are hidden from the acting user. The next message brings the conversation back.',
    doors,
    onBehalfOf: 'required',
    may: 'deleteConversationForUser',
    body: kind === 'user' ? UserReset : GroupReset,
    reply: Done,
    errors: kind === 'user' ? [...sideErrors, notForClients] : sideErrors,
    find: ({ db, params, actor }) => findIn(db, kind, idIn(params), actor),
    async run(call) {
      const side = accessible(call.found.side)
      const { preserveOrder = false } = call.body
      if ('deleteMessagesPermanently' in call.body && call.body.deleteMessagesPermanently) {
        if (call.caller.kind === 'client') throw notForClients()
        await emptyForGood(call, side, preserveOrder)
      } else await resetSide(call, side, preserveOrder)
      return done(`The conversation ${conversationIdOf(side.conversation_key)} is deleted for ${side.uid}.`)
    },
  }),
)

const markConversation = (['delivered', 'read'] as const).flatMap((mark) =>
  ofBoth((kind, path, name) =>
    operation({
      id: `mark${name}Conversation${mark === 'read' ? 'Read' : 'Delivered'}`,
      route: route('POST', `${path}/${mark}`),
      summary: `Mark messages ${kind === 'user' ? 'with a user' : 'of a group'} as ${mark}`,
      description: 'Up to and including `messageId`, or all of them.',
      doors,
      onBehalfOf: 'required',
      body: UpTo,
      reply: Marked,
      errors: [...sideErrors, messageNotFound],
      find: ({ db, params, actor }) => findIn(db, kind, idIn(params), actor),
      async run(call) {
        const side = accessible(call.found.side)
        const { messageId } = call.body
        await markUpTo(call, side, mark, messageId === undefined ? undefined : Number(messageId))
        const message = `Messages are marked as ${mark}.`
        return { data: { success: true as const, message, ...(kind === 'user' && { Message: message }) } }
      },
    }),
  ),
)

const markUnread = ofBoth((kind, path, name) =>
  operation({
    id: `mark${name}ConversationUnread`,
    route: route('DELETE', `${path}/read`),
    summary: `Mark messages ${kind === 'user' ? 'with a user' : 'of a group'} as unread`,
    description: 'Those after `messageId` are unread again.',
    doors,
    onBehalfOf: 'required',
    userRate: unreadRate,
    body: DownTo,
    reply: Done,
    errors: [...sideErrors, messageNotFound],
    find: ({ db, params, actor }) => findIn(db, kind, idIn(params), actor),
    async run(call) {
      const side = accessible(call.found.side)
      useOne(call.portion)
      const moved = await markDownTo(call, side, Number(call.body.messageId))
      if (moved) {
        const conversation = await shownTo(call, side, call.actor)
        await call.emit(markedUnread, { uid: side.uid, conversation })
      }
      return done('Messages are marked as unread.')
    },
  }),
)

/** Pinning and unpinning: what was so already is answered and not told. */
const pinConversation = [
  {
    method: 'POST',
    verb: 'pin',
    open: openSide,
    change: pin,
    told: conversationPinned,
    errors: [tooManyPins, pinnedForEveryone],
  },
  {
    method: 'DELETE',
    verb: 'unpin',
    open: emptySide,
    change: unpin,
    told: conversationUnpinned,
    errors: [pinnedForEveryone],
  },
].flatMap(({ method, verb, open, change, told, errors }) =>
  ofBoth((kind, path, name) =>
    operation({
      id: `${verb}${name}Conversation`,
      route: route(method, `${path}/pin`),
      summary: `${verb === 'pin' ? 'Pin' : 'Unpin'} the conversation ${kind === 'user' ? 'with a user' : 'of a group'}`,
      doors,
      onBehalfOf: 'required',
      may: 'updateConversation',
      reply: one(Conversation),
      errors: [...sideErrors, ...errors],
      find: ({ db, params, actor }) => findIn(db, kind, idIn(params), actor),
      async run(call) {
        const side = call.found.side ?? (await open(call.db, call.found.place, call.actor?.uid ?? '', call.now))
        const changed = await change(call, side)
        const conversation = await shownTo(call, changed, call.actor)
        const isTold = (side.pinned_at === null) !== (changed.pinned_at === null)
        if (isTold) await call.emit(told, { uid: side.uid, conversation, by: await pinner(call, side) })
        return { data: conversation }
      },
    }),
  ),
)

async function pinner(view: View, { uid }: Side): Promise<Record<string, unknown>> {
  const user = await findUser(view.db, uid)
  return user ? toUser(view, user, { withTags: false }) : { uid }
}

/** Nothing need have been said to pin a conversation. */
async function openSide(db: TenantDb, place: Place, uid: string, now: number): Promise<Side> {
  await openConversation(db, place, now)
  await openRows(db, place, [uid], now)
  return (await findSide(db, place.conversationKey, uid)) as Side
}

/** What one would have who had it; it is not written down. */
async function emptySide(_db: TenantDb, place: Place, uid: string, now: number): Promise<Side> {
  const { conversationKey: conversation_key, type, first, second } = place
  const nothing = { delivered_seq: 0, read_seq: 0, read_counted: 0, cleared_seq: 0, last_seq: 0, last_counted: 0 }
  const own = { app_id: '', uid, conversation_key, kept: 0, tags: null, pinned_at: null, created_at: now }
  return { ...own, ...nothing, type, first, second, shown_seq: 0, active_at: now }
}

const listSystemPins = operation({
  id: 'listPinnedConversations',
  route: 'GET /conversations/pinned',
  summary: 'List what is pinned for everyone',
  reply: SystemPins,
  run: async ({ db }) => ({ data: (await systemPins(db)).map(toSystemPin) }),
})

const setSystemPins = operation({
  id: 'setPinnedConversations',
  route: 'PUT /conversations/pinned',
  summary: 'Set what is pinned for everyone',
  description: 'The whole list in its order; what it leaves out is unpinned.',
  body: SystemPinsPut,
  reply: SystemPins,
  errors: [tooManySystemPins, userNotFound, groupNotFound],
  async run(call) {
    for (const { uid, guid } of call.body.pinnedConversations) {
      if ((uid === undefined) === (guid === undefined)) {
        throw badRequest({ pinnedConversations: ['must each have either uid or guid'] })
      }
    }
    return { data: (await putSystemPins(call, call.body.pinnedConversations)).map(toSystemPin) }
  },
})

const getById = operation({
  id: 'getConversation',
  route: 'GET /conversations/{conversationId}',
  summary: 'Get a conversation by its id',
  doors,
  onBehalfOf: 'required',
  may: 'getConversation',
  deprecated: { replacedBy: '/v3/users/{uid}/conversation' },
  mayTakeLong: true,
  reply: one(Conversation),
  errors: [...lookErrors, conversationNotFound, ambiguousId],
  find: ({ db, params, actor }) => asRead(requireById(db, params.conversationId, actor)),
  run: async (call) => ({ data: await shownTo(call, accessible(call.found.side), call.actor) }),
})

const deleteById = operation({
  id: 'deleteConversation',
  route: 'DELETE /conversations/{conversationId}',
  summary: 'Delete a conversation for everybody',
  onBehalfOf: 'required',
  may: 'deleteConversationForUser',
  deprecated: { replacedBy: '/v3/users/{uid}/conversation' },
  reply: Done,
  errors: [...sideErrors, conversationNotFound, ambiguousId],
  find: ({ db, params, actor }) => requireById(db, params.conversationId, actor),
  async run(call) {
    const side = accessible(call.found.side)
    await deleteForAll(call, side)
    return done(`The conversation ${conversationIdOf(side.conversation_key)} is deleted for everybody.`)
  },
})

/** An id can mean several conversations; what counts is which of them the acting user has. */
async function requireById(db: TenantDb, conversationId: string, actor: Actor | undefined): Promise<Found> {
  const uid = actor?.uid ?? ''
  const keys = placesNamed(conversationId).map(({ conversationKey }) => conversationKey)
  const existing = await findConversations(db, keys)
  const own = await sidesAmong(db, keys, uid)
  const [listed, ...others] = own.filter(isListed)
  if (others.length > 0) throw ambiguousId({ conversationId })
  const side = listed ?? own[0]
  const meant = side ?? existing.find(({ type }) => type === 'group') ?? existing[0]
  if (!meant) throw conversationNotFound({ conversationId })
  if (meant.type === 'group') await requireScope(db, await requireGroup(db, meant.first), uid)
  return { place: placeOfKey(meant.conversation_key), side }
}

export const operations = [
  listConversations,
  listSystemPins,
  setSystemPins,
  getById,
  deleteById,
  ...getConversation,
  ...tagConversation,
  ...resetConversation,
  ...markConversation,
  ...markUnread,
  ...pinConversation,
]
