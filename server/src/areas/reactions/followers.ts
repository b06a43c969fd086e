import { follower } from '../../kit/follower.ts'
import { messageDeleted } from '../messages/events.ts'
import { forgetting } from '../timeline/index.ts'

export const { forget, forgetErased, forgetRest } = forgetting('reactions', [
  ['reaction_counts', 'message_id'],
  ['reactions', 'message_id'],
])

/** What people felt about a message goes with its content. */
export const forgetWithMessage = follower({
  name: 'reactions.deletedMessages',
  on: [messageDeleted],
  handle: (event, work) => forget(event, [Number(event.payload.message.id)], work),
})
