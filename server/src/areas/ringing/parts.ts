import type { Actor } from '../../kit/operation.ts'
import type { View } from '../../kit/work.ts'
import { callNotFound, notAPart } from '../calls/errors.ts'
import { type CallStatus, requireCall } from '../calls/index.ts'
import { findGroup, type GroupRow, isMember } from '../groups/index.ts'

/** A call that rang, as far as it must be known who has a part in it. */
export interface RingingCall {
  sessionId: string
  status: CallStatus
  /** Of the group whose call it is. */
  group: GroupRow | undefined
  /** The newest message that tells of it. */
  messageId: number | null
}

/** The call, for one of the two or a member of its group; everybody else is refused. */
export async function requirePart(view: View, sessionId: string, { uid }: Actor): Promise<RingingCall> {
  const { document, message_id } = await requireCall(view.db, sessionId, undefined)
  const { mode, status, initiator, receiver, receiverType } = JSON.parse(document)
  if (mode !== 'call') throw callNotFound({ sessionId })
  const group = receiverType === 'group' ? await findGroup(view.db, receiver) : undefined
  const hasPart =
    receiverType === 'user' ? [initiator, receiver].includes(uid) : group && (await isMember(view.db, group, uid))
  if (!hasPart) throw notAPart({ uid })
  return { sessionId, status, group, messageId: message_id }
}
