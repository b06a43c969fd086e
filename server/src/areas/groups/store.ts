import type { TenantDb } from '../../storage/tenant.ts'

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
