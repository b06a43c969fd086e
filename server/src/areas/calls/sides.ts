import type { CallMemberRow } from './tables.ts'

/** On which side of a call somebody is, and in whose conversation; it never changes. */
export function sideOf(
  start: { initiator: string; receiver: string; receiverType: string },
  uid: string,
): Pick<CallMemberRow, 'placed' | 'guid'> {
  return {
    placed: Number(uid === start.initiator),
    guid: start.receiverType === 'group' ? start.receiver : null,
  }
}
