import { badRequest } from '../../kit/errors.ts'
import { oneAtATime } from '../../storage/sql.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import type { RoleRow } from '../roles/index.ts'
import { type Feature, features, prefixedKey } from './catalogue.ts'
import type { RestrictedFeature } from './schemas.ts'
import type { RestrictedFeatureRow } from './tables.ts'

/** Calls that change the same rows in different order would wait for each other for ever. */
const lockName = 'restricted-features'

/** What a role may not do, in the order of the keys; the order is ours because databases sort letters differently. */
export async function restrictionsOf(db: TenantDb, role: RoleRow): Promise<RestrictedFeatureRow[]> {
  const rows = await db
    .select('restricted_features')
    .selectAll()
    .where('restricted_features.role_id', '=', role.id)
    .execute()
  return rows.toSorted((a, b) => (a.feature < b.feature ? -1 : 1))
}

/** Restricts the features that are not yet; answers which those are. */
export async function restrict(db: TenantDb, role: RoleRow, keys: string[], now: number): Promise<string[]> {
  await oneAtATime(db, lockName)
  const inserted = await db
    .insert(
      'restricted_features',
      keys.map((feature) => ({ role_id: role.id, feature, created_at: now })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('feature')
    .execute()
  return inserted.map(({ feature }) => feature)
}

/** Lifts these restrictions, or all; answers which there were. */
export async function allow(db: TenantDb, { id }: RoleRow, keys: string[] | 'all'): Promise<string[]> {
  await oneAtATime(db, lockName)
  const rows = db.delete('restricted_features').where('role_id', '=', id)
  const deleted = await (keys === 'all' ? rows : rows.where('feature', 'in', keys)).returning('feature').execute()
  return deleted.map(({ feature }) => feature)
}

/** All that is restricted for a role that is no more. */
export async function forgetRole(db: TenantDb, roleId: string): Promise<void> {
  await db.delete('restricted_features').where('role_id', '=', roleId).execute()
}

export function requireFeature(key: string): Feature {
  const feature = features.get(key)
  if (!feature) throw badRequest({ [prefixedKey(key)]: ['is no feature'] })
  return feature
}

export function toRestrictedFeature({ feature: key, created_at }: RestrictedFeatureRow): RestrictedFeature {
  const { title, description, path } = requireFeature(key)
  return { title, description, key: prefixedKey(key), path, createdAt: created_at }
}
