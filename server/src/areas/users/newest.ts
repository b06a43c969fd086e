import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TenantDb } from '../../storage/tenant.ts'
import type { UserRow } from './tables.ts'

// So many rows of a list are read to find its newest change.
const fewUsers = 1_000

/** A page of a list of users, and the way to more of it. */
export interface ListedUsers {
  page: UserRow[]
  total: number
  /** The first of the list, so many. */
  first: (limit: number) => Promise<UserRow[]>
  /** The list holds only those of the app's users whom the viewer may list. */
  isRestricted?: boolean
  /** Whom the viewer may see among those on the list, as `seenBy` answers it; everyone, where there is none. */
  visible?: RawBuilder<SqlBool> | undefined
}

/**
 * When somebody on a list last changed, on whichever page they are. A short list is looked at as a whole. For a long one
 * the newest change in the app stands: it is never too early to ask again from, and the same on every page. Whoever may not
 * list everyone is told about the page they have. Of those on the list whom the viewer may not see, not even that they have
 * changed is told: then there is no answer, and what the records on the page show has to do.
 */
export async function newestChange(db: TenantDb, list: ListedUsers): Promise<number | undefined> {
  const { page, total, first, isRestricted = false, visible } = list
  if (visible || page.length === 0) return undefined
  if (page.length < total && total > fewUsers && !isRestricted) return newestInApp(db)
  const all = page.length < total && total <= fewUsers ? await first(total) : page
  const moments = all.map(({ updated_at, created_at }) => updated_at ?? created_at)
  return Math.max(0, ...moments)
}

const changedAt = sql<number>`coalesce(users.updated_at, users.created_at)`

async function newestInApp(db: TenantDb): Promise<number | undefined> {
  const newest = await db
    .select('users')
    .select(changedAt.as('at'))
    .orderBy(changedAt, 'desc')
    .limit(1)
    .executeTakeFirst()
  return newest?.at
}
