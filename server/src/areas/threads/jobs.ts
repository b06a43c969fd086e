import { sql } from 'kysely'
import { deleteSome } from '../../storage/sql.ts'
import { rowsPerBatch } from '../timeline/index.ts'
import { forgetting } from '../users/index.ts'

/** Nobody is left who follows. */
export const forgetUser = forgetting('threads', async ({ db }, { uid, after }) => {
  const theirs = sql`thread_subscriptions.uid = ${uid}`
  const left = await deleteSome(db, 'thread_subscriptions', rowsPerBatch, theirs)
  return left > 0 ? { after } : undefined
})
