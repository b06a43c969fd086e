import type { Actor } from '../../kit/operation.ts'
import type { View } from '../../kit/work.ts'
import { callNotFound, callTerminated, notAPart } from '../calls/errors.ts'
import { type CallStatus, isGroupCalled, requireCall, startOf } from '../calls/index.ts'
import { findGroup, type GroupRow, isMember } from '../groups/index.ts'
import { findUser } from '../users/index.ts'

/** A call that rang, as far as it must be known who has a part in it. */
export interface RingingCall {
  sessionId: string
  status: CallStatus
  initiator: string
  /** Whose call it is, where it is a group's. */
  group: GroupRow | undefined
}

/** The call, for one of the two or a member of its group; everybody else is refused. */
export async function requirePart(view: View, sessionId: string, { uid }: Actor): Promise<RingingCall> {
  const { document } = await requireCall(view.db, sessionId, undefined)
  const { mode, status, initiator, receiver, receiverType } = JSON.parse(document)
  if (mode !== 'call') throw callNotFound({ sessionId })
  if (receiverType === 'group') {
    const group = await groupCalled(view, sessionId, receiver)
    if (!group || !(await isMember(view.db, group, uid))) throw notAPart({ uid })
    return { sessionId, status, initiator, group }
  }
  if (uid !== initiator && uid !== receiver) throw notAPart({ uid })
  // With somebody who is deleted nobody talks any more; a moment later the call has ended, too.
  if (!(await findUser(view.db, uid === initiator ? receiver : initiator))) throw callTerminated()
  return { sessionId, status, initiator, group: undefined }
}

async function groupCalled({ db }: View, sessionId: string, guid: string): Promise<GroupRow | undefined> {
  const group = await findGroup(db, guid)
  const start = group && (await startOf(db, sessionId))
  return start && isGroupCalled(start, group) ? group : undefined
}
