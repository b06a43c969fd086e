import { area } from '../../kit/area.ts'
import { audit } from './audit.ts'
import { groupEvents } from './events.ts'
import { addSampleGroup } from './followers.ts'
import { clearDeletedGroup, forgetUser } from './jobs.ts'
import { channelsOfGroups } from './membership.ts'
import { operations } from './operations.ts'
import { passwordRate } from './rates.ts'
import { migrations } from './tables.ts'

export {
  activeIn,
  authoriseGuests,
  ban,
  decideGuests,
  endMembership,
  holdScene,
  reachOverGuests,
  receiveGuests,
  requireFewGroups,
  type Scene,
} from './acts.ts'
export { enterConversation } from './conversation.ts'
export { createWithMembers } from './create.ts'
export { forgetPermissions, scopeSays } from './gates.ts'
export {
  bansListOf,
  deleteBan,
  findBan,
  findMember,
  groupCounts,
  groupsSeenBy,
  insertMembers,
  isBanned,
  isMember,
  membersListOf,
  placeIn,
  putScope,
  scopeInGroup,
  standingOf,
  touch,
} from './membership.ts'
export { groupsNamedTo, type NamedGroup } from './names.ts'
export { onlineMembersCount } from './online.ts'
export { countPassword, hashPassword, type Match, matchPassword } from './passwords.ts'
export { selectBanned, selectMembers } from './people.ts'
export { reachOf, requireReach, scopeOfStanding } from './reach.ts'
export * as groupRules from './rules.ts'
export {
  addMissingGroups,
  bringGroups,
  eachGroupMatches,
  findGroup,
  type GroupView,
  keepGroup,
  keepGroupIfThere,
  renewPassword,
  requireGroup,
  requireGroupAndUser,
  toGroup,
  toGroupCard,
} from './store.ts'
export type { GroupBanRow, GroupMemberRow, GroupRow } from './tables.ts'
export { tellDeed, tellMove, tellScope } from './tell.ts'

export const groups = area({
  name: 'groups',
  about: 'Circles of users that talk and call together.',
  operations,
  events: groupEvents,
  migrations,
  tables: ['groups', 'group_tags', 'group_members', 'group_bans'],
  followers: [addSampleGroup],
  jobs: [clearDeletedGroup, forgetUser],
  rates: [passwordRate],
  hearing: { channels: channelsOfGroups },
  audit,
})
