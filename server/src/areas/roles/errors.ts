import { defineError } from '../../kit/errors.ts'

export const roleNotFound = defineError<{ role: string }>(
  'ERR_ROLE_NOT_FOUND',
  404,
  'there is no such role',
  ({ role }) => `There is no role ${role}.`,
)

export const roleDeleteDenied = defineError(
  'ERR_ROLE_DELETE_DENIED',
  403,
  'the role `default` cannot be deleted',
  () => 'The role default belongs to every app and cannot be deleted.',
)
