import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Dispatch } from '../dispatch/dispatch.ts'
import type { Doors } from '../dispatch/doors/doors.ts'
import { answerTo, apiNotFound } from '../dispatch/errors.ts'
import type { Mounted } from '../dispatch/registry.ts'
import type { Trace } from '../dispatch/trace.ts'
import { type ApiError, tooManyRequests } from '../kit/errors.ts'
import { ReadyMade } from '../plain/ready-made.ts'
import { type Address, addressReader } from './address.ts'
import { allowanceHeaders, refusalHeaders } from './allowance.ts'
import { answerOptions, openToPagesInTurn } from './cors.ts'
import { appNamedIn, credentialsIn, deviceIn, headerText, headerValue, pairIn } from './credentials.ts'
import { errorText, invalidVersion, plainHttpRefused, retryAfterOf } from './errors.ts'
import type { Observer } from './observe.ts'
import type { createRouter, Found } from './router.ts'
import { readSent } from './sent.ts'
import { leavesTooMuchUnread } from './unread-body.ts'

export interface Pipeline {
  doors: Doors
  dispatch: Dispatch
  observer: Observer
  route: ReturnType<typeof createRouter>
  domain: string
  isSecure: (request: IncomingMessage) => boolean
}

/** A request on its way; each step fills in what it found. */
interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  trace: Trace
  found: Found | undefined
}

/**
 * The one way from a request to an answer. The order of the steps is part of the contract: the first failure answers, so
 * a caller without a key learns nothing about paths, and one without access nothing about fields.
 */
export function createPipeline(pipeline: Pipeline) {
  const { observer, isSecure, route } = pipeline
  const readAddress = addressReader(pipeline.domain)

  /** `problem` is what is wrong with the request already, before it is looked at. */
  return async function handle(
    request: IncomingMessage,
    response: ServerResponse,
    problem: ApiError | undefined,
  ): Promise<void> {
    // Not over plain HTTP: what a browser asks about now it would send next, with a key, in the clear.
    if (!problem && request.method === 'OPTIONS' && isSecure(request)) return answerOptions(request, response)
    const trace = observer.begin()
    const exchange: Exchange = { request, response, trace, found: undefined }
    let status = 200
    let reply: ReadyMade
    let retryAfter: number | undefined
    try {
      if (!isSecure(request)) throw plainHttpRefused()
      if (problem) throw problem
      const address = readAddress(request.headers.host)
      const url = originForm(request.url ?? '/')
      const cut = url.indexOf('?')
      const found = route(request.method ?? 'GET', cut < 0 ? url : url.slice(0, cut), address)
      exchange.found = found
      trace.operation = found.mounted?.operation.id ?? 'none'
      reply = await answer(pipeline, exchange, found, address, cut < 0 ? '' : url.slice(cut + 1))
    } catch (error) {
      const known = answerTo(error, trace)
      status = known.status
      reply = new ReadyMade(errorText(known, exchange.found?.source ?? 'chat-api'))
      retryAfter = retryAfterOf(known)
      trace.allowance = known.allowance ?? trace.allowance
    }
    send(exchange, status, reply, retryAfter)
    observer.end(trace, request.method ?? '', status)
  }
}

/** A request target may be a whole address; what matters of it is the path. */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/]*/i, '') || '/'
}

/** Who calls, and then what they call. */
async function answer(
  { doors, dispatch }: Pipeline,
  { request, response, trace }: Exchange,
  found: Found,
  address: Address,
  query: string,
): Promise<ReadyMade> {
  const { headers } = request
  const app = found.door === 'server' ? await doors.app(appNamedIn(address, headers)) : undefined
  trace.appId = app?.id
  const caller = app ? await doors.enter(app, credentialsIn(headers)) : await doors.enterManagement(pairIn(headers))
  const key = headerText(headers['idempotency-key'])
  return dispatch(
    {
      app,
      caller,
      operation: operationIn(found),
      params: found.params,
      query,
      actAs: headerValue(headers.onbehalfof),
      device: caller.kind === 'client' ? deviceIn(headers) : undefined,
      once: key === undefined ? undefined : { key, target: request.url ?? '' },
      sent: (operation, receive) => readSent(request, operation, receive),
      gone: () => whenClosed(response),
    },
    trace,
  )
}

function operationIn({ version, mounted }: Found): Mounted | ApiError {
  if (version !== undefined) return invalidVersion({ version })
  return mounted ?? apiNotFound()
}

function whenClosed(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  // They may have gone while it turned out that the read takes long.
  if (response.destroyed) gone.abort()
  return gone.signal
}

function send(
  { request, response, trace, found }: Exchange,
  status: number,
  reply: ReadyMade,
  retryAfter: number | undefined,
): void {
  // The caller went away; there is nobody to answer.
  if (response.destroyed) return
  const { body } = reply
  const { allowance } = trace
  const headers = [
    'Content-Type',
    'application/json; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'X-Request-Id',
    trace.id,
    ...openToPagesInTurn(request),
  ]
  if (allowance) headers.push(...allowanceHeaders(allowance))
  if (retryAfter !== undefined) headers.push('Retry-After', String(retryAfter))
  if (allowance && status === tooManyRequests.status) headers.push(...refusalHeaders(allowance))
  const replacement = found?.mounted?.operation.deprecated?.replacedBy
  if (found && replacement) {
    headers.push('Deprecation', 'true', 'Link', `<${filledPath(replacement, found.params)}>; rel="successor-version"`)
  }
  if (request.method !== 'GET' && leavesTooMuchUnread(request)) headers.push('Connection', 'close')
  response.writeHead(status, headers)
  response.end(body)
}

/** A path with the values that the request's own path has for its parameters. */
function filledPath(template: string, params: Record<string, string>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent((params[name] ?? '').toWellFormed()))
}
