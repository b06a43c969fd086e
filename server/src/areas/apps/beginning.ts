import { platformUnder } from '../../storage/platform.ts'
import type { TenantDb } from '../../storage/tenant.ts'

const known = new WeakMap<TenantDb, Promise<number>>()

/** When the app was created; read once by whoever asks. */
export function createdAtOf(db: TenantDb): Promise<number> {
  const at = known.get(db) ?? stored(db)
  known.set(db, at)
  return at
}

async function stored(db: TenantDb): Promise<number> {
  const apps = platformUnder(db).selectFrom('apps')
  const app = await apps.select('created_at').where('id', '=', db.appId).executeTakeFirst()
  return app?.created_at ?? 0
}
