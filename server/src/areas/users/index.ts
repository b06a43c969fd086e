import { area } from '../../kit/area.ts'
import { appChannel } from '../../kit/channel.ts'
import { audit } from './audit.ts'
import { userChannel, userEvents } from './events.ts'
import { addSampleUsers, followDeletedRoles } from './followers.ts'
import { forgetReplies, leaveDeletedRole } from './jobs.ts'
import { operations } from './operations.ts'
import { migrations } from './tables.ts'
import { veilBefore } from './veil.ts'

// What the areas below know about two users reaches the operations of this one through gates.ts:
//   friends:       uidsOfFriends
//   blocked users: blocksBetween, uidsBlockedWith, uidsBlockedBy
// Lists of users of your own: usersOf(db), eachUserMatches(db, searchKey, searchIn), toUser(view, row, { actorUid, blocks }).
export { actorOf, blockedBy, uidsBlockedByUser, userActing } from './actor.ts'
export { forgetting } from './forget.ts'
export { type Blocks, blocksBetween, issueFirstToken, uidsBlockedBy, uidsBlockedWith, uidsOfFriends } from './gates.ts'
export { repliesToUser } from './jobs.ts'
export { type NamedUser, usersNamedTo } from './names.ts'
export { newestChange } from './newest.ts'
export { lastActive, onlineIn } from './online.ts'
export { everyone, type Sight, seenBy, sightOf } from './sight.ts'
export {
  addMissingUsers,
  bringUsers,
  conversationId,
  eachUserMatches,
  findActiveUser,
  findUser,
  holdUsers,
  identitiesOf,
  isAmong,
  lockActiveUser,
  requireActiveUser,
  sortedNewestFirst,
  systemRecord,
  systemUid,
  systemUser,
  toUser,
  type UserIdentity,
  type UserView,
  usersByUid,
  usersJoint,
  usersList,
  usersOf,
} from './store.ts'
export type { UserRow } from './tables.ts'
export { usersWithin, withUsersVeiled } from './users-within.ts'
export { friendsOf } from './veil.ts'

export const users = area({
  name: 'users',
  about: 'The people of an app: who they are, and whether they may come in.',
  operations,
  events: userEvents,
  migrations,
  tables: ['users', 'user_tags'],
  followers: [addSampleUsers, followDeletedRoles],
  jobs: [leaveDeletedRole, forgetReplies],
  hearing: { channels: async (_db, uid) => [userChannel(uid), appChannel], shows: veilBefore },
  audit,
})
