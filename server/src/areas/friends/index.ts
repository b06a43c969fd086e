import { area } from '../../kit/area.ts'
import { uidsOfFriends } from '../users/index.ts'
import { friendAdded, friendRemoved } from './events.ts'
import { forgetDeletedFriends } from './followers.ts'
import { forgetDeletedFriend } from './jobs.ts'
import { operations } from './operations.ts'
import { friendUids } from './store.ts'
import { migrations } from './tables.ts'

export { befriend } from './acts.ts'
export { areFriends, friendPairs } from './store.ts'

export const friends = area({
  name: 'friends',
  about: 'Mutual relations that your back end decides on.',
  operations,
  events: [friendAdded, friendRemoved],
  migrations,
  tables: ['friends'],
  followers: [forgetDeletedFriends],
  jobs: [forgetDeletedFriend],
  answers: [uidsOfFriends.answeredBy(friendUids)],
})
