import { follower } from '../../kit/follower.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { groupDeleted } from '../groups/events.ts'
import { findGroup } from '../groups/index.ts'
import { userDeleted } from '../users/events.ts'
import { findUser } from '../users/index.ts'
import { type PinTarget, unpinForEveryone } from './pins.ts'

/** Whoever is gone is pinned for nobody, and whoever has the id next begins without the pin. */
export const unpinDeleted = follower({
  name: 'conversations.deletedTargets',
  on: [userDeleted, groupDeleted],
  async handle({ payload, at }, work) {
    const gone: PinTarget =
      'uid' in payload ? { type: 'user', target: payload.uid } : { type: 'group', target: payload.group.guid }
    // Within the second of the deletion nobody can tell the two apart; what may be the later one's stays.
    await unpinForEveryone(work, gone, (await isThereAgain(work.db, gone)) ? at : at + 1)
  },
})

async function isThereAgain(db: TenantDb, { type, target }: PinTarget): Promise<boolean> {
  return (type === 'user' ? await findUser(db, target) : await findGroup(db, target)) !== undefined
}
