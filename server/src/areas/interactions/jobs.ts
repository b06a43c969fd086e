import { sql } from 'kysely'
import { deleteSome } from '../../storage/sql.ts'
import { forgetting } from '../users/index.ts'

const atATime = 500

/** What a user did with buttons and fields goes with him. */
export const { forgetUser, forgetDeletedUsers } = forgetting('interactions', async ({ db }, { uid, before }) => {
  const theirs = sql`interactions.uid = ${uid} AND interactions.interacted_at < ${before}`
  return (await deleteSome(db, 'interactions', atATime, theirs)) === atATime
})
