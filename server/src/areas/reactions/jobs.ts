import { forgetting } from '../users/index.ts'
import { removeReaction } from './store.ts'

const atATime = 200

/** What a user felt goes with them, and is no longer counted. */
export const forgetUser = forgetting('reactions', async ({ db }, { uid, after }) => {
  const given = await db
    .select('reactions')
    .select(['reactions.id', 'reactions.message_id', 'reactions.reaction'])
    .where('reactions.uid', '=', uid)
    .where('reactions.id', '>', after)
    .orderBy('reactions.id')
    .limit(atATime)
    .execute()
  for (const { message_id, reaction } of given) await removeReaction(db, { id: message_id }, uid, reaction)
  const last = given.at(-1)
  return last && given.length === atATime ? { after: last.id } : undefined
})
