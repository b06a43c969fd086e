import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { databases } from '../../../../tests/support/databases.ts'
import { assertSucceeds, house } from '../../../../tests/support/house.ts'
import { appWith, as } from '../../../../tests/support/talk.ts'
import { acrossApps } from '../../../../tests/support/tripwire.ts'
import { migrate } from '../../storage/migrate.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { auditCalls } from './audit.ts'

const notesSides = '20261202-sides-of-calls'

for (const database of databases) {
  describe(`calls from before it was noted who placed them, on ${database}`, () => {
    it('stand in the log with their direction and group', async () => {
      const h = await house({ database })
      const app = await appWith(h, 'ada', 'lin')
      await app.play({ initiator: 'ada', receiver: 'lin', steps: [{ after: 3, do: 'cancel' }] })
      await app.play({ initiator: 'lin', receiver: 'ada', steps: [{ after: 3, do: 'cancel' }] })
      const toTeam = { initiator: 'lin', receiver: 'team', receiverType: 'group', invited: ['ada'] }
      const { sessionId } = await app.play({ ...toTeam, steps: [{ after: 3, do: 'cancel' }] })
      const { database: storage, areas } = h.service.house
      await acrossApps(async () => {
        // As the rows were before the step, which is then taken again.
        await storage.write(async ({ query }) => {
          await query.schema.dropIndex('call_members_by_time').execute()
          for (const column of ['placed', 'guid']) {
            await query.schema.alterTable('call_members').dropColumn(column).execute()
          }
          const columns = ['app_id', 'uid', 'initiated_at desc', 'session_id']
          await query.schema.createIndex('call_members_by_time').on('call_members').columns(columns).execute()
          await sql`DELETE FROM migrations WHERE name = ${notesSides}`.execute(query)
        })
        await migrate(
          storage,
          areas.map(({ migrations }) => migrations),
        )
      })
      const { checked, findings } = await auditCalls(tenantDb(storage.reader, app.id))
      assert.deepEqual([checked, findings], [3, []])
      const listed = async (query: string) => assertSucceeds(await app.get(`/calls?${query}`, as('ada'))).data
      assert.equal((await listed('direction=outgoing')).length, 1)
      assert.deepEqual(
        (await listed('guid=team')).map((call: { sessionId: string }) => call.sessionId),
        [sessionId],
      )
      await h.close()
    })
  })
}
