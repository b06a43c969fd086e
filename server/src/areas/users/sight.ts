import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Actor } from '../../kit/operation.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { policyOf, roleRules } from '../rbac/index.ts'
import { uidsOfFriends } from './gates.ts'
import { systemUid } from './store.ts'

/**
 * Whom a user may get with `GET /users/{uid}`. Nobody else is shown to them inside other records either: there, such a
 * user is no more than a UID.
 */
export type Sight = (uid: string) => boolean

export const everyone: Sight = () => true

/** Which of some users a viewer may see. Who they are is asked only where that is not everyone. */
export async function sightOf(db: TenantDb, viewer: Actor | undefined, uids: () => string[]): Promise<Sight> {
  const condition = viewer && (await seenBy(db, viewer))
  if (!condition) return everyone
  const named = [...new Set(uids())]
  const rows =
    named.length === 0
      ? []
      : await db.select('users').select('users.uid').where('users.uid', 'in', named).where(condition).execute()
  const seen = new Set([systemUid, ...rows.map(({ uid }) => uid)])
  return (uid) => seen.has(uid)
}

/** The same as a condition on `users`, for lists that can be searched by what a record tells; nothing for everyone. */
export async function seenBy(db: TenantDb, viewer: Actor): Promise<RawBuilder<SqlBool> | undefined> {
  const { uid } = viewer
  const seen = roleRules.seenUsers(await policyOf(db, viewer))
  if (seen === 'everyone') return undefined
  const self = sql<SqlBool>`users.uid = ${uid}`
  if (seen === 'nobody') return self
  const { friendsOnly, roles } = seen
  const others = [
    ...(friendsOnly ? [sql`users.uid IN ${uidsOfFriends.ask(db, uid)}`] : []),
    ...(roles.length > 0 ? [sql`users.role IN (${sql.join(roles)})`] : []),
  ]
  return sql<SqlBool>`(${self} OR (${sql.join(others, sql` AND `)}))`
}
