import { area } from '../../kit/area.ts'
import { conversationEvents } from './events.ts'
import { unpinDeleted } from './followers.ts'
import { listFriend, listNewFriends } from './friends.ts'
import { operations } from './operations.ts'
import { unreadRate } from './rates.ts'
import { deleteMessages, emptyConversation } from './reset.ts'
import { migrations } from './tables.ts'

export { pinsMax } from './pins.ts'
export { readUpTo } from './receipts.ts'

export const conversations = area({
  name: 'conversations',
  about: 'What a user has open: with whom, what was said last, and what is not read yet.',
  operations,
  events: conversationEvents,
  migrations,
  tables: ['conversation_pins'],
  followers: [listNewFriends, unpinDeleted],
  jobs: [deleteMessages, emptyConversation, listFriend],
  rates: [unreadRate],
})
