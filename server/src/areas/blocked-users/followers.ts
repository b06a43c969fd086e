import { follower } from '../../kit/follower.ts'
import { userDeleted } from '../users/events.ts'
import { forgetDeletedUser } from './jobs.ts'

/** Nobody blocks, or is blocked by, a user who is gone for good. No webhook tells of it: nobody was unblocked. */
export const forgetDeletedUsers = follower({
  name: 'blockedUsers.deletedUsers',
  on: [userDeleted],
  handle: ({ payload: { id } }, { later }) => later(forgetDeletedUser, { id }, { key: id }),
})
