import type { View } from '../../kit/work.ts'
import { prepared } from '../../storage/tenant.ts'

/** Who is in a call. Whoever only rings, or is rung, is not; nor is a device that was not heard of for a lease. */

interface Stored {
  document: string
}

const callsWith = prepared<{ uid: string; heardAfter: number }, Stored>((db, { uid, heardAfter }) =>
  db
    .select('call_signs')
    .innerJoin('calls', (join) =>
      join.onRef('calls.app_id', '=', 'call_signs.app_id').onRef('calls.session_id', '=', 'call_signs.session_id'),
    )
    .select('calls.document')
    .where('call_signs.uid', '=', uid)
    .where('call_signs.seen_at', '>', heardAfter),
)

const callsInGroup = prepared<{ guid: string }, Stored>((db, { guid }) =>
  db.select('calls').select('calls.document').where('calls.live_in_group', '=', guid),
)

export async function isInCall({ db, now, tools }: View, uid: string): Promise<boolean> {
  const rows = await callsWith(db, { uid, heardAfter: now - tools.timings.leaseSeconds })
  return rows.some(isGoingOn)
}

/** Whether people of the group talk in a call that rang; meetings of a group are another thing. */
export async function isGroupInCall({ db }: View, guid: string): Promise<boolean> {
  const rows = await callsInGroup(db, { guid })
  return rows.some((row) => isGoingOn(row) && JSON.parse(row.document).mode === 'call')
}

const isGoingOn = ({ document }: Stored): boolean => JSON.parse(document).status === 'ongoing'
