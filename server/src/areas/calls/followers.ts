import { follower } from '../../kit/follower.ts'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { groupDeleted, memberBanned, memberForgotten, memberKicked, memberLeft } from '../groups/events.ts'
import { userDeactivated, userDeleted } from '../users/events.ts'
import { followGroup, followUser, type GroupChange } from './jobs.ts'
import { liveCallsOf } from './live.ts'

/** Calls of a group end with it. */
export const followDeletedGroups = follower({
  name: 'calls.deletedGroups',
  on: [groupDeleted],
  handle: ({ payload: { group }, at }, work) => changeCalls(work, { guid: group.guid, at, cause: 'group deleted' }),
})

const causes: Record<string, string> = {
  [memberKicked.name]: 'kicked from the group',
  [memberBanned.name]: 'banned from the group',
  [memberLeft.name]: 'left the group',
}

/** Whoever goes from a group goes from its calls. */
export const followDepartures = follower({
  name: 'calls.departures',
  on: [memberKicked, memberBanned, memberLeft],
  handle: ({ definition, payload: { group, user }, at }, work) =>
    changeCalls(work, { guid: group.guid, uid: user.uid, at, cause: causes[definition.name] ?? '' }),
})

export const followForgottenMembers = follower({
  name: 'calls.forgottenMembers',
  on: [memberForgotten],
  handle: ({ payload: { guid, uid }, at }, work) => changeCalls(work, { guid, uid, at, cause: 'user deleted' }),
})

const goneCauses: Record<string, string> = {
  [userDeleted.name]: 'user deleted',
  [userDeactivated.name]: 'user deactivated',
}

/** Whoever is gone is in no call, and is rung by nobody. */
export const followGoneUsers = follower({
  name: 'calls.goneUsers',
  on: [userDeleted, userDeactivated],
  async handle({ definition, payload: { uid }, at }, { db, later }) {
    const cause = goneCauses[definition.name] ?? ''
    for (const { session_id: sessionId } of await liveCallsOf(db, uid)) {
      await later(followUser, { sessionId, uid, at, cause }, { key: [sessionId, at, uid].join(' ') })
    }
  },
})

/** Each call is changed by itself: whoever holds two could keep others waiting in a circle. */
async function changeCalls({ db, later }: Work, change: Omit<GroupChange, 'sessionId'>): Promise<void> {
  for (const sessionId of await liveCallsIn(db, change.guid)) {
    const key = [sessionId, change.at, change.uid].join(' ')
    await later(followGroup, { sessionId, ...change }, { key })
  }
}

async function liveCallsIn(db: TenantDb, guid: string): Promise<string[]> {
  const rows = await db
    .select('calls')
    .select('calls.session_id')
    .where('calls.live_in_group', '=', guid)
    .orderBy('calls.session_id')
    .execute()
  return rows.map((row) => row.session_id)
}
