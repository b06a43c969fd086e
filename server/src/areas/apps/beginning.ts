import type { TenantDb } from '../../storage/tenant.ts'

const known = new WeakMap<TenantDb, Promise<number>>()

/** When the app was created; read once by whoever asks. */
export function createdAtOf(db: TenantDb): Promise<number> {
  const at = known.get(db) ?? stored(db)
  known.set(db, at)
  return at
}

async function stored({ appId, connection }: TenantDb): Promise<number> {
  const app = await connection.query.selectFrom('apps').select('created_at').where('id', '=', appId).executeTakeFirst()
  return app?.created_at ?? 0
}
