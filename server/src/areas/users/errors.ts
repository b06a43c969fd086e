import { defineError } from '../../kit/errors.ts'

export const userNotFound = defineError<{ uid: string }>(
  'ERR_UID_NOT_FOUND',
  404,
  'the user is unknown or deactivated',
  ({ uid }) => `There is no active user with the UID ${uid}.`,
)
