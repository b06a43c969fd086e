import { ApiError, defineError } from '../kit/errors.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import type { Trace } from './trace.ts'

/** Failures of dispatching itself; every operation can meet them. */

export const noAppId = defineError(
  'AUTH_ERR_EMPTY_APPID',
  401,
  'neither the host name nor an `appid` header names an app',
  () => 'The request names no app: use the app’s own host name or send the header appid.',
)

export const invalidAppId = defineError(
  'AUTH_ERR_INVALID_APPID',
  401,
  'the app is unknown, archived or of another region',
  () => 'There is no such app in this region.',
)

export const noApiKey = defineError(
  'AUTH_ERR_EMPTY_APIKEY',
  401,
  'the header `apikey` is missing or blank',
  () => 'The header apikey is missing.',
)

export const apiKeyUnknown = defineError(
  'AUTH_ERR_APIKEY_NOT_FOUND',
  401,
  'the API key, or the management pair, is not valid',
  () => 'The key sent is not valid here.',
)

export const noAccess = defineError(
  'AUTH_ERR_NO_ACCESS',
  403,
  'the scope of the API key does not cover the operation, or it is not open to auth tokens',
  () => 'What was sent to come in with does not open this operation.',
)

export const noAuthToken = defineError(
  'AUTH_ERR_EMPTY_AUTH_TOKEN',
  401,
  'the header `authToken` is blank, and there is no `apikey`',
  () => 'The header authToken is blank.',
)

export const authTokenUnknown = defineError(
  'AUTH_ERR_AUTH_TOKEN_NOT_FOUND',
  401,
  'the auth token is unknown, deleted or archived, or its user is deactivated',
  () => 'The auth token is not valid; log in again.',
)

export const noManagementCredentials = defineError(
  'AUTH_ERR_EMPTY_AUTH_HEADER',
  401,
  'the headers `key` and `secret` are missing',
  () => 'The headers key and secret are needed.',
)

export const tookTooLong = defineError<{ seconds: number }>(
  'ERR_MISSION_FAILED',
  503,
  'the read took longer than it may and was ended, or waited too long for its turn',
  ({ seconds }) =>
    `This took longer than ${seconds} s and was ended. Ask for less: longer words, narrower filters, one conversation.`,
)

export const readersBusy = defineError<{ retryAfter: number }>(
  tookTooLong.code,
  tookTooLong.status,
  tookTooLong.when,
  ({ retryAfter }) => `The server is busy with other long reads; try again in ${retryAfter} s.`,
  ({ retryAfter }) => ({ retryAfter }),
)

export const apiNotFound = defineError(
  'ERR_API_NOT_FOUND',
  404,
  'there is no such path, or the path has no such method',
  () => 'There is no operation at this path with this method.',
)

export const bodyTooLarge = Object.assign(
  (bytesMax: number) =>
    new ApiError('ERR_BAD_REQUEST', 413, `The body is larger than ${bytesMax} bytes.`, undefined, {
      body: [`must not be larger than ${bytesMax} bytes`],
    }),
  { code: 'ERR_BAD_REQUEST', status: 413, when: 'the body is too large' },
)

export const unexpected = Object.assign(
  (requestId: string) =>
    new ApiError(
      'ERR_EXCEPTION',
      500,
      'Something went wrong on our side.',
      `The server's log has more under ${requestId}.`,
    ),
  { code: 'ERR_EXCEPTION', status: 500, when: 'a fault of the server; `devMessage` names the request' },
)

const unavailableSeconds = 2

export const unavailable = Object.assign(
  ({ inDoubt }: DatabaseUnavailable) =>
    new ApiError(
      'ERR_SERVICE_UNAVAILABLE',
      503,
      `The service is unavailable for the moment; try again in ${unavailableSeconds} s.`,
      inDoubt
        ? 'The database was lost while it committed: the change was made wholly or not at all. Sent again with the same Idempotency-Key, it happens once.'
        : 'The database cannot be used at the moment; nothing was changed.',
      { retryAfter: unavailableSeconds },
    ),
  {
    code: 'ERR_SERVICE_UNAVAILABLE',
    status: 503,
    when: 'the database cannot be used; nothing was changed, unless `devMessage` says that this is not known',
  },
)

/** A failure as it is answered. What nobody declared is a fault of ours, and its text is for the log alone. */
export function answerTo(error: unknown, trace: Trace): ApiError {
  if (error instanceof DatabaseUnavailable) return unavailable(error)
  trace.error = error instanceof ApiError ? error.cause : error
  return error instanceof ApiError ? error : unexpected(trace.id)
}
