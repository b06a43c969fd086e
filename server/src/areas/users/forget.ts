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
  /** Where the last batch ended, in the area's own numbers; 0 at first. */
  after: number
}

/**
 * Removes what an area keeps of a user who is gone for good, some at a time, so that a later user of the UID finds
 * nothing of it. `forgetSome` answers where the next batch begins, or nothing once all of it is gone.
 */
export function forgetting(
  area: string,
  forgetSome: (work: Work, gone: Gone) => Promise<{ after: number } | undefined>,
) {
  const forgetUser = job({
    name: `${area}.forgetUser`,
    payload: Type.Object({ uid: Type.String(), at: Type.Integer(), after: Type.Optional(Type.Integer()) }),
    attemptsMax: Number.POSITIVE_INFINITY,
    bulk: true,
    async run({ uid, at, after = 0 }, work) {
      // Within the second of the deletion nobody can tell the two apart.
      const before = (await findUser(work.db, uid)) ? at : at + 1
      const further = await forgetSome(work, { uid, before, after })
      return further && { againAt: work.now, payload: { uid, at, ...further } }
    },
  })
  const forgetDeletedUsers = follower({
    name: `${area}.deletedUsers`,
    on: [userDeleted],
    handle: ({ payload: { uid, id }, at }, { later }) => later(forgetUser, { uid, at }, { key: id }),
  })
  return { forgetUser, forgetDeletedUsers }
}
