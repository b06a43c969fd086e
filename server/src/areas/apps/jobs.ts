import { sql } from 'kysely'
import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import { platformUnder } from '../../storage/platform.ts'
import { deleteSome } from '../../storage/sql.ts'
import { leftInStore } from './gates.ts'

const rowsPerBatch = 500
const storeSeconds = 5

/** Deletes an archived app, a bounded batch at a time so that other apps keep their speed. */
export const purgeApp = job({
  name: 'apps.purge',
  payload: Type.Object({}),
  attemptsMax: Number.POSITIVE_INFINITY,
  bulk: true,
  async run(_, work) {
    const { db, now, tools } = work
    if (await leftInStore.ask(work)) return { againAt: now + storeSeconds }
    for (const table of tools.tenantTables) {
      // The job's own row goes when the job is done.
      if (table === 'jobs') continue
      if ((await deleteSome(db, table, rowsPerBatch)) > 0) return { againAt: now }
    }
    if ((await deleteSome(db, 'jobs', rowsPerBatch, sql`jobs.name != 'apps.purge'`)) > 0) return { againAt: now }
    await platformUnder(db).deleteFrom('apps').where('id', '=', db.appId).execute()
    return undefined
  },
})
