import { sql } from 'kysely'
import { deleteSome } from '../../storage/sql.ts'
import { messagesPerBatch, rowsPerBatch } from '../timeline/index.ts'
import { forgetting } from '../users/index.ts'
import { purge } from './purge.ts'

/** What a user has said goes with him, and then his sides of conversations. */
export const { forgetUser, forgetDeletedUsers } = forgetting('messages', async (work, { uid, before, after }) => {
  const { db } = work
  const messages = await db
    .select('messages')
    .select(['messages.id', 'messages.parent_id', 'messages.reply_count'])
    .where('messages.sender', '=', uid)
    .where('messages.id', '>', after)
    .where('messages.sent_at', '<', before)
    .orderBy('messages.id')
    .limit(messagesPerBatch)
    .execute()
  await purge(work, messages)
  const last = messages.at(-1)
  if (last) return { after: last.id }
  const ofUser = sql`conversation_rows.uid = ${uid} AND conversation_rows.created_at < ${before}`
  const left = await deleteSome(db, 'conversation_rows', rowsPerBatch, ofUser)
  return left === rowsPerBatch ? { after } : undefined
})
