import { defineError } from '../../kit/errors.ts'

export const busySelf = defineError(
  'ERR_CALL_BUSY_SELF',
  409,
  'the caller is in a call that goes on',
  () => 'Whoever is in a call cannot place another one.',
)

export const busyUser = defineError<{ uid: string }>(
  'ERR_CALL_BUSY_USER',
  409,
  'the called user is in a call that goes on; nothing is stored',
  ({ uid }) => `${uid} is in a call.`,
)

export const busyGroup = defineError<{ guid: string }>(
  'ERR_CALL_BUSY_GROUP',
  409,
  'the group has a call that goes on, which can be joined',
  ({ guid }) => `A call of the group ${guid} goes on; join it instead.`,
)

export const invalidInit = defineError(
  'ERR_CALL_INVALID_INIT',
  409,
  'a call cannot begin anew',
  () => 'A call that was placed cannot be placed again.',
)
