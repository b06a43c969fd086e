import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Actor } from '../../kit/operation.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { policyOf } from '../rbac/index.ts'
import type { ScopePermissionId } from './catalogue.ts'

/** What groups keep from lists of their messages, as a condition: it differs from group to group and goes by the scope. */

const narrowing = {
  categories: 'listMessages.allowedMessageCategories',
  types: 'listMessages.allowedMessageTypes',
  history: 'listMessages.historyBeforeJoin',
  threads: 'listThreadedMessages',
} as const satisfies Record<string, ScopePermissionId>

const oneThatNarrows = prepared<object, { one: number }>((db) =>
  db
    .select('scope_permissions')
    .select(sql<number>`1`.as('one'))
    .where('scope_permissions.permission', 'in', Object.values(narrowing))
    .limit(1),
)

/** Values are stored as JSON, and words of a list have no quotes in them. */
const denied = sql<SqlBool>`scope_permissions.value = '"deny"'`
const lacks = (column: RawBuilder<unknown>) =>
  sql<SqlBool>`scope_permissions.value != '[]' AND scope_permissions.value NOT LIKE '%"' || ${column} || '"%'`

/**
 * A message of a group is not hidden from the acting member by their scope. Nothing is asked where no group of the app
 * narrows its lists. `messages` names the table, which may stand in a query more than once; `asThread` asks for messages
 * that are listed because of their replies.
 */
export async function notHiddenByScope(
  db: TenantDb,
  actor: Actor,
): Promise<((messages: string, asThread?: boolean) => RawBuilder<SqlBool>) | undefined> {
  if (!(await policyOf(db, actor)).hasScopeRules) return undefined
  if ((await oneThatNarrows(db, {})).length === 0) return undefined
  return (messages, asThread = false) => {
    const of = (column: string) => sql.ref(`${messages}.${column}`)
    const is = (id: string) => sql<SqlBool>`scope_permissions.permission = ${id}`
    const reasons = [
      sql`(${is(narrowing.categories)} AND ${lacks(of('category'))})`,
      sql`(${is(narrowing.types)} AND ${of('category')} = 'message' AND ${lacks(of('type'))})`,
      sql`(${is(narrowing.history)} AND ${denied} AND ${of('sent_at')} < group_members.joined_at)`,
      ...(asThread ? [sql`(${is(narrowing.threads)} AND ${denied})`] : []),
    ]
    return sql<SqlBool>`(${of('receiver_type')} = 'user' OR NOT EXISTS (SELECT 1 FROM scope_permissions
      JOIN groups ON groups.app_id = scope_permissions.app_id AND groups.guid = scope_permissions.guid
      JOIN group_members ON group_members.app_id = groups.app_id AND group_members.group_id = groups.id
        AND group_members.scope = scope_permissions.scope AND group_members.user_id = (SELECT users.id FROM users
          WHERE users.app_id = ${db.appId} AND users.uid = ${actor.uid})
      WHERE scope_permissions.app_id = ${db.appId} AND scope_permissions.guid = ${of('receiver')}
        AND (${sql.join(reasons, sql` OR `)})))`
  }
}
