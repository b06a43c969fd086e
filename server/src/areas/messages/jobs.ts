import { sql } from 'kysely'
import { type Channel, channelKey } from '../../kit/channel.ts'
import { deleteSome } from '../../storage/sql.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { groupChannel } from '../timeline/events.ts'
import {
  type ConversationKey,
  conversationIdOf,
  messagesPerBatch,
  placeOfKey,
  rowsPerBatch,
} from '../timeline/index.ts'
import { userChannel } from '../users/events.ts'
import { forgetting } from '../users/index.ts'
import { messagesPurged } from './events.ts'
import { purge } from './purge.ts'

/** What a user has said goes with them, and then their sides of conversations. */
export const forgetUser = forgetting('messages', async (work, { uid, after }) => {
  const { db } = work
  const messages = await db
    .select('messages')
    .select(['messages.id', 'messages.parent_id', 'messages.reply_count', 'messages.conversation_key'])
    .where('messages.sender', '=', uid)
    .where('messages.id', '>', after)
    .orderBy('messages.id')
    .limit(messagesPerBatch)
    // Held, so that no reply comes to one of them meanwhile.
    .modifyEnd(db.holdRows)
    .execute()
  await purge(work, messages)
  const byConversation = Map.groupBy(messages, ({ conversation_key }) => conversation_key)
  await work.emitEach(
    messagesPurged,
    [...byConversation].map(([conversationKey, some]) => ({
      conversationId: conversationIdOf(conversationKey),
      ids: some.map(({ id }) => String(id)),
      audience: everybodyIn(conversationKey).map(channelKey),
    })),
  )
  const last = messages.at(-1)
  if (last && messages.length === messagesPerBatch) return { after: last.id }
  return (await forgetSides(db, uid)) ? { after } : undefined
})

/** Also somebody who is blocked: their lists lose these messages as well. */
function everybodyIn(conversationKey: ConversationKey): Channel[] {
  const { type, first, second } = placeOfKey(conversationKey)
  return type === 'group' ? [groupChannel(first)] : [...new Set([first, second])].map(userChannel)
}

/** Some sides of conversations, with the receipts that were given there. Answers whether there may be more. */
async function forgetSides(db: TenantDb, uid: string): Promise<boolean> {
  const sides = await db
    .select('conversation_rows')
    .select('conversation_rows.conversation_key')
    .where('conversation_rows.uid', '=', uid)
    .limit(messagesPerBatch)
    .execute()
  if (sides.length === 0) return false
  const ids = sides.map(({ conversation_key }) => conversation_key)
  const given = sql`receipt_marks.uid = ${uid} AND receipt_marks.conversation_key IN (${sql.join(ids)})`
  if ((await deleteSome(db, 'receipt_marks', rowsPerBatch, given)) > 0) return true
  await db.delete('conversation_rows').where('uid', '=', uid).where('conversation_key', 'in', ids).execute()
  return true
}
