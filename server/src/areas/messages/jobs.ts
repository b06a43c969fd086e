import { forgetting } from '../users/index.ts'
import { purge } from './purge.ts'

const atATime = 200

/** What a user has said goes with him. What a later user of the same UID says is younger, and stays. */
export const { forgetUser, forgetDeletedUsers } = forgetting('messages', async (work, { uid, before }) => {
  const { db } = work
  const messages = await db
    .select('messages')
    .select(['messages.id', 'messages.parent_id', 'messages.reply_count'])
    .where('messages.sender', '=', uid)
    .where('messages.sent_at', '<', before)
    .orderBy('messages.id')
    .limit(atATime)
    .execute()
  await purge(work, messages)
  if (messages.length === atATime) return true
  await db.delete('conversation_rows').where('uid', '=', uid).where('created_at', '<', before).execute()
  return false
})
