import type { IncomingMessage, ServerResponse } from 'node:http'
import { isSameSecret } from '../plain/same-secret.ts'
import { openToPages } from './cors.ts'
import type { Observer } from './observe.ts'

/** What an install tells of itself, to whoever watches it; no app and no key is needed. */
export interface PublicPages {
  observer: Observer
  /** Reasons why this node should get no traffic; none when it is ready. */
  unreadyReasons: () => Promise<string[]>
  metricsToken: string | undefined
  clientAddress: (request: IncomingMessage) => string
}

interface Shown {
  status: number
  type: string
  text: string
  /** Not for pages of other origins: what opens it may be where the browser runs, which no page has to know. */
  closedToPages?: boolean
}

type Page = (request: IncomingMessage) => Promise<Shown>

const json = 'application/json; charset=utf-8'

/** The page at a path, if it is one of these. */
export function createPublicPages(pages: PublicPages) {
  const { observer } = pages
  const byPath = new Map<string, Page>(
    Object.entries({
      '/healthz': async () => ({ status: 200, type: json, text: '{"status":"ok"}' }),
      '/readyz': async () => {
        const reasons = await pages.unreadyReasons()
        const status = reasons.length === 0 ? 'ready' : 'not ready'
        return { status: reasons.length === 0 ? 200 : 503, type: json, text: JSON.stringify({ status, reasons }) }
      },
      '/metrics': async (request: IncomingMessage) => {
        const closedToPages = true
        if (mayReadMetrics(pages, request))
          return { status: 200, type: observer.metricsType, text: await observer.metrics(), closedToPages }
        return { status: 403, type: json, text: '{"status":"forbidden"}', closedToPages }
      },
    }),
  )

  return function pageFor(request: IncomingMessage): ((response: ServerResponse) => Promise<void>) | undefined {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    const name = request.url?.split('?')[0] ?? ''
    const page = byPath.get(name)
    return (
      page &&
      (async (response) => {
        const trace = observer.begin()
        trace.operation = name
        const shown = await page(request)
        show(shown, request, response)
        observer.end(trace, request.method ?? '', shown.status)
      })
    )
  }
}

function show(
  { status, type, text, closedToPages }: Shown,
  { method }: IncomingMessage,
  response: ServerResponse,
): void {
  response.writeHead(status, {
    ...(!closedToPages && openToPages),
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
  })
  response.end(method === 'HEAD' ? undefined : text)
}

function mayReadMetrics({ metricsToken, clientAddress }: PublicPages, request: IncomingMessage): boolean {
  if (metricsToken === undefined) return /^(127\.|::1$|::ffff:127\.)/.test(clientAddress(request))
  return isSameSecret(request.headers.authorization ?? '', `Bearer ${metricsToken}`)
}
