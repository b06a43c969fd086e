import { follower } from '../../kit/follower.ts'
import { userDeleted } from '../users/events.ts'
import { forgetBlocks } from './store.ts'

/** Nobody blocks, or is blocked by, a user who is gone for good. No webhook tells of it: nobody was unblocked. */
export const forgetDeletedUsers = follower({
  name: 'blocked-users.deleted-users',
  on: [userDeleted],
  handle: ({ payload: { id } }, { db }) => forgetBlocks(db, id),
})
