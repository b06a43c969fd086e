import { follower } from '../../kit/follower.ts'
import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import { userDeleted } from './events.ts'
import { findUser } from './store.ts'

/** Whose belongings go. What is of `before` or later may be a later user's of the same UID, and stays. */
export interface Gone {
  uid: string
  before: number
}

/**
 * Removes what an area keeps of a user who is gone for good, some at a time, so that a later user of the UID finds
 * nothing of it. `forgetSome` answers whether there may be more.
 */
export function forgetting(area: string, forgetSome: (work: Work, gone: Gone) => Promise<boolean>) {
  const forgetUser = job({
    name: `${area}.forgetUser`,
    payload: Type.Object({ uid: Type.String(), at: Type.Integer() }),
    attemptsMax: Number.POSITIVE_INFINITY,
    async run({ uid, at }, work) {
      // Within the second of the deletion nobody can tell the two apart.
      const before = (await findUser(work.db, uid)) ? at : at + 1
      return (await forgetSome(work, { uid, before })) ? { againAt: work.now } : undefined
    },
  })
  const forgetDeletedUsers = follower({
    name: `${area}.deletedUsers`,
    on: [userDeleted],
    handle: ({ payload: { uid, id }, at }, { later }) => later(forgetUser, { uid, at }, { key: id }),
  })
  return { forgetUser, forgetDeletedUsers }
}
