import { follower } from '../../kit/follower.ts'
import { groupDeleted } from '../groups/events.ts'
import { userDeleted } from '../users/events.ts'

/** Whoever has the id next is not pinned for everyone. */
export const unpinDeleted = follower({
  name: 'conversations.deletedTargets',
  on: [userDeleted, groupDeleted],
  async handle({ payload, at }, { db }) {
    const [type, target] = 'uid' in payload ? ['user' as const, payload.uid] : ['group' as const, payload.group.guid]
    await db
      .delete('conversation_pins')
      .where('type', '=', type)
      .where('target', '=', target)
      .where('pinned_at', '<=', at)
      .execute()
  },
})
