import { prepared, type TenantDb } from '../../storage/tenant.ts'
import type { UserRow } from './tables.ts'

const activeUserByUid = prepared<{ uid: string }, UserRow>((db, { uid }) =>
  db.select('users').selectAll().where('users.uid', '=', uid).where('users.deactivated_at', 'is', null),
)

/** The user who goes by `uid`, in any letter case, unless unknown or deactivated. */
export async function findActiveUser(db: TenantDb, uid: string): Promise<UserRow | undefined> {
  const [row] = await activeUserByUid(db, { uid: uid.toLowerCase() })
  return row
}

/** Adds the users that do not exist yet. */
export async function addMissingUsers(
  db: TenantDb,
  users: { uid: string; name: string }[],
  now: number,
): Promise<void> {
  if (users.length === 0) return
  await db
    .insert(
      'users',
      users.map(({ uid, name }) => ({ uid, name, created_at: now })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
