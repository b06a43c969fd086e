import type { IncomingMessage, ServerResponse } from 'node:http'
import { openReception } from '../areas/files/index.ts'
import { isUid } from '../areas/users/schemas.ts'
import { ApiError, badRequest, tooManyRequests } from '../kit/errors.ts'
import type { Allowance } from '../kit/limits.ts'
import type { Caller, Operation } from '../kit/operation.ts'
import { isBroken } from '../kit/readable.ts'
import { ReadyMade } from '../kit/reply.ts'
import { workIn } from '../kit/work.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import { type Address, addressReader } from './address.ts'
import { looksLikeJson, parseBody, readBody } from './body.ts'
import { answerOptions, openToPagesInTurn } from './cors.ts'
import { enterAsClient, isClient } from './doors/client.ts'
import { enterAsManagement } from './doors/management.ts'
import { enterAsServer, headerText, resolveApp } from './doors/server.ts'
import {
  answerTo,
  apiNotFound,
  errorText,
  invalidVersion,
  noAccess,
  plainHttpRefused,
  retryAfterOf,
  type Source,
} from './errors.ts'
import { bodyOfFields, type Field, urlencodedFields } from './forms.ts'
import { attemptOf } from './idempotency.ts'
import { allowanceHeaders, refusalHeaders, together } from './limits.ts'
import { isMultipart, readForm } from './multipart.ts'
import type { Observer, Trace } from './observe.ts'
import { errorsOf } from './openapi.ts'
import { takeTime } from './patience.ts'
import { answerRead, type Call, change, nothingSent, requireActor, type Sent, type Stage } from './perform.ts'
import type { createRouter, Found, Mounted } from './router.ts'
import { leavesTooMuchUnread } from './unread-body.ts'
import { uploadMeter } from './uploads.ts'

export interface Pipeline extends Stage {
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
  source: Source
  allowance: Allowance | undefined
  mounted: Mounted | undefined
  params: Record<string, string>
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
    const exchange: Exchange = {
      request,
      response,
      trace: observer.begin(),
      source: 'chat-api',
      allowance: undefined,
      mounted: undefined,
      params: {},
    }
    let status = 200
    let reply: ReadyMade
    try {
      if (!isSecure(request)) throw plainHttpRefused()
      if (problem) throw problem
      const address = readAddress(request.headers.host)
      const url = originForm(request.url ?? '/')
      const cut = url.indexOf('?')
      const path = cut < 0 ? url : url.slice(0, cut)
      const found = route(request.method ?? 'GET', path, address)
      exchange.source = found.source
      exchange.mounted = found.mounted
      exchange.params = found.params
      exchange.trace.operation = found.mounted?.operation.id ?? 'none'
      reply = await answer(pipeline, exchange, address, found, cut < 0 ? '' : url.slice(cut + 1))
    } catch (error) {
      const known = answerTo(pipeline.strict ? heldToDeclaration(error, exchange) : error, exchange.trace)
      status = known.status
      reply = new ReadyMade(errorText(known, exchange.source))
      exchange.allowance = known.allowance ?? exchange.allowance
      send(exchange, status, reply, retryAfterOf(known))
      observer.end(exchange.trace, request.method ?? '', status)
      return
    }
    send(exchange, status, reply, undefined)
    observer.end(exchange.trace, request.method ?? '', status)
  }
}

/** A request target may be a whole address; what matters of it is the path. */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/]*/i, '') || '/'
}

async function answer(
  pipeline: Pipeline,
  exchange: Exchange,
  address: Address,
  found: Found,
  search: string,
): Promise<ReadyMade> {
  const { request, trace } = exchange
  const { headers } = request
  const app = found.door === 'server' ? await resolveApp(pipeline.directory, address, headers) : undefined
  trace.appId = app?.id
  const caller = app
    ? await (isClient(headers) ? enterAsClient : enterAsServer)(pipeline.directory, app, headers)
    : await enterAsManagement(pipeline.database, pipeline.tools.secrets, headers)
  trace.caller = caller.kind
  const owner = caller.kind === 'management' ? `account ${caller.accountId}` : (app?.id ?? '')
  const rate = found.mounted?.operation.rate ?? 'standard'
  // First: what a user asks for in vain is not at the expense of all others in the app.
  if (caller.kind === 'client') await pipeline.limits.count(`${rate}OfUser`, [owner, caller.uid])
  exchange.allowance = await pipeline.limits.count(rate, [owner])
  if (found.version !== undefined) throw invalidVersion({ version: found.version })
  if (!found.mounted) throw apiNotFound()
  const { operation } = found.mounted
  if (!opens(operation, caller)) throw noAccess()
  const { mounted, params } = found
  const call: Call = { app, caller, mounted, params, search, trace, sent: nothingSent, used: 0, ran: false }
  if (operation.method === 'GET') {
    readActor(call, headers)
    return answerRead(pipeline, call, () => whenClosed(exchange.response))
  }
  return answerWrite(pipeline, request, call)
}

