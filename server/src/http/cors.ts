import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Pages of any origin may call Parley: what opens a door is a header that the page must know, never a cookie that a
 * browser would send by itself.
 */
const anyOrigin = ['Access-Control-Allow-Origin', '*']

const exposed = ['X-Request-Id', 'Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** What an answer to a page carries. */
export function corsHeaders({ headers }: IncomingMessage): string[] {
  return headers.origin === undefined ? [] : [...anyOrigin, 'Access-Control-Expose-Headers', exposed.join(', ')]
}

/** Whether a browser asks what a page may send. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

const rememberedSeconds = 86_400

export function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  const asked = request.headers['access-control-request-headers']
  response.writeHead(204, [
    ...anyOrigin,
    'Access-Control-Allow-Methods',
    'GET, POST, PUT, PATCH, DELETE',
    ...(asked === undefined ? [] : ['Access-Control-Allow-Headers', asked]),
    'Access-Control-Max-Age',
    String(rememberedSeconds),
    'Vary',
    'Access-Control-Request-Headers',
  ])
  response.end()
}
