import { ApiError, badRequest, defineError } from '../../kit/errors.ts'

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

/** Clients look for the words `already exists` before they make what is there. */
export function nameTaken(name: string): ApiError {
  const { code, status } = badRequest
  const details = { name: ['is the name of another key of this app'] }
  return new ApiError(code, status, `An API key with the name ${name} already exists.`, undefined, details)
}
