import type { ErrorCode } from '../generated/error-codes.ts'

/** What went wrong without an answer that says so. */
export type LocalErrorCode =
  | 'ERR_NETWORK'
  | 'ERR_TIMEOUT'
  | 'ERR_UPLOAD_STALLED'
  | 'ERR_ABORTED'
  | 'ERR_UNREADABLE_ANSWER'
  | 'ERR_USAGE'

export type KnownErrorCode = ErrorCode | LocalErrorCode

/**
 * - `network`: no answer came, or not in time. Whether the server did what was asked is not known.
 * - `auth`: the key or token is not, or no longer, good for this.
 * - `refused`: the server has understood and says no; `code` tells why.
 * - `rate`: too often; `retryAfterMs` tells when it is worth trying again.
 * - `server`: the server, or something before it, could not do it.
 * - `aborted`: given up by whoever asked.
 * - `usage`: the SDK was called in a way that cannot work; nothing was sent.
 */
export type ErrorKind = 'network' | 'auth' | 'refused' | 'rate' | 'server' | 'aborted' | 'usage'

/** Of a field what is wrong with it, in sentences; `retryAfter` in seconds. */
export type ErrorDetails = Record<string, string[] | number>

export interface Failure {
  // Servers may be newer than this SDK.
  code: KnownErrorCode | (string & {})
  kind: ErrorKind
  message: string
  details?: ErrorDetails | undefined
  retryAfterMs?: number | undefined
  requestId?: string | undefined
  cause?: unknown
}

/** Looked for instead of the class, of which there can be several in one program. */
const brand = '@parley/sdk error'

/** The only error that the SDK throws. */
export class ParleyError extends Error {
  readonly code: Failure['code']
  readonly kind: ErrorKind
  readonly details: ErrorDetails
  readonly retryAfterMs: number | undefined
  /** Names the request in the server's log. */
  readonly requestId: string | undefined
  readonly brand: string

  constructor({ code, kind, message, details = {}, retryAfterMs, requestId, cause }: Failure) {
    super(message)
    this.name = 'ParleyError'
    this.code = code
    this.kind = kind
    this.details = details
    this.retryAfterMs = retryAfterMs
    this.requestId = requestId
    this.brand = brand
    // Newer engines declare it, older ones do not; what it is for is to be printed.
    if (cause !== undefined) Object.assign(this, { cause })
  }

  /** Whether something that was caught is an error of the SDK, and has this code, if one is given. */
  static is<Code extends KnownErrorCode = KnownErrorCode>(error: unknown, code?: Code): error is ParleyErrorOf<Code> {
    if (typeof error !== 'object' || error === null || (error as ParleyError).brand !== brand) return false
    return code === undefined || (error as ParleyError).code === code
  }
}

export type ParleyErrorOf<Code extends KnownErrorCode> = ParleyError & { readonly code: Code }

export function usageError(message: string): ParleyError {
  return new ParleyError({ code: 'ERR_USAGE', kind: 'usage', message })
}

export function abortedError(): ParleyError {
  return new ParleyError({ code: 'ERR_ABORTED', kind: 'aborted', message: 'The call was given up.' })
}

/** What an answer with a status other than 2xx means. */
export function kindOf(status: number, code: string): ErrorKind {
  if (status === 401 || code.startsWith('AUTH_ERR_')) return 'auth'
  if (status === 429) return 'rate'
  return status >= 500 ? 'server' : 'refused'
}
