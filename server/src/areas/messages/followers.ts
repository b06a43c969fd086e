import { follower } from '../../kit/follower.ts'
import { removeSearchEntries } from '../../storage/search.ts'
import { releaseFiles } from '../files/index.ts'
import { messagesErased } from '../timeline/events.ts'
import { erasuresAtOnce, forgettingMessages } from '../timeline/index.ts'
import { messagesList } from './store.ts'

const { forget, forgetRest } = forgettingMessages('messages', [
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
