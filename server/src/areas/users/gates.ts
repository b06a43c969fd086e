import { type Expression, type RawBuilder, sql } from 'kysely'
import type { Work } from '../../kit/work.ts'
import { gate } from '../../plain/gate.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import type { UserRow } from './tables.ts'

/** The blocks between the acting user and another, in the words of the record; absent where there is none. */
export interface Blocks {
  blockedByMe?: true
  blockedByMeAt?: number
  hasBlockedMe?: true
  hasBlockedMeAt?: number
  blockedAt?: number
}

/** Which blocks stand between `uid` and each of `others`. The area of blocked users brings the answer. */
export const blocksBetween = gate(
  'blocksBetween',
  async (_db: TenantDb, _uid: string, _others: string[]): Promise<Map<string, Blocks>> => new Map(),
)

/** The UIDs with a block between them and `uid`, in either direction, as a subquery of one column. */
export const uidsBlockedWith = gate(
  'uidsBlockedWith',
  (_db: TenantDb, _uid: string): Expression<string> => sql<string>`(SELECT NULL WHERE 1 = 0)`,
)

/** The UIDs that `uid` has blocked, as a subquery of the column `uid`. The area of blocked users brings the answer. */
export const uidsBlockedBy = gate(
  'uidsBlockedBy',
  (_db: TenantDb, _uid: RawBuilder<string>): RawBuilder<string> => sql<string>`(SELECT '' AS uid WHERE 1 = 0)`,
)

/** The UIDs of the friends of `uid`, as a subquery of one column. The area of friends brings the answer. */
export const uidsOfFriends = gate(
  'uidsOfFriends',
  (_db: TenantDb, _uid: string): Expression<string> => sql<string>`(SELECT NULL WHERE 1 = 0)`,
)

/** Issues an auth token to a new user. The area of auth tokens brings the answer. */
export const issueFirstToken = gate('issueFirstToken', async (_work: Work, _user: UserRow): Promise<string> => {
  throw new Error('No area issues auth tokens.')
})
