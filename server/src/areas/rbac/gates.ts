import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { gate } from '../../plain/gate.ts'
import type { TenantDb } from '../../storage/tenant.ts'

/**
 * Whether some group of the app has set something for a scope, as a condition. It is asked in the one statement that reads
 * a policy, so that apps without such rules pay nothing for them; the area of scope permissions brings it.
 */
export const scopesAreRuled = gate('scopesAreRuled', (_db: TenantDb): RawBuilder<SqlBool> => sql<SqlBool>`1 = 0`)
