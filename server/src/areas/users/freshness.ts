import { sql } from 'kysely'
import { newestOf } from '../../kit/page.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import type { User } from './schemas.ts'

/** When something last changed in a list of users: the same on every page, so that nobody has to read them all to know. */

// So many users are looked at to answer that. For longer lists all users of the app stand, who changed then or later.
const lookedAtMax = 1_000

type Shown = Pick<User, 'createdAt' | 'updatedAt'>

interface List {
  page: Shown[]
  total: number
  /** So many of the list from its beginning, as whoever asks may see them. */
  first: (count: number) => Promise<Shown[]>
}

export async function newestInList(db: TenantDb, { page, total, first }: List): Promise<number> {
  if (page.length === 0) return 0
  if (page.length >= total) return newestOf(page)
  return total <= lookedAtMax ? newestOf(await first(total)) : newestInApp(db)
}

/** The newest change of any user; of those with some facets, where these are given. */
export async function newestInApp(db: TenantDb, facets?: string[]): Promise<number> {
  const newest = (condition: ReturnType<typeof sql>) => sql`SELECT * FROM (
    SELECT ${changedAt} AS at FROM users WHERE users.app_id = ${db.appId} ${condition}
    ORDER BY ${changedAt} DESC LIMIT 1) AS newest`
  const each = facets ? facets.map((one) => newest(sql`AND users.facets = ${one}`)) : [newest(sql``)]
  const { rows } = await sql<{ at: number | null }>`SELECT max(at) AS at FROM (
    ${sql.join(each, sql` UNION ALL `)}) AS newest_of_all`.execute(db.connection.query)
  return rows[0]?.at ?? 0
}

const changedAt = sql`coalesce(users.updated_at, users.created_at)`
