import { type Expression, type RawBuilder, sql } from 'kysely'
import type { Actor } from '../../kit/operation.ts'
import { rowsAsText } from '../../storage/sql.ts'
import { remembered, type TenantDb } from '../../storage/tenant.ts'
import { defaultRole } from '../roles/schemas.ts'
import { permissionDenied } from './errors.ts'
import { scopesAreRuled } from './gates.ts'
import { mayUse, type Policy, type RoleAct } from './rules.ts'
import { readValues } from './store.ts'

declare module '../../kit/operation.ts' {
  interface Actor {
    /** What is written down about their role, as it was found with them. */
    entries?: string
    /** What their role allows, once that has been asked. */
    policy?: Promise<Policy>
  }
}

/** One thing that is written down about a role. */
interface Entry {
  role: string
  what: 'role' | 'permission' | 'restriction' | 'scopes'
  name: string
  value: string | null
}

const is = (what: Entry['what']) => sql<Entry['what']>`${sql.lit(what)}`.as('what')

/**
 * All that is written down about a role and about `default`, in one question to the database: it is asked for every call
 * that a user makes. Nothing of it is remembered between calls, so a change acts at once on every node.
 */
function entriesOf(db: TenantDb, role: Expression<string>) {
  const either = [role, sql<string>`${defaultRole}`]
  return db
    .select('roles')
    .select(['roles.role', is('role'), 'roles.id as name', 'roles.settings as value'])
    .where('roles.role', 'in', either)
    .unionAll(
      db
        .select('roles')
        .innerJoin('role_permissions', (join) =>
          join.onRef('role_permissions.app_id', '=', 'roles.app_id').onRef('role_permissions.role_id', '=', 'roles.id'),
        )
        .select([
          'roles.role',
          is('permission'),
          'role_permissions.permission as name',
          sql<string | null>`role_permissions.value`.as('value'),
        ])
        .where('roles.role', 'in', either),
    )
    .unionAll(
      db
        .select('roles')
        .innerJoin('restricted_features', (join) =>
          join
            .onRef('restricted_features.app_id', '=', 'roles.app_id')
            .onRef('restricted_features.role_id', '=', 'roles.id'),
        )
        .select([
          'roles.role',
          is('restriction'),
          'restricted_features.feature as name',
          sql<string | null>`NULL`.as('value'),
        ])
        .where('roles.role', 'in', either),
    )
    .unionAll(
      db
        .select('roles')
        .select(['roles.role', is('scopes'), 'roles.role as name', sql<string | null>`NULL`.as('value')])
        .where('roles.role', 'in', either)
        .where(scopesAreRuled.ask(db)),
    )
}

const entryColumns = ['role', 'what', 'name', 'value'] as const

/** The same for the user of a row of `users`, as a column of it: whoever reads who acts reads what they may. */
export function entriesOfUser(db: TenantDb): RawBuilder<string> {
  return rowsAsText(db, entryColumns, entriesOf(db, sql.ref('users.role')))
}

function readEntries(text: string): Entry[] {
  const rows: [Entry['role'], Entry['what'], Entry['name'], Entry['value']][] = JSON.parse(text)
  return rows.map(([role, what, name, value]) => ({ role, what, name, value }))
}

const entriesOfRole = remembered<{ role: string }, Entry>((db, { role }) => entriesOf(db, sql`${role}`))

/** What the acting user's role allows; read once for each call. */
export function policyOf(db: TenantDb, actor: Actor): Promise<Policy> {
  actor.policy ??= readPolicy(db, actor)
  return actor.policy
}

async function readPolicy(db: TenantDb, actor: Actor): Promise<Policy> {
  const all = actor.entries === undefined ? await entriesOfRole(db, { role: actor.role }) : readEntries(actor.entries)
  const role = all.some((entry) => isRoleOf(actor, entry)) ? actor.role : defaultRole
  const entries = Map.groupBy(
    all.filter((entry) => entry.role === role),
    ({ what }) => what,
  )
  const settings = JSON.parse(entries.get('role')?.[0]?.value ?? '{}')
  const given = (entries.get('permission') ?? []).map(({ name, value }) => ({ permission: name, value: value ?? '' }))
  return {
    role,
    settings: { listUsers: 'all', sendMessagesTo: 'all', ...settings },
    restricted: new Set((entries.get('restriction') ?? []).map(({ name }) => name)),
    values: await readValues(db, given),
    hasScopeRules: entries.has('scopes'),
  }
}

/** A role that was deleted a moment ago counts as `default`, which its users are about to get. */
function isRoleOf({ role, roleId }: Actor, entry: Entry): boolean {
  return entry.what === 'role' && entry.role === role && (roleId === null || entry.name === roleId)
}

/** Refuses an act that the acting user's role does not allow. */
export async function authorise(db: TenantDb, actor: Actor, act: string): Promise<void> {
  if (!mayUse(await policyOf(db, actor), act as RoleAct)) throw permissionDenied()
}

/** Refuses what a rule does not allow. */
export function refuseUnless(allowed: boolean): void {
  if (!allowed) throw permissionDenied()
}
