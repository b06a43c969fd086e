import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import pino from 'pino'
import { databases, freshDatabase } from '../../../../tests/support/databases.ts'
import { openHouse } from '../../compose.ts'
import { readConfig } from '../../config.ts'
import { migrate } from '../../storage/migrate.ts'
import { talliesAt } from '../../storage/tally.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { auditUsers } from './audit.ts'

const appId = '0123456789abcdef'
const dropsStatus = '20261124-users-without-status'

for (const database of databases) {
  describe(`users whose rows told whether they are connected, on ${database}`, () => {
    it('are listed and counted as before, whatever it was', async () => {
      const fresh = await freshDatabase(database)
      const house = await openHouse(readConfig(fresh.environment), pino({ level: 'silent' }))
      try {
        // As the rows were before the step, which is then taken again.
        await house.database.write(async ({ query }) => {
          await query.schema
            .alterTable('users')
            .addColumn('status', 'text', (column) => column.notNull().defaultTo('offline'))
            .execute()
          await sql`INSERT INTO apps (id, account_id, region, name, created_at)
            VALUES (${appId}, 1, 'us', 'a', 1)`.execute(query)
        })
        await house.database.write(async (connection) => {
          const db = tenantDb(connection, appId)
          const people = [
            ['ada', 'default', 'available', null],
            ['lin', 'default', 'offline', null],
            ['max', 'offline', 'offline', null],
            ['eve', 'default', 'offline', 5],
          ] as const
          for (const [uid, role, status, deactivated_at] of people) {
            const facets = `${role}|${status}|${deactivated_at === null ? 0 : 1}`
            const row = { uid, id: uid, name: uid, role, created_at: 1_000, deactivated_at, facets, status }
            await db.insert('users', row as never).execute()
            for (const tally of talliesAt('users', { at: 1_000, facets }, 1)) {
              await db
                .insert('tallies', tally)
                .onConflict((conflict) =>
                  conflict
                    .columns(['app_id', 'list', 'level', 'bucket', 'facets'])
                    .doUpdateSet((is) => ({ n: is('tallies.n', '+', 1) })),
                )
                .execute()
            }
          }
          await sql`DELETE FROM migrations WHERE name = ${dropsStatus}`.execute(connection.query)
        })
        await migrate(
          house.database,
          house.areas.map(({ migrations }) => migrations),
        )
        const { checked, findings } = await auditUsers(tenantDb(house.database.reader, appId))
        assert.equal(checked, 4)
        assert.deepEqual(
          findings.filter((each) => !each.includes('cannot be found by search')),
          [],
        )
      } finally {
        await house.close()
        await fresh.drop()
      }
    })
  })
}
