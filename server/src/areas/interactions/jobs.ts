import { sql } from 'kysely'
import { deleteSome } from '../../storage/sql.ts'
import { rowsPerBatch } from '../timeline/index.ts'
import { forgetting } from '../users/index.ts'

/** What a user did with buttons and fields goes with him. */
export const { forgetUser, forgetDeletedUsers } = forgetting('interactions', async ({ db }, { uid, before, after }) => {
  const theirs = sql`interactions.uid = ${uid} AND interactions.interacted_at < ${before}`
  const left = await deleteSome(db, 'interactions', rowsPerBatch, theirs)
  return left === rowsPerBatch ? { after } : undefined
})
