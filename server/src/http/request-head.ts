import type { IncomingMessage } from 'node:http'
import { type ApiError, badRequest } from '../kit/errors.ts'
import { headTooLarge, targetBytesMax, targetTooLong } from './refusal.ts'

const headersMax = 200
const wholeAddress = /^https?:\/\/([^/?#]*)/i

/** What is wrong with a request before anything of it is looked at more closely; nothing, if it is sound. */
export function headProblem(request: IncomingMessage): ApiError | undefined {
  return readingProblem(request) ?? upgradeProblem(request)
}

/** The same of a request for another protocol, where that is spoken. */
export function readingProblem(request: IncomingMessage): ApiError | undefined {
  const { rawHeaders, headers, url = '', httpVersion } = request
  if (rawHeaders.length > 2 * headersMax) return headTooLarge()
  if (url.length > targetBytesMax) return targetTooLong()
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return badRequest({ HTTP: ['must be of version 1.0 or 1.1'] })
  return hostProblem(request) ?? targetProblem(url, headers.host) ?? expectationProblem(request)
}

/** The host decides which app a request is for, so there must be no doubt about it. */
function hostProblem({ rawHeaders, httpVersion }: IncomingMessage): ApiError | undefined {
  let hosts = 0
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const name = rawHeaders[n] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  // The first version of HTTP did not know the header.
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return undefined
  return badRequest({ Host: [hosts === 0 ? 'is required' : 'must be sent once'] })
}

function targetProblem(target: string, host: string | undefined): ApiError | undefined {
  if (target.startsWith('/')) return undefined
  const named = wholeAddress.exec(target)?.[1]
  if (named === undefined) return badRequest({ path: ['must begin with a slash'] })
  // With two of them, a proxy in front and we could each go by another one.
  return named.toLowerCase() === host?.toLowerCase() ? undefined : badRequest({ Host: ['must be that of the address'] })
}

function expectationProblem({ headers }: IncomingMessage): ApiError | undefined {
  if (headers.expect === undefined || /^100-continue$/i.test(headers.expect)) return undefined
  return badRequest({ Expect: ['must be 100-continue, if it is sent'] })
}

/** Other protocols may be offered in passing, and are not taken up; a client that wants a WebSocket wants nothing else. */
function upgradeProblem(request: IncomingMessage): ApiError | undefined {
  if (!asksForWebSocket(request)) return undefined
  return badRequest({ Upgrade: ['is not supported here'] })
}

export function asksForWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}
