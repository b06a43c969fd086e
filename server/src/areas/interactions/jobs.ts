import { sql } from 'kysely'
import { deleteSome } from '../../storage/sql.ts'
import { rowsPerBatch } from '../timeline/index.ts'
import { forgetting } from '../users/index.ts'

/** What a user did with buttons and fields goes with them. */
export const forgetUser = forgetting('interactions', async ({ db }, { uid, after }) => {
  const theirs = sql`interactions.uid = ${uid}`
  const left = await deleteSome(db, 'interactions', rowsPerBatch, theirs)
  return left > 0 ? { after } : undefined
})
