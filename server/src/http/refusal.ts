import { ApiError } from '../kit/errors.ts'
import { STATUS_CODES } from '../plain/http.ts'
import { openToPages } from './cors.ts'
import { errorText } from './errors.ts'

/** Answers to what never became a request: it could not be read, took too long, or found no room. */

/** A whole answer that says why, and that the connection ends with it. */
export function refusalText(error: ApiError): string {
  const text = errorText(error, 'chat-api')
  const { retryAfter } = error.details ?? {}
  return [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'Content-Type: application/json; charset=utf-8',
    ...Object.entries(openToPages).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
    'Connection: close',
    '',
    text,
  ].join('\r\n')
}

/** Beyond this a path with its query is refused as too long, whatever else the request holds. */
export const targetBytesMax = 8_192

const refusal = (status: number, message: string) => new ApiError('ERR_BAD_REQUEST', status, message)

export const headTooLarge = () => refusal(431, 'The headers are too large, or too many.')
export const targetTooLong = () => refusal(414, 'The path with its query is too long.')
export const tooSlow = () => refusal(408, 'The request took too long to arrive.')
/** Whatever is still to be answered would be answered in the wrong protocol. */
export const upgradeTooEarly = () => refusal(400, 'An upgrade has to wait for the answers to earlier requests.')
export const noTunnels = () => refusal(405, 'This is no proxy: CONNECT is not supported.')

/** What the parser found wrong with what it was given. */
export function unreadable({ code }: { code?: string }, firstLineBytes: number): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return firstLineBytes > targetBytesMax ? targetTooLong() : headTooLarge()
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return refusal(413, 'The chunks of the body have too much beside them.')
    default:
      return refusal(400, 'The request could not be read.')
  }
}

const retryAfterSeconds = 5

export const tooManyConnections = () =>
  new ApiError('ERR_TOO_MANY_REQUESTS', 503, 'There are too many connections; try again later.', undefined, {
    retryAfter: retryAfterSeconds,
  })