/**
 * A write counts against its user before its body is read, so that whoever has nothing left is refused at once; what it
 * did not use in the end is given back.
 */
async function answerWrite(pipeline: Pipeline, request: IncomingMessage, call: Call): Promise<ReadyMade> {
  const { headers } = request
  const key = headerText(headers['idempotency-key'])
  if (key !== undefined) await countKept(pipeline, call)
  await takeShare(pipeline, call, headers)
  try {
    call.sent = await readSent(pipeline, request, call)
    readActor(call, headers)
    await widenShare(pipeline, call)
    const { caller, actAs, sent } = call
    const actor = caller.kind === 'client' ? `token of ${actAs}` : (actAs ?? '')
    const attempt = attemptOf(key, caller, request.method ?? '', request.url ?? '', actor, sent.text)
    return await change(pipeline, call, attempt)
  } catch (error) {
    await discardAfter(error, call.sent)
    throw error
  } finally {
    const { share, used } = call
    await share?.giveBack(share.granted - used)
  }
}

/** Every reply that is kept takes room for a day; servers are bounded by the requests of their app. */
async function countKept({ limits }: Pipeline, { app, caller }: Call): Promise<void> {
  if (app && caller.kind === 'client') await limits.count('keyedWrite', [app.id, caller.uid])
}

/**
 * Removes the files of a request that came to nothing. Where that is not known, or cannot be done now, they stay until
 * they are swept up as files that no message has.
 */
async function discardAfter(error: unknown, { discard }: Pick<Sent, 'discard'>): Promise<void> {
  if (error instanceof DatabaseUnavailable) return
  await discard?.()
}

async function takeShare({ limits }: Pipeline, call: Call, headers: IncomingMessage['headers']): Promise<void> {
  const { userRate } = call.mounted.operation
  const uid = namedActor(call, headers)
  if (!call.app || !userRate || uid === undefined) return
  const share = await limits.take(userRate, [call.app.id, uid], 1)
  if (share.granted === 0) throw share.refusal()
  call.share = share
}

/** Now that the body is there, as much is taken as it asks for, or as is left. */
async function widenShare({ limits }: Pipeline, call: Call): Promise<void> {
  const { userRate, userCount } = call.mounted.operation
  const { app, share, actAs } = call
  const wanted = userCount?.(call.sent.body) ?? 1
  if (!app || !userRate || !share || actAs === undefined || wanted <= 1) return
  call.share = together(share, await limits.take(userRate, [app.id, actAs], wanted - 1))
}

/** The user a request names as the one who acts, known or not; nobody, if no user can be called so. */
function namedActor({ caller, mounted }: Call, headers: IncomingMessage['headers']): string | undefined {
  if (caller.kind === 'client') return caller.uid
  const uid = mounted.operation.onBehalfOf === 'unsupported' ? undefined : headerText(headers.onbehalfof)
  return uid !== undefined && isUid(uid) ? uid.toLowerCase() : undefined
}

async function readSent(pipeline: Pipeline, request: IncomingMessage, call: Call): Promise<Sent> {
  const { app } = call
  const { operation, readLeniently } = call.mounted
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw badRequest({ 'content-encoding': ['is not supported; send the body as it is'] })
  if (app && operation.takesFiles && isMultipart(request)) {
    return readSentFiles(pipeline, request, app.id, call)
  }
  if (isMultipart(request)) {
    const { fields } = await readForm(request, operation.bodyBytesMax)
    return { text: textOfForm(fields, []), body: readLeniently(bodyOfFields(operation.body, fields)), files: [] }
  }
  const text = await readBody(request, operation.bodyBytesMax)
  const isForm = isUrlencoded(request) && !looksLikeJson(text)
  const body = isForm ? bodyOfFields(operation.body, urlencodedFields(text)) : parseBody(text)
  return { text, body: readLeniently(body), files: [] }
}

