import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { cursorPage, cursorPageOf } from '../../common/cursor.ts'
import { one } from '../../common/reply.ts'
import { badRequest } from '../../kit/errors.ts'
import { type Actor, type Caller, operation } from '../../kit/operation.ts'
import type { Static } from '../../kit/schema.ts'
import type { View, Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { blockedReceiver, blockedSender } from '../blocked-users/errors.ts'
import { actionNotAllowed, messageNotAccessible, messageNotFound } from '../messages/errors.ts'
import {
  refuseAcrossBlock,
  refuseUnread,
  refuseUntouchable,
  requireMessage,
  scopeOver,
  seenMessage,
} from '../messages/index.ts'
import { permissionDenied } from '../rbac/errors.ts'
import { refuseUnless } from '../rbac/index.ts'
import { scopeRules, scopeValuesFor } from '../scope-permissions/index.ts'
import { audienceFor, conversationIdOf, type MessageRow, toMessage } from '../timeline/index.ts'
import { Message } from '../timeline/schemas.ts'
import { findUser, sightOf, toUser, usersByUid } from '../users/index.ts'
import { reactionAdded, reactionRemoved } from './events.ts'
import { Reaction, ReactionAdd, ReactionListQuery, reactionCharactersMax, reactionLimits } from './schemas.ts'
import { addReaction, countsOf, removeReaction } from './store.ts'
import type { ReactionRow } from './tables.ts'

const clientLimits = { usual: 100, max: 100 }

const messageErrors = [messageNotFound, messageNotAccessible, permissionDenied]
const reactErrors = [...messageErrors, actionNotAllowed, blockedReceiver, blockedSender]

async function list(
  call: View & { actor: Actor | undefined; caller: Caller },
  row: MessageRow,
  reaction: string | undefined,
  query: Static<typeof ReactionListQuery>,
) {
  const { db, actor, caller } = call
  const all = db
    .select('reactions')
    .selectAll()
    .where('reactions.message_id', '=', row.id)
    .where(await listable(db, row, actor))
    // Those of whoever is gone for good go a little later; a page without them must not look like the end.
    .where(sql<SqlBool>`EXISTS (SELECT 1 FROM users WHERE users.app_id = ${db.appId} AND users.uid = reactions.uid)`)
  const some = reaction === undefined ? all : all.where('reactions.reaction', '=', reaction)
  const { data, meta } = await cursorPage(
    some as never,
    'reactions.id',
    query,
    caller.kind === 'client' ? clientLimits : reactionLimits,
    (each: ReactionRow) => each.id,
    (each: ReactionRow) => each,
  )
  const users = await usersByUid(
    db,
    data.map(({ uid }) => uid),
  )
  const sees = await sightOf(db, actor, () => [...users.keys()])
  const shown = data.flatMap((each) => {
    const user = users.get(each.uid)
    const view = { actorUid: actor?.uid, withTags: false, veiled: !sees(each.uid) }
    return user ? [toReaction(each, toUser(call, user, view))] : []
  })
  const current = { ...meta.current, count: shown.length }
  return { data: shown, meta: { ...meta, current } }
}

/** Where a group lets the viewer see reactions of some scopes only: those. */
async function listable(db: TenantDb, row: MessageRow, actor: Actor | undefined): Promise<RawBuilder<SqlBool>> {
  const scope = actor && (await scopeOver(db, row, actor.uid))
  if (!actor || !scope) return sql`1 = 1`
  const values = await scopeValuesFor(db, actor, { guid: row.receiver, scope })
  refuseUnless(scopeRules.scopeMay(values, 'listReactions'))
  const scopes = values['listReactions.allowedScopes']
  if (scopes.length === 0) return sql`1 = 1`
  return sql`reactions.uid IN (SELECT group_members.uid FROM group_members
    JOIN groups ON groups.app_id = group_members.app_id AND groups.id = group_members.group_id
    WHERE group_members.app_id = ${db.appId} AND groups.guid = ${row.receiver}
    AND group_members.scope IN (${sql.join(scopes)}))`
}

function toReaction(
  { id, message_id, reaction, uid, reacted_at }: ReactionRow,
  reactedBy: Reaction['reactedBy'],
): Reaction {
  return { id: String(id), messageId: String(message_id), reaction, uid, reactedAt: reacted_at, reactedBy }
}

const listReactions = operation({
  id: 'listReactions',
  route: 'GET /messages/{id}/reactions',
  summary: 'List the reactions to a message',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'listReactions',
  query: ReactionListQuery,
  reply: cursorPageOf(Reaction),
  errors: messageErrors,
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  run: (call) => list(call, call.found, undefined, call.query),
})

const listReactionsOfKind = operation({
  id: 'listReactionsOfKind',
  route: 'GET /messages/{id}/reactions/{reaction}',
  summary: 'List who has reacted in one way',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'listReactions',
  query: ReactionListQuery,
  reply: cursorPageOf(Reaction),
  errors: messageErrors,
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  run: (call) => list(call, call.found, call.params.reaction, call.query),
})

/** Reacts for the acting user; once more with the same changes nothing. */
async function react(work: Work, row: MessageRow, actor: Actor | undefined, reaction: string) {
  const { db } = work
  if (reaction.trim() === '' || reaction.length > reactionCharactersMax) {
    throw badRequest({ reaction: [`must have 1 to ${reactionCharactersMax} characters`] })
  }
  refuseUntouchable(row)
  await refuseReacting(db, row, actor)
  await refuseAcrossBlock(db, row, actor)
  const added = await addReaction(work, row, actor?.uid ?? '', reaction)
  if (added) await tell(work, reactionAdded, row, added)
  return { data: await seenMessage(work, row.id, actor) }
}

/** In a group, the scope must allow it: to react, and to take it back. */
async function refuseReacting(db: TenantDb, row: MessageRow, actor: Actor | undefined): Promise<void> {
  await refuseUnread(db, actor, row)
  const scope = actor && (await scopeOver(db, row, actor.uid))
  if (!actor || !scope) return
  refuseUnless(scopeRules.scopeMay(await scopeValuesFor(db, actor, { guid: row.receiver, scope }), 'addReaction'))
}

async function tell(work: Work, event: typeof reactionAdded, row: MessageRow, reaction: ReactionRow): Promise<void> {
  const user = await findUser(work.db, reaction.uid)
  if (!user) return
  const counts = await countsOf(work.db, [row.id], undefined)
  await work.emit(event, {
    reaction: toReaction(reaction, toUser(work, user, { withTags: false })),
    receiverId: row.receiver,
    receiverType: row.receiver_type,
    conversationId: conversationIdOf(row.conversation_key),
    ...(row.parent_id !== null && { parentMessageId: String(row.parent_id) }),
    message: toMessage(work, row, {}, { reactions: counts.get(row.id) }),
    audience: await audienceFor(work.db, row, reaction.uid),
  })
}

const addReactionByPath = operation({
  id: 'addReaction',
  route: 'POST /messages/{id}/reactions/{reaction}',
  summary: 'React to a message',
  doors: ['server', 'client'],
  onBehalfOf: 'required',
  may: 'addReaction',
  reply: one(Message),
  errors: reactErrors,
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  run: (call) => react(call, call.found, call.actor, call.params.reaction),
})

const addReactionByBody = operation({
  id: 'addReactionInBody',
  route: 'POST /messages/{id}/reactions',
  summary: 'React to a message, with the reaction in the body',
  doors: ['server', 'client'],
  onBehalfOf: 'required',
  may: 'addReaction',
  body: ReactionAdd,
  reply: one(Message),
  errors: reactErrors,
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  run: (call) => react(call, call.found, call.actor, call.body.reaction),
})

const takeReactionBack = operation({
  id: 'removeReaction',
  route: 'DELETE /messages/{id}/reactions/{reaction}',
  summary: 'Take a reaction back',
  doors: ['server', 'client'],
  onBehalfOf: 'required',
  may: 'addReaction',
  reply: one(Message),
  errors: [...messageErrors, actionNotAllowed],
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  async run(call) {
    const { db, found, actor, params } = call
    await refuseReacting(db, found, actor)
    const removed = await removeReaction(db, found, actor?.uid ?? '', params.reaction)
    if (removed) await tell(call, reactionRemoved, found, removed)
    return { data: await seenMessage(call, found.id, actor) }
  },
})

export const operations = [listReactions, listReactionsOfKind, addReactionByPath, addReactionByBody, takeReactionBack]
