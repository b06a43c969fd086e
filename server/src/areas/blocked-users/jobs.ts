import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import { forgetBlocks } from './store.ts'

const blocksAtATime = 500

/** Removes the blocks by and against a user who is gone for good, some at a time. */
export const forgetDeletedUser = job({
  name: 'blockedUsers.forgetDeletedUser',
  payload: Type.Object({ id: Type.String() }),
  attemptsMax: Number.POSITIVE_INFINITY,
  bulk: true,
  async run({ id }, { db, now }) {
    const removed = await forgetBlocks(db, id, blocksAtATime)
    return removed === 0 ? undefined : { againAt: now }
  },
})
