import { defineError } from '../../kit/errors.ts'

export const authTokenNotFound = defineError(
  'ERR_AUTH_TOKEN_NOT_FOUND',
  404,
  'the auth token in the path is unknown, deleted or archived',
  () => 'There is no such auth token.',
)

export const authTokenNotAccessible = defineError(
  'ERR_AUTHTOKEN_NOT_ACCESSIBLE',
  403,
  'the auth token in the path belongs to another user',
  () => 'This auth token belongs to another user.',
)
