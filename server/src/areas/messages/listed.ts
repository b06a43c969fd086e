import { type SqlBool, sql } from 'kysely'
import type { Actor } from '../../kit/operation.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { policyOf, roleRules } from '../rbac/index.ts'
import { notHiddenByScope } from '../scope-permissions/index.ts'
import { systemUid, uidsOfFriends } from '../users/index.ts'
import type { Condition } from './filters.ts'

/**
 * Which messages lists may hold for whoever acts, by their role and by their scope in each group. Lists are narrowed by it,
 * and so is all else that would tell of such messages: what is unread, what a message quotes, and the last message of a
 * conversation. `asThreads` asks for those that begin a thread.
 */
export async function listedFor(db: TenantDb, actor: Actor, asThreads = false): Promise<Condition[]> {
  const listed = roleRules.listedMessages(await policyOf(db, actor))
  if (listed === 'none') return [sql`1 = 0`]
  const byScope = await notHiddenByScope(db, actor)
  const on = (messages: string): Condition[] => [
    ...byRole(db, actor.uid, listed, messages),
    ...(byScope ? [byScope(messages, asThreads)] : []),
  ]
  const conditions = on('messages')
  return conditions.length === 0 ? [] : [...conditions, tellsOfListed(db, on('told'))]
}

function byRole(db: TenantDb, viewer: string, listed: roleRules.ListedMessages, messages: string): Condition[] {
  const { friendsOnly, receiverTypes, senderRoles, categories, types } = listed
  const of = (column: string) => sql.ref(`${messages}.${column}`)
  const anyOf = (column: string, words: string[]) => sql<SqlBool>`${of(column)} IN (${sql.join(words)})`
  return [
    ...(friendsOnly ? [isWithFriends(db, viewer, messages)] : []),
    ...(receiverTypes.length === 0 ? [] : [anyOf('receiver_type', receiverTypes)]),
    ...(senderRoles.length === 0 ? [] : [isSentBy(db, viewer, senderRoles, messages)]),
    ...(categories.length === 0 ? [] : [anyOf('category', categories)]),
    ...(types.length === 0 ? [] : [sql<SqlBool>`(${of('category')} != 'message' OR ${anyOf('type', types)})`]),
  ]
}

/** In a group, or in a conversation with a friend, with the app or with oneself. */
function isWithFriends(db: TenantDb, viewer: string, messages: string): Condition {
  const other = sql`CASE WHEN conversations.first = ${viewer} THEN conversations.second ELSE conversations.first END`
  return sql`(${sql.ref(`${messages}.receiver_type`)} = 'group' OR EXISTS (SELECT 1 FROM conversations
    WHERE conversations.app_id = ${db.appId} AND conversations.conversation_key = ${sql.ref(`${messages}.conversation_key`)}
    AND (${other} IN (${viewer}, ${systemUid}) OR ${other} IN ${uidsOfFriends.ask(db, viewer)})))`
}

/** By users of some roles, by the viewer, or by the app. */
function isSentBy(db: TenantDb, viewer: string, roles: string[], messages: string): Condition {
  const sender = sql.ref(`${messages}.sender`)
  return sql`(${sender} IN (${viewer}, ${systemUid}) OR EXISTS (SELECT 1 FROM users
    WHERE users.app_id = ${db.appId} AND users.uid = ${sender} AND users.role IN (${sql.join(roles)})))`
}

/** An action has the message inside of which it tells, and is kept back with it. */
function tellsOfListed(db: TenantDb, conditions: Condition[]): Condition {
  return sql`(messages.category != 'action' OR messages.type != 'message' OR NOT EXISTS (
    SELECT 1 FROM message_actions JOIN messages AS told
      ON told.app_id = message_actions.app_id AND told.id = message_actions.message_id
    WHERE message_actions.app_id = ${db.appId} AND message_actions.action_id = messages.id
    AND NOT (${sql.join(conditions, sql` AND `)})))`
}
