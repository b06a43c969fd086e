import { sql } from 'kysely'
import type { Actor } from '../../kit/operation.ts'
import { eachOf } from '../../storage/sql.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { seenBy } from './sight.ts'
import { usersAmong } from './store.ts'
import type { UserRow } from './tables.ts'

/** A user as records name them that only tell who was there. */
export interface NamedUser {
  uid: string
  name: string
  avatar?: string
}

/** Those of `uids`, however many, whom the viewer may see, by UID. Of everybody else nothing is known but the UID. */
export async function usersNamedTo(db: TenantDb, viewer: Actor, uids: string[]): Promise<Map<string, NamedUser>> {
  if (uids.length === 0) return new Map()
  const asked = sql`SELECT * FROM ${eachOf(db, [...new Set(uids)])} AS asked`
  const named = usersAmong(db, asked, sql`users.uid, users.name, users.avatar`)
  const seen = (await seenBy(db, viewer)) ?? sql`1 = 1`
  const rows = await db.sql<Pick<UserRow, 'uid' | 'name' | 'avatar'>>`${named} AND ${seen}`.execute()
  return new Map(rows.map(({ uid, name, avatar }) => [uid, { uid, name, ...(avatar !== null && { avatar }) }]))
}
