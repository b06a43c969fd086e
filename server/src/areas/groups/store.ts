import type { TenantDb } from '../../storage/tenant.ts'
import { groupNotFound } from './errors.ts'
import type { GroupRow } from './tables.ts'

/** The group of this GUID, in any letter case. */
export async function requireGroup(db: TenantDb, guid: string): Promise<GroupRow> {
  const row = await db.select('groups').selectAll().where('groups.guid', '=', guid.toLowerCase()).executeTakeFirst()
  if (!row) throw groupNotFound({ guid })
  return row
}

/** Adds the groups that do not exist yet. */
export async function addMissingGroups(
  db: TenantDb,
  groups: { guid: string; name: string }[],
  now: number,
): Promise<void> {
  if (groups.length === 0) return
  await db
    .insert(
      'groups',
      groups.map(({ guid, name }) => ({ guid, name, created_at: now })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
