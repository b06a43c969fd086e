import { follower } from '../../kit/follower.ts'
import { messageDeleted } from '../messages/events.ts'
import { forgetting } from '../timeline/index.ts'

export const { forget, forgetErased, forgetRest } = forgetting('interactions', [['interactions', 'message_id']])

export const forgetWithMessage = follower({
  name: 'interactions.deletedMessages',
  on: [messageDeleted],
  handle: (event, work) => forget(event, [Number(event.payload.message.id)], work),
})
