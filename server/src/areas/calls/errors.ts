import { quotaReached } from '../../common/refusals.ts'
import { badRequest, defineError } from '../../kit/errors.ts'

export const callNotFound = defineError<{ sessionId: string }>(
  'ERR_CALL_SESSION_NOT_FOUND',
  404,
  'there is no such call, or the acting user has no part in it',
  ({ sessionId }) => `There is no call with the session id ${sessionId}.`,
)

export const callingSelf = defineError(
  'ERR_CALLING_SELF',
  403,
  'the caller calls themself',
  () => 'Nobody can call themself.',
)

export const callTerminated = defineError(
  'ERR_CALL_TERMINATED',
  409,
  'the call has reached a final state',
  () => 'The call is over; it cannot change any more.',
)

export const alreadyJoinedGroup = defineError(
  'ERR_CALL_GROUP_ALREADY_JOINED',
  409,
  'the device takes part in the group call already',
  () => 'This device has joined the call already.',
)

export const alreadyJoinedUser = defineError(
  'ERR_CALL_USER_ALREADY_JOINED',
  409,
  'the device takes part in the call already',
  () => 'This device has joined the call already.',
)

export const alreadyLeftGroup = defineError(
  'ERR_CALL_GROUP_ALREADY_LEFT',
  409,
  'the device has left the group call before',
  () => 'This device has left the call already.',
)

export const notStarted = defineError(
  'ERR_CALL_NOT_STARTED',
  409,
  'the call still rings',
  () => 'Nobody has answered the call yet.',
)

export const ongoingToInvalid = defineError(
  'ERR_CALL_ONGOING_TO_INVALID',
  409,
  'a call in progress can only end',
  () => 'A call in progress can only end.',
)

export const groupInvalidStatus = defineError(
  'ERR_CALL_GROUP_INVALID_STATUS',
  400,
  'group calls do not know this status',
  () => 'A group call cannot be busy.',
)

export const notAPart = defineError<{ uid: string }>(
  'ERR_CALL_NOT_A_PART',
  403,
  'the user, or this device, takes no part in the call',
  ({ uid }) => `${uid} takes no part in this call, or not on this device.`,
)

export const tooManyParticipants = quotaReached

export const recordingRunning = ({ rid }: { rid: string }) =>
  badRequest({ rid: [`${rid} names another recording of this call`] })
export const recordingNotRunning = ({ rid }: { rid: string }) =>
  badRequest({ rid: [rid === '' ? 'no recording is running' : `no recording ${rid} is running`] })

/** All that the rules can refuse with. */
export const callRuleErrors = [
  callingSelf,
  callTerminated,
  alreadyJoinedGroup,
  alreadyJoinedUser,
  alreadyLeftGroup,
  notStarted,
  ongoingToInvalid,
  groupInvalidStatus,
  notAPart,
  quotaReached,
]
