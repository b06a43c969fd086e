import { follower } from '../../kit/follower.ts'
import { groupDeleted } from '../groups/events.ts'
import { findGroup } from '../groups/index.ts'
import { unpinDeletedGroup } from './pins.ts'

/** A group that is gone is pinned for nobody. */
export const followDeletedGroups = follower({
  name: 'conversations.deletedGroups',
  on: [groupDeleted],
  async handle({ payload: { group }, at }, work) {
    // Within the second of the deletion nobody can tell the two apart; what may be the later group's stays.
    const before = (await findGroup(work.db, group.guid)) ? at : at + 1
    await unpinDeletedGroup(work, group.guid, before)
  },
})
