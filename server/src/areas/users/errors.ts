import { ApiError, defineError } from '../../kit/errors.ts'

export const userNotFound = defineError<{ uid: string }>(
  'ERR_UID_NOT_FOUND',
  404,
  'the user is unknown or deactivated',
  ({ uid }) => `There is no active user with the UID ${uid}.`,
)

export const userExists = defineError<{ uid: string }>(
  'ERR_UID_ALREADY_EXISTS',
  400,
  'the UID is taken, by an active or a deactivated user',
  ({ uid }) => `A user with the UID ${uid} already exists.`,
)

export const invalidUid = Object.assign(
  (uid: string) =>
    new ApiError('ERR_INVALID_UID', 400, 'The UID is not valid.', `"${uid.slice(0, 120)}" cannot be a UID`, {
      uid: ['must be 1 to 100 characters of a-z, 0-9, - and _, and no word that paths use'],
    }),
  {
    code: 'ERR_INVALID_UID',
    status: 400,
    when: 'the UID is too long, has characters outside `a-z 0-9 - _`, or is `online-count`',
  },
)
