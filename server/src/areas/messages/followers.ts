import { follower } from '../../kit/follower.ts'
import { removeSearchEntries } from '../../storage/search.ts'
import { releaseFiles } from '../files/index.ts'
import { messagesErased } from '../timeline/events.ts'
import { erasuresAtOnce, forgetting } from '../timeline/index.ts'
import { userDeleted } from '../users/events.ts'
import { forgetUser } from './jobs.ts'
import { messagesList } from './store.ts'

/** What a user has said goes with him, once he is gone for good. */
export const forgetDeletedUsers = follower({
  name: 'messages.deletedUsers',
  on: [userDeleted],
  handle: ({ payload: { uid, id }, at }, { later }) => later(forgetUser, { uid, at }, { key: id }),
})

const { forget, forgetRest } = forgetting('messages', [
  ['message_mentions', 'message_id'],
  ['message_tags', 'message_id'],
  ['message_actions', 'message_id'],
])

/** Files, tags, words and history of messages that are gone, whoever removed them. */
export const forgetErased = follower({
  name: 'messages.erased',
  on: [messagesErased],
  eventsAtOnce: erasuresAtOnce,
  async handle(event, work) {
    const { ids } = event.payload
    await releaseFiles(work, ids)
    await removeSearchEntries(work.db, messagesList, ids.map(String))
    await forget(event, ids, work)
  },
})

export { forgetRest }
