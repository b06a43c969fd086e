import { type SqlBool, sql } from 'kysely'
import { badRequest } from '../../kit/errors.ts'
import type { Actor } from '../../kit/operation.ts'
import { oneAtATime } from '../../storage/sql.ts'
import { remembered, type TenantDb } from '../../storage/tenant.ts'
import { type GroupRow, keepGroup, requireGroup } from '../groups/index.ts'
import { permissionKit, policyOf } from '../rbac/index.ts'
import { type MemberScope, memberScopes, type ScopeValues, scopeCatalogues } from './catalogue.ts'

/** Calls that change the same rows in different order would wait for each other for ever. */
const lockName = 'scope-permissions'

/** The members of one scope in one group. */
export interface ScopeCircle {
  guid: string
  scope: MemberScope
}

/** What the path names: the group first, then the scope. */
export async function requireCircle(db: TenantDb, params: { guid: string; scope: string }): Promise<ScopeCircle> {
  const { guid }: GroupRow = await requireGroup(db, params.guid)
  const scope = memberScopes.find((each) => each === params.scope)
  if (!scope) throw badRequest({ scope: [`must be one of ${memberScopes.join(', ')}`] })
  return { guid, scope }
}

interface GivenRow {
  permission: string
  value: string
}

const givenIn = remembered<{ guid: string; scope: string }, GivenRow>((db, { guid, scope }) =>
  db
    .select('scope_permissions')
    .select(['scope_permissions.permission', 'scope_permissions.value'])
    .where('scope_permissions.guid', '=', guid)
    .where('scope_permissions.scope', '=', scope),
)

type Given = Map<string, permissionKit.PermissionValue>

function toGiven(rows: GivenRow[]): Given {
  return new Map(rows.map(({ permission, value }) => [permission, JSON.parse(value)]))
}

/** What was set for the members of a scope; `admin` for an owner. */
async function givenTo(db: TenantDb, { guid, scope }: ScopeCircle): Promise<Given> {
  return toGiven(await givenIn(db, { guid, scope }))
}

/** The values in force for the members of a scope. */
export async function scopeValues(db: TenantDb, circle: ScopeCircle): Promise<ScopeValues> {
  return permissionKit.valuesInForce(scopeCatalogues[circle.scope], await givenTo(db, circle))
}

const nothing: Given = new Map()

/** The same for one who acts: where no group of the app has set anything, nothing is looked up. */
export async function givenToActor(db: TenantDb, actor: Actor, circle: ScopeCircle): Promise<Given> {
  return (await policyOf(db, actor)).hasScopeRules ? givenTo(db, circle) : nothing
}

/** Whether any group of the app has set anything, as a condition. */
export const anyRuled = (db: TenantDb) =>
  sql<SqlBool>`EXISTS (SELECT 1 FROM scope_permissions WHERE scope_permissions.app_id = ${db.appId})`

/** Whether a group has set anything. */
export async function isRuled(db: TenantDb, guid: string): Promise<boolean> {
  const rows = db.select('scope_permissions').select('scope_permissions.scope')
  return (await rows.where('scope_permissions.guid', '=', guid).limit(1).execute()).length > 0
}

/** What was set for an act in a group, and to members of which scopes it may be done. */
export async function saidFor(db: TenantDb, actor: Actor, circle: ScopeCircle, act: string) {
  const given = await givenToActor(db, actor, circle)
  return {
    word: given.get(act) as 'allow' | 'deny' | undefined,
    scopes: (given.get(`${act}.allowedScopes`) ?? []) as string[],
  }
}

export async function scopeValuesFor(db: TenantDb, actor: Actor, circle: ScopeCircle): Promise<ScopeValues> {
  return permissionKit.valuesInForce(scopeCatalogues[circle.scope], await givenToActor(db, actor, circle))
}

/** What holds for a member in one of their groups. */
export interface Membership {
  values: ScopeValues
  joinedAt: number
}

/** A user's groups, by GUID, in which something was set for their scope. */
export async function ruledGroupsOf(db: TenantDb, actor: Actor): Promise<Map<string, Membership>> {
  if (!(await policyOf(db, actor)).hasScopeRules) return new Map()
  const rows = await db
    .select('group_members')
    .innerJoin('groups', (join) =>
      join.onRef('groups.app_id', '=', 'group_members.app_id').onRef('groups.id', '=', 'group_members.group_id'),
    )
    .innerJoin('scope_permissions', (join) =>
      join
        .onRef('scope_permissions.app_id', '=', 'groups.app_id')
        .onRef('scope_permissions.guid', '=', 'groups.guid')
        .onRef('scope_permissions.scope', '=', 'group_members.scope'),
    )
    .select(['groups.guid', 'group_members.scope', 'group_members.joined_at'])
    .select(['scope_permissions.permission', 'scope_permissions.value'])
    .where('group_members.user_id', '=', db.select('users').select('users.id').where('users.uid', '=', actor.uid))
    .execute()
  const byGroup = Map.groupBy(rows, ({ guid }) => guid)
  return new Map(
    [...byGroup].map(([guid, given]) => {
      const [{ scope, joined_at }] = given as [(typeof given)[number]]
      const values = permissionKit.valuesInForce(scopeCatalogues[scope], toGiven(given))
      return [guid, { values, joinedAt: joined_at }]
    }),
  )
}

export async function setScopeValues(
  db: TenantDb,
  { guid, scope }: ScopeCircle,
  values: Map<string, permissionKit.PermissionValue>,
): Promise<void> {
  await keepGroup(db, guid)
  await oneAtATime(db, lockName)
  await db
    .insert(
      'scope_permissions',
      [...values].map(([permission, value]) => ({ guid, scope, permission, value: JSON.stringify(value) })),
    )
    .onConflict((conflict) =>
      conflict.columns(['app_id', 'guid', 'scope', 'permission']).doUpdateSet({ value: sql`excluded.value` }),
    )
    .execute()
}

/** Back to the default; answers whether it was set. */
export async function unsetScopeValue(
  db: TenantDb,
  { guid, scope }: ScopeCircle,
  permission: string,
): Promise<boolean> {
  await oneAtATime(db, lockName)
  const row = await db
    .delete('scope_permissions')
    .where('guid', '=', guid)
    .where('scope', '=', scope)
    .where('permission', '=', permission)
    .returning('permission')
    .executeTakeFirst()
  return row !== undefined
}

/** All that was set in a group that is no more. */
export async function forgetGroup(db: TenantDb, guid: string): Promise<boolean> {
  const forgotten = await db.delete('scope_permissions').where('guid', '=', guid).returning('guid').execute()
  return forgotten.length > 0
}
