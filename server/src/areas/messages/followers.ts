import { follower } from '../../kit/follower.ts'
import { releaseFiles } from '../files/index.ts'
import { messagesErased } from '../timeline/events.ts'
import { forgetContent } from './change.ts'

/** Files, tags, words and history of messages that are gone, whoever removed them. */
export const forgetErased = follower({
  name: 'messages.erased',
  on: [messagesErased],
  async handle({ payload: { ids } }, work) {
    await releaseFiles(work, ids)
    await forgetContent(work.db, ids)
    await work.db.delete('message_actions').where('message_id', 'in', ids).execute()
  },
})
