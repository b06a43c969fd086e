import type { View } from '../../kit/work.ts'
import { patternOf } from '../../storage/tally.ts'
import { prepared } from '../../storage/tenant.ts'
import { facetsMatch, wantedFacets } from './store.ts'

/** Who is in a call. Whoever only rings, or is rung, is not; nor is a device that was not heard of for a lease. */

interface Found {
  session_id: string
}

const goingOn = patternOf(wantedFacets({ status: 'ongoing' }))
const goingOnAfterRinging = patternOf(wantedFacets({ mode: 'call', status: 'ongoing' }))

const callsWith = prepared<{ uid: string; heardAfter: number }, Found>((db, { uid, heardAfter }) =>
  db
    .select('call_signs')
    .innerJoin('calls', (join) =>
      join.onRef('calls.app_id', '=', 'call_signs.app_id').onRef('calls.session_id', '=', 'call_signs.session_id'),
    )
    .select('calls.session_id')
    .where('call_signs.uid', '=', uid)
    .where('call_signs.seen_at', '>', heardAfter)
    .where(facetsMatch(goingOn))
    .limit(1),
)

const callsInGroup = prepared<{ guid: string }, Found>((db, { guid }) =>
  db
    .select('calls')
    .select('calls.session_id')
    .where('calls.live_in_group', '=', guid)
    .where(facetsMatch(goingOnAfterRinging))
    .limit(1),
)

export async function isInCall({ db, now, tools }: View, uid: string): Promise<boolean> {
  return (await callsWith(db, { uid, heardAfter: now - tools.timings.leaseSeconds })).length > 0
}

/** Whether people of the group talk in a call that rang; meetings of a group are another thing. */
export async function isGroupInCall({ db }: View, guid: string): Promise<boolean> {
  return (await callsInGroup(db, { guid })).length > 0
}