function isUrlencoded({ headers }: IncomingMessage): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')
}

/** Tells a form from others and from every JSON body, whatever stands between its parts. */
function textOfForm(fields: Field[], digests: string[]): string {
  return JSON.stringify([fields, digests])
}

async function readSentFiles(
  { database, tools, limits }: Pipeline,
  request: IncomingMessage,
  appId: string,
  call: Call,
): Promise<Sent> {
  readActor(call, request.headers)
  const { actAs: uploader } = call
  // Before anything of it is stored, and counted for whoever sends it.
  if (uploader !== undefined) {
    await database.read((connection) => requireActor(connection, appId, uploader, call.caller.kind), appId)
  }
  takeTime(request)
  const { body, bodyBytesMax } = call.mounted.operation
  const reception = openReception(
    tools,
    (work) => database.write((connection) => work(workIn(connection, appId, tools)), appId),
    uploader,
    uploadMeter(limits, appId, uploader).file,
  )
  const discard = async () => {
    await reception.discard()
    database.wake()
  }
  try {
    const { fields, files, digests } = await readForm(request, bodyBytesMax, { reception, tools })
    const text = textOfForm(fields, digests)
    return { text, body: call.mounted.readLeniently(bodyOfFields(body, fields)), files, discard }
  } catch (error) {
    await discardAfter(error, { discard })
    throw error
  }
}

function readActor(call: Call, headers: IncomingMessage['headers']): void {
  for (const name in call.params) {
    if (isBroken(call.params[name] ?? '')) throw badRequest({ [name]: ['must be readable text'] })
  }
  call.actAs = actingUid(call.mounted.operation, call.caller, headers.onbehalfof)
}

function opens({ doors, keys }: Operation, caller: Caller): boolean {
  switch (caller.kind) {
    case 'server':
      return doors.includes('server') && keys.includes(caller.scope)
    case 'client':
      return doors.includes('client')
    case 'management':
      return true
  }
}

/** A client acts as the user its token belongs to, whatever else it sends. */
function actingUid(
  { onBehalfOf }: Operation,
  caller: Caller,
  header: string | string[] | undefined,
): string | undefined {
  if (caller.kind === 'client') return caller.uid
  if (onBehalfOf === 'unsupported') return undefined
  const uid = headerText(header)?.toLowerCase()
  // Blank is not absent: whoever means to act as someone must not end up acting as the app.
  if (uid === undefined && (onBehalfOf === 'required' || header !== undefined)) {
    throw badRequest({ onBehalfOf: ['must name a user'] })
  }
  return uid
}

function whenClosed(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  // They may have gone while it turned out that the read takes long.
  if (response.destroyed) gone.abort()
  return gone.signal
}

/** A failure that the operation does not declare is a fault of ours; where it is held to that, it is answered as one. */
function heldToDeclaration(error: unknown, { mounted }: Exchange): unknown {
  if (!(error instanceof ApiError) || !mounted) return error
  const declared = errorsOf(mounted.operation).some(
    ({ code, status }) => code === error.code && status === error.status,
  )
  return declared ? error : new Error(`${mounted.operation.id} does not declare ${error.code}.`, { cause: error })
}

function send(
  { request, response, trace, allowance, mounted, params }: Exchange,
  status: number,
  reply: ReadyMade,
  retryAfter: number | undefined,
): void {
  // The caller went away; there is nobody to answer.
  if (response.destroyed) return
  const { body } = reply
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
  const replacement = mounted?.operation.deprecated?.replacedBy
  if (replacement) {
    headers.push('Deprecation', 'true', 'Link', `<${filledPath(replacement, params)}>; rel="successor-version"`)
  }
  if (request.method !== 'GET' && leavesTooMuchUnread(request)) headers.push('Connection', 'close')
  response.writeHead(status, headers)
  response.end(body)
}

/** A path with the values that the request's own path has for its parameters. */
function filledPath(template: string, params: Record<string, string>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent((params[name] ?? '').toWellFormed()))
}
