import { follower } from '../../kit/follower.ts'
import { roleDeleted } from '../roles/events.ts'
import { forgetRole } from './store.ts'

/** What was set for a deleted role goes after it; nothing reads it meanwhile. */
export const forgetDeletedRoles = follower({
  name: 'rbac.deletedRoles',
  on: [roleDeleted],
  handle: ({ payload }, { db }) => forgetRole(db, payload.id),
})
