import type { IncomingMessage, ServerResponse } from 'node:http'
import { leavesTooMuchUnread } from './unread-body.ts'

/**
 * Pages of any origin may call Parley: what opens a door is a header that the page must know, never a cookie that a
 * browser would send by itself. A page that does not get these headers with a failure learns nothing of it, not even the
 * status; so they go with every answer.
 */
const requestHeaders = [
  ...['apikey', 'authToken', 'appid', 'onBehalfOf', 'resource', 'key', 'secret', 'Authorization'],
  ...['Accept', 'Content-Type', 'Idempotency-Key', 'Range', 'If-Range', 'If-None-Match'],
  // Sent by clients, and ignored here; a browser would not let them through unless they were named.
  ...['dnt', 'origin', 'referer', 'sdk'],
]

const readableHeaders = [
  ...['X-Request-Id', 'Retry-After', 'Deprecation', 'Link', 'Content-Range', 'Accept-Ranges', 'ETag'],
  ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
  ...['X-Rate-Limit', 'X-Rate-Limit-Remaining', 'X-Rate-Limit-Reset'],
]

export const openToPages = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'OPTIONS,HEAD,GET,POST,PUT,PATCH,DELETE',
  'Access-Control-Allow-Headers': requestHeaders.join(', '),
  'Access-Control-Expose-Headers': readableHeaders.join(', '),
}

const { 'Access-Control-Expose-Headers': _, ...openToServers } = openToPages
const toPages = Object.entries(openToPages).flat()
const toServers = Object.entries(openToServers).flat()

/**
 * The same as names and values in turn. What a page may read of the headers is told to pages alone: it is half of it all,
 * and most requests come from servers.
 */
export function openToPagesInTurn({ headers }: IncomingMessage): string[] {
  return headers.origin === undefined ? toServers : toPages
}

const rememberedSeconds = 86_400

/**
 * Tells whoever asks what may be sent. A browser asks in the name of a page, which has no say in what goes with the
 * question, so nothing is asked in return. Headers that nobody knows do no harm: all that are asked for may be sent.
 */
export function answerOptions(request: IncomingMessage, response: ServerResponse): void {
  const asked = request.headers['access-control-request-headers']
  response.writeHead(204, {
    ...openToPages,
    ...(asked !== undefined && { 'Access-Control-Allow-Headers': asked }),
    'Access-Control-Max-Age': rememberedSeconds,
    Vary: 'Access-Control-Request-Headers',
    ...(leavesTooMuchUnread(request) && { Connection: 'close' }),
  })
  response.end()
}
