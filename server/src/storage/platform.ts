import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'
import type { TenantDb } from './tenant.ts'
import { connectionUnder } from './underneath.ts'

/** A connection that sees the install as a whole. Of all areas, only apps is given one: the list of apps is its own. */
export type Platform = Kysely<Tables>

/** The platform as it is seen from an app, in the same transaction. */
export function platformUnder(db: TenantDb): Platform {
  return connectionUnder(db).query
}
