import { randomBytes } from 'node:crypto'
import { metadataText } from '../../common/metadata.ts'
import { alreadyTaken, quotaReached } from '../../common/refusals.ts'

import type { Work } from '../../kit/work.ts'
import { oneAtATime } from '../../storage/sql.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { roleNotFound } from './errors.ts'
import { defaultRole, type Role, type RoleCreate, type RoleSettings, type RoleUpdate } from './schemas.ts'
import type { RoleRow } from './tables.ts'

const rolesMax = 25
const idBytes = 8

/** How many roles of an app there may be holds only if one transaction looks at a time. */
const lockName = 'roles'

const rowByRole = prepared<{ role: string }, RoleRow>((db, { role }) =>
  db.select('roles').selectAll().where('roles.role', '=', role),
)

/** The role of this id, in any letter case. */
export async function requireRole(db: TenantDb, role: string): Promise<RoleRow> {
  const [row] = await rowByRole(db, { role: role.toLowerCase() })
  if (!row) throw roleNotFound({ role })
  return row
}

const idsOfRoles = prepared<object, Pick<RoleRow, 'role' | 'id'>>((db) =>
  db.select('roles').select(['roles.role', 'roles.id']),
)

/** The names and ids of all the app's roles. */
export function roleIds(db: TenantDb): Promise<Pick<RoleRow, 'role' | 'id'>[]> {
  return idsOfRoles(db, {})
}

/** The app's roles, newest first. */
export function rolesOf(db: TenantDb) {
  return db.select('roles').selectAll().orderBy('roles.created_at', 'desc').orderBy('roles.role')
}

/** The role that every app begins with and nobody can delete. */
export async function addDefaultRole({ db, now }: Pick<Work, 'db' | 'now'>): Promise<void> {
  await db
    .insert('roles', { role: defaultRole, id: newId(), name: 'Default Role', created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function addRole({ db, now }: Pick<Work, 'db' | 'now'>, body: RoleCreate): Promise<RoleRow> {
  await oneAtATime(db, lockName)
  const role = body.role.toLowerCase()
  const existing = await db.select('roles').select(['roles.role']).execute()
  if (existing.some((other) => other.role === role)) throw alreadyTaken('role', `A role with the id ${role}`)
  if (existing.length >= rolesMax) throw quotaReached({ limit: `${rolesMax} roles per app` })
  return db
    .insert('roles', { role, id: newId(), name: body.name, ...optionalColumns(body), created_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function changeRole(
  { db, now }: Pick<Work, 'db' | 'now'>,
  { id, role }: RoleRow,
  body: RoleUpdate,
): Promise<RoleRow> {
  const removed = Object.fromEntries((body.unset ?? []).map((column) => [column, null]))
  const row = await db
    .update('roles')
    .set({
      ...(body.name !== undefined && { name: body.name }),
      ...optionalColumns(body),
      ...removed,
      updated_at: now,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  if (!row) throw roleNotFound({ role })
  return row
}

export async function removeRole(db: TenantDb, { id, role }: RoleRow): Promise<void> {
  const row = await db.delete('roles').where('id', '=', id).returning('id').executeTakeFirst()
  if (!row) throw roleNotFound({ role })
}

function newId(): string {
  return randomBytes(idBytes).toString('hex')
}

function optionalColumns({ description, metadata, settings }: RoleUpdate) {
  return {
    ...(description !== undefined && { description: description || null }),
    ...(metadata !== undefined && { metadata: metadataText(metadata) }),
    ...(settings !== undefined && { settings: JSON.stringify(knownSettings(settings)) }),
  }
}

function knownSettings({ listUsers, sendMessagesTo }: RoleSettings): RoleSettings {
  return { ...(listUsers !== undefined && { listUsers }), ...(sendMessagesTo !== undefined && { sendMessagesTo }) }
}

export function toRole(row: RoleRow): Role {
  return {
    role: row.role,
    name: row.name,
    ...(row.description !== null && { description: row.description }),
    ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) }),
    ...(row.settings !== null && { settings: JSON.parse(row.settings) }),
    createdAt: row.created_at,
    ...(row.updated_at !== null && { updatedAt: row.updated_at }),
  }
}
