import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import { purge } from './purge.ts'

const atATime = 200

/** Some messages at a time. What a later user of the same UID says is younger, and stays. */
export const forgetUser = job({
  name: 'messages.forgetUser',
  payload: Type.Object({ uid: Type.String(), at: Type.Integer() }),
  attemptsMax: Number.POSITIVE_INFINITY,
  async run({ uid, at }, work) {
    const { db } = work
    const messages = await db
      .select('messages')
      .select(['messages.id', 'messages.reply_count'])
      .where('messages.sender', '=', uid)
      .where('messages.sent_at', '<=', at)
      .orderBy('messages.id')
      .limit(atATime)
      .execute()
    await purge(work, messages)
    if (messages.length === atATime) return { againAt: work.now }
    await db.delete('conversation_rows').where('uid', '=', uid).where('created_at', '<=', at).execute()
    return undefined
  },
})
