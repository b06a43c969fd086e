import { defineError } from '../../kit/errors.ts'

export const apiKeyNotFound = defineError(
  'ERR_APIKEY_NOT_FOUND',
  404,
  'the API key in the path is not a key of this app',
  () => 'There is no such API key in this app.',
)

export const noSelfAction = defineError(
  'ERR_APIKEY_NO_SELF_ACTION',
  403,
  'the API key in the path is the one the request was made with',
  () => 'An API key cannot change or delete itself; use another key.',
)
