import { sql } from 'kysely'
import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import { deleteSome } from '../../storage/sql.ts'
import { messagesPerBatch, rowsPerBatch } from '../timeline/index.ts'
import { findUser } from '../users/index.ts'
import { purge } from './purge.ts'

/** Some messages at a time, and then the user's sides of conversations. What a later user of the same UID says is younger, and stays. */
export const forgetUser = job({
  name: 'messages.forgetUser',
  payload: Type.Object({ uid: Type.String(), at: Type.Integer(), after: Type.Optional(Type.Integer()) }),
  attemptsMax: Number.POSITIVE_INFINITY,
  bulk: true,
  async run({ uid, at, after = 0 }, work) {
    const { db } = work
    // Within the second of the deletion nobody can tell the two apart; what may be the later user's stays.
    const before = (await findUser(db, uid)) ? at : at + 1
    const messages = await db
      .select('messages')
      .select(['messages.id', 'messages.reply_count'])
      .where('messages.sender', '=', uid)
      .where('messages.id', '>', after)
      .where('messages.sent_at', '<', before)
      .orderBy('messages.id')
      .limit(messagesPerBatch)
      .execute()
    await purge(work, messages)
    const last = messages.at(-1)
    if (last) return { againAt: work.now, payload: { uid, at, after: last.id } }
    const ofUser = sql`conversation_rows.uid = ${uid} AND conversation_rows.created_at < ${before}`
    const left = await deleteSome(db, 'conversation_rows', rowsPerBatch, ofUser)
    return left === rowsPerBatch ? { againAt: work.now } : undefined
  },
})
