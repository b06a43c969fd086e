import { sql } from 'kysely'
import type { Actor } from '../../kit/operation.ts'
import { prepared, remembered, type TenantDb } from '../../storage/tenant.ts'
import { entriesOfUser } from '../rbac/index.ts'
import { uidsBlockedBy } from './gates.ts'
import { findActiveUser } from './store.ts'
import type { UserRow } from './tables.ts'

declare module '../../kit/operation.ts' {
  interface Actor {
    /** The user, as found when the call began. */
    row?: UserRow
    /** Whom they have blocked, once that has been asked. */
    blocked?: Promise<string[]>
  }
}

const userWithEntries = remembered<{ uid: string }, UserRow & { entries: string }>((db, { uid }) =>
  db.select('users').selectAll('users').select(entriesOfUser(db).as('entries')).where('users.uid', '=', uid),
)

/** An active user as they act, in any letter case of their UID; what their role allows is found with them. */
export async function actorOf(db: TenantDb, uid: string): Promise<Actor | undefined> {
  const [found] = await userWithEntries(db, { uid: uid.toLowerCase() })
  if (found?.deactivated_at !== null) return undefined
  const { entries, ...row } = found
  return { uid: row.uid, role: row.role, roleId: row.role_id, row, entries }
}

/** The user who acts, as found when the request began; nobody looks them up twice. */
export async function userActing(db: TenantDb, actor: Actor): Promise<UserRow | undefined> {
  return actor.row ?? findActiveUser(db, actor.uid)
}

/** Whom the acting user has blocked; read once for each call. */
export function blockedBy(db: TenantDb, actor: Actor): Promise<string[]> {
  actor.blocked ??= uidsBlockedByUser(db, actor.uid)
  return actor.blocked
}

const blockedByUser = prepared<{ uid: string }, { uid: string }>(
  (db, { uid }) => db.sql`SELECT blocked.uid FROM ${uidsBlockedBy.ask(db, sql`${uid}`)} AS blocked`,
)

export async function uidsBlockedByUser(db: TenantDb, uid: string): Promise<string[]> {
  return (await blockedByUser(db, { uid })).map((row) => row.uid)
}
