import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import { findUser } from '../users/index.ts'
import { purge } from './purge.ts'

const atATime = 200

/** Some messages at a time. What a later user of the same UID says is younger, and stays. */
export const forgetUser = job({
  name: 'messages.forgetUser',
  payload: Type.Object({ uid: Type.String(), at: Type.Integer() }),
  attemptsMax: Number.POSITIVE_INFINITY,
  async run({ uid, at }, work) {
    const { db } = work
    // Within the second of the deletion nobody can tell the two apart; what may be the later user's stays.
    const before = (await findUser(db, uid)) ? at : at + 1
    const messages = await db
      .select('messages')
      .select(['messages.id', 'messages.reply_count'])
      .where('messages.sender', '=', uid)
      .where('messages.sent_at', '<', before)
      .orderBy('messages.id')
      .limit(atATime)
      .execute()
    await purge(work, messages)
    if (messages.length === atATime) return { againAt: work.now }
    await db.delete('conversation_rows').where('uid', '=', uid).where('created_at', '<', before).execute()
    return undefined
  },
})
