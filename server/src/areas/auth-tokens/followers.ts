import { follower } from '../../kit/follower.ts'
import { userDeleted } from '../users/events.ts'
import { removeTokensOf } from './store.ts'

/** A deleted user's tokens stopped working with the user; here they go. */
export const removeTokensOfDeleted = follower({
  name: 'authTokens.deletedUsers',
  on: [userDeleted],
  async handle({ payload }, { db }) {
    await removeTokensOf(db, payload.id)
  },
})
