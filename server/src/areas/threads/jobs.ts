import { sql } from 'kysely'
import { deleteSome } from '../../storage/sql.ts'
import { forgetting } from '../users/index.ts'

const atATime = 500

/** Nobody is left who follows. */
export const { forgetUser, forgetDeletedUsers } = forgetting('threads', async ({ db }, { uid }) => {
  const theirs = sql`thread_subscriptions.uid = ${uid}`
  return (await deleteSome(db, 'thread_subscriptions', atATime, theirs)) === atATime
})
