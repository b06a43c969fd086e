import { job } from '../../kit/job.ts'
import { type Static, Type } from '../../kit/schema.ts'
import { findGroup, isMember } from '../groups/index.ts'
import { afterDeletion, afterDeparture } from './group-changes.ts'
import { inCall } from './ledger.ts'
import { afterGoing } from './user-changes.ts'

const GroupChange = Type.Object({
  sessionId: Type.String(),
  guid: Type.String(),
  uid: Type.Optional(Type.String({ description: 'Who has gone; without one, the group itself' })),
  at: Type.Integer(),
  cause: Type.String(),
})
export type GroupChange = Static<typeof GroupChange>

/** Lets a call follow what happened in its group. */
export const followGroup = job({
  name: 'calls.followGroup',
  payload: GroupChange,
  attemptsMax: Number.POSITIVE_INFINITY,
  async run({ sessionId, guid, uid, at, cause }, work) {
    const group = await findGroup(work.db, guid)
    if (uid === undefined) {
      // Within the second of the deletion nobody can tell the two apart; what may be the later group's call goes on.
      await inCall(work, sessionId, (course) =>
        course.bringAbout((state) => (group && state.start.at >= at ? undefined : afterDeletion(state, at))),
      )
      return undefined
    }
    const isBack = group !== undefined && (await isMember(work.db, group, uid))
    await inCall(work, sessionId, (course) =>
      course.bringAbout((state) => afterDeparture(state, { uid, at, cause, isBack })),
    )
    return undefined
  },
})

/** Lets a call follow that somebody was deleted or deactivated. */
export const followUser = job({
  name: 'calls.followUser',
  payload: Type.Object({ sessionId: Type.String(), uid: Type.String(), at: Type.Integer(), cause: Type.String() }),
  attemptsMax: Number.POSITIVE_INFINITY,
  async run({ sessionId, ...gone }, work) {
    await inCall(work, sessionId, (course) => course.bringAbout((state) => afterGoing(state, gone)))
    return undefined
  },
})
