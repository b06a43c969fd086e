import { ApiError, defineError } from '../kit/errors.ts'

/** Failures that only a request over HTTP can meet, and how failures are written. */

export const plainHttpRefused = Object.assign(
  () => new ApiError('ERR_BAD_REQUEST', 403, 'Parley answers over HTTPS only.'),
  { code: 'ERR_BAD_REQUEST', status: 403, when: 'the request came over plain HTTP; it is not processed' },
)

export const invalidVersion = defineError<{ version: string }>(
  'ERR_INVALID_API_VERSION',
  400,
  'the path names a version other than v3',
  ({ version }) => `There is no version ${version} of this API; use v3.`,
)

/** After how many seconds it is worth trying again, where a failure tells. */
export function retryAfterOf({ details }: ApiError): number | undefined {
  return typeof details?.retryAfter === 'number' ? details.retryAfter : undefined
}

export type Source = 'chat-api' | 'calls-api' | 'mgmt-api'

/** The body of a failure. */
export function errorText(error: ApiError, source: Source): string {
  const { code, message, devMessage = message, details } = error
  return JSON.stringify({ error: { code, message, devMessage, source, ...(details && { details }) } })
}
