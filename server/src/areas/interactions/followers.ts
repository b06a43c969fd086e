import { follower } from '../../kit/follower.ts'
import { messageDeleted, messagesCleared } from '../messages/events.ts'
import { forgettingMessages } from '../timeline/index.ts'

export const { forget, forgetErased, forgetRest } = forgettingMessages(
  'interactions',
  [['interactions', 'message_id']],
  [messagesCleared],
)

export const forgetWithMessage = follower({
  name: 'interactions.deletedMessages',
  on: [messageDeleted],
  handle: (event, work) => forget(event, [Number(event.payload.message.id)], work),
})
