import { follower } from '../../kit/follower.ts'
import { messageDeleted, messagesCleared } from '../messages/events.ts'
import { forgettingMessages } from '../timeline/index.ts'

export const { forget, forgetErased, forgetRest } = forgettingMessages(
  'reactions',
  [
    ['reaction_counts', 'message_id'],
    ['reactions', 'message_id'],
  ],
  [messagesCleared],
)

/** What people felt about a message goes with its content. */
export const forgetWithMessage = follower({
  name: 'reactions.deletedMessages',
  on: [messageDeleted],
  handle: (event, work) => forget(event, [Number(event.payload.message.id)], work),
})
