import type { IncomingMessage, ServerResponse } from 'node:http'
import { bringSettings } from '../areas/apps/index.ts'
import { keepFile, openReception } from '../areas/files/index.ts'
import { authorise } from '../areas/rbac/index.ts'
import { userNotFound } from '../areas/users/errors.ts'
import { actorFrom, findActiveUser } from '../areas/users/index.ts'
import { ApiError, badRequest } from '../kit/errors.ts'
import type { Actor, Caller, Operation, ReceivedFile } from '../kit/operation.ts'
import type { Tools } from '../kit/ports.ts'
import { isBroken } from '../kit/readable.ts'
import { ReadyMade } from '../kit/reply.ts'
import { type Work, workIn } from '../kit/work.ts'
import { type Connection, TakesLong } from '../storage/connection.ts'
import type { Database } from '../storage/database.ts'
import { tenantDb } from '../storage/tenant.ts'
import { type Address, addressReader } from './address.ts'
import { declaredFields, parseBody, readBody } from './body.ts'
import { answerPreflight, corsHeaders, isPreflight } from './cors.ts'
import type { Directory, KnownApp } from './directory.ts'
import { enterAsClient, isClient } from './doors/client.ts'
import { enterAsManagement } from './doors/management.ts'
import { enterAsServer, headerText, resolveApp } from './doors/server.ts'
import {
  apiNotFound,
  authTokenUnknown,
  errorText,
  invalidVersion,
  noAccess,
  plainHttpRefused,
  type Source,
  unexpected,
} from './errors.ts'
import { type Attempt, attemptOf, once } from './idempotency.ts'
import { type Allowance, allowanceHeaders, type Limits, refusalHeaders } from './limits.ts'
import { endHeard, takeTime } from './listener.ts'
import type { LongReads } from './long-reads.ts'
import { bodyOfFields, isMultipart, readForm } from './multipart.ts'
import type { Observer, Trace } from './observe.ts'
import { errorsOf } from './openapi.ts'
import type { createRouter, Found, Mounted } from './router.ts'

export interface Pipeline {
  database: Database
  directory: Directory
  limits: Limits
  longReads: LongReads
  observer: Observer
  route: ReturnType<typeof createRouter>
  tools: Tools
  domain: string
  /** In tests every reply is held against its schema, and every error against the operation's list. */
  strict: boolean
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

  return async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isPreflight(request)) return answerPreflight(request, response)
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
      const known = asApiError(pipeline.strict ? heldToDeclaration(error, exchange) : error, exchange)
      status = known.status
      reply = new ReadyMade(errorText(known, exchange.source))
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
  await pipeline.limits.count(owner, found.mounted?.operation.rate ?? 'standard', (allowance) => {
    exchange.allowance = allowance
  })
  if (found.version !== undefined) throw invalidVersion({ version: found.version })
  if (!found.mounted) throw apiNotFound()
  const { operation } = found.mounted
  if (!opens(operation, caller)) throw noAccess()
  const call: Call = { app, caller, mounted: found.mounted, params: found.params, search, trace, sent: nothingSent }
  if (operation.method === 'GET') {
    readActor(call, headers)
    return read(pipeline, exchange, call)
  }
  call.sent = await readSent(pipeline, request, call)
  try {
    readActor(call, headers)
    if (operation.userRate && call.actAs !== undefined) {
      const ofApp = exchange.allowance
      // Headers tell of the app's allowance, unless it is the user's that is used up.
      await pipeline.limits.count(`${app?.id} ${call.actAs}`, operation.userRate, (allowance) => {
        exchange.allowance = allowance
      })
      exchange.allowance = ofApp
    }
    return await change(
      pipeline,
      call,
      attemptOf(
        headerText(headers['idempotency-key']),
        request.method ?? '',
        request.url ?? '',
        caller.kind === 'client' ? `token of ${call.actAs}` : (call.actAs ?? ''),
        call.sent.text,
      ),
    )
  } catch (error) {
    await call.sent.discard?.()
    throw error
  }
}

/** What a request brought along; `text` tells one request from another. */
interface Sent {
  text: string
  body: Record<string, unknown>
  files: ReceivedFile[]
  /** Removes files that nothing came of. */
  discard?: () => Promise<void>
}

const nothingSent: Sent = { text: '', body: {}, files: [] }

async function readSent(pipeline: Pipeline, request: IncomingMessage, { app, caller, mounted }: Call): Promise<Sent> {
  const { operation } = mounted
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw badRequest({ 'content-encoding': ['is not supported; send the body as it is'] })
  if (app && operation.takesFiles && isMultipart(request)) {
    return readSentForm(pipeline, request, operation, app.id, caller)
  }
  const text = await readBody(request, operation.bodyBytesMax)
  if (operation.bodyRequired && text.trim() === '') throw badRequest({ body: ['is required'] })
  return { text, body: parseBody(text), files: [] }
}

async function readSentForm(
  { database, tools }: Pipeline,
  request: IncomingMessage,
  { body, bodyBytesMax }: Operation,
  appId: string,
  caller: Caller,
): Promise<Sent> {
  takeTime(request)
  const reception = openReception(
    tools,
    (work) => database.write((connection) => work(workIn(connection, appId, tools))),
    caller.kind === 'client' ? caller.uid : headerText(request.headers.onbehalfof)?.toLowerCase(),
  )
  const discard = async () => {
    await reception.discard()
    database.wake()
  }
  try {
    const { fields, files, digests } = await readForm(request, reception, tools.fileLimits, bodyBytesMax)
    const text = JSON.stringify([fields, digests])
    return { text, body: bodyOfFields(body, fields), files, discard }
  } catch (error) {
    await discard()
    throw error
  }
}

function readActor(call: Call, headers: IncomingMessage['headers']): void {
  for (const name in call.params) {
    if (isBroken(call.params[name] ?? '')) throw badRequest({ [name]: ['must be readable text'] })
  }
  call.actAs = actingUid(call.mounted.operation, call.caller, headers.onbehalfof)
}

interface Call {
  app: KnownApp | undefined
  caller: Caller
  mounted: Mounted
  params: Record<string, string>
  search: string
  sent: Sent
  trace: Trace
  actAs?: string | undefined
  /** The operation has run; not so where a repeated request is answered from what was kept. */
  ran?: boolean
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

/** A read, on the connection that all share; unless it turns out to be one that may take long. */
async function read(pipeline: Pipeline, { response }: Exchange, call: Call): Promise<ReadyMade> {
  try {
    return await perform(pipeline, { ...pipeline.database.reader, isShared: true }, call)
  } catch (error) {
    if (!(error instanceof TakesLong)) throw error
  }
  const { id, mayTakeLong } = call.mounted.operation
  if (pipeline.strict && !mayTakeLong) throw new Error(`${id} does not declare that it may take long.`)
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const asker = { appId: call.app?.id ?? '', uid: call.actAs }
  return pipeline.longReads.run(asker, gone.signal, (connection) => perform(pipeline, connection, call))
}

/** A write: one transaction, then the workers are woken and the caller is answered. */
async function change(pipeline: Pipeline, call: Call, attempt: Attempt | undefined): Promise<ReadyMade> {
  const { database, directory, tools } = pipeline
  const { caller } = call
  const owner = call.app?.id ?? `account ${caller.kind === 'management' ? caller.accountId : ''}`
  const text = await database.write((connection) =>
    once(tenantDb(connection, owner), tools.secrets, tools.clock.now(), attempt, async () => {
      const reply = await perform(pipeline, connection, call)
      return reply.text
    }),
  )
  if (!call.ran) await call.sent.discard?.()
  if (call.mounted.operation.changesCallers) directory.forget()
  database.wake()
  const { after } = call.mounted.operation
  if (after) await after(tools, JSON.parse(text))
  return new ReadyMade(text)
}

/** The acting user, what the path names, the input, and then the operation itself. */
async function perform(pipeline: Pipeline, connection: Connection, call: Call): Promise<ReadyMade> {
  const { tools, strict } = pipeline
  const { mounted, caller, params } = call
  const { operation } = mounted
  const inApp = (appId: string) => workIn(connection, appId, tools)
  const work = call.app
    ? workFor(connection, call.app, tools)
    : { platform: connection.query, inApp, now: tools.clock.now(), tools }
  const actor =
    call.app && call.actAs !== undefined
      ? await requireActor(connection, call.app.id, call.actAs, caller.kind)
      : undefined
  call.trace.actor = actor?.uid
  const known = { ...work, app: call.app, caller, actor, params }
  const found = await operation.find?.(known as never)
  const query = mounted.readQuery(call.search)
  const { files } = call.sent
  if (operation.hasBody) await mounted.checkBody(call.sent.body)
  const body = declaredFields(operation.body, call.sent.body)
  if (call.app && actor && operation.may) await authorise(tenantDb(connection, call.app.id), actor, operation.may)
  if (call.app) for (const file of files) await keepFile(inApp(call.app.id), file)
  const result = await operation.run({ ...known, found, query, body, files } as never)
  call.ran = true
  const reply = result instanceof ReadyMade ? result : new ReadyMade(JSON.stringify(result))
  if (strict) await mounted.checkReply(JSON.parse(reply.text))
  return reply
}

function workFor(connection: Connection, { id, settings }: KnownApp, tools: Tools): Work {
  const work = workIn(connection, id, tools)
  bringSettings(work.db, settings)
  return work
}

async function requireActor(connection: Connection, appId: string, uid: string, door: Caller['kind']): Promise<Actor> {
  const user = await findActiveUser(tenantDb(connection, appId), uid)
  if (!user) throw door === 'client' ? authTokenUnknown() : userNotFound({ uid })
  return actorFrom(user)
}

/** A failure that the operation does not declare is a fault of ours; where it is held to that, it is answered as one. */
function heldToDeclaration(error: unknown, { mounted }: Exchange): unknown {
  if (!(error instanceof ApiError) || !mounted) return error
  const declared = errorsOf(mounted.operation).some(
    ({ code, status }) => code === error.code && status === error.status,
  )
  return declared ? error : new Error(`${mounted.operation.id} does not declare ${error.code}.`, { cause: error })
}

function asApiError(error: unknown, { trace }: Exchange): ApiError {
  if (error instanceof ApiError) {
    trace.error = error.cause
    return error
  }
  trace.error = error
  return unexpected(trace.id)
}

function retryAfterOf({ details }: ApiError): number | undefined {
  return typeof details?.retryAfter === 'number' ? details.retryAfter : undefined
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
    ...corsHeaders(request),
  ]
  if (allowance) headers.push(...allowanceHeaders(allowance))
  if (allowance && retryAfter !== undefined) headers.push(...refusalHeaders(allowance, retryAfter))
  const replacement = mounted?.operation.deprecated?.replacedBy
  if (replacement) {
    headers.push('Deprecation', 'true', 'Link', `<${filledPath(replacement, params)}>; rel="successor-version"`)
  }
  const cutOff = !request.complete && request.method !== 'GET' && !canBeSkipped(request)
  if (cutOff) headers.push('Connection', 'close')
  response.writeHead(status, headers)
  if (cutOff && mounted?.operation.takesFiles) endHeard(request, response, body)
  else response.end(body)
}

const skippedBytesMax = 65_536

/** A short body that was not read is passed over; after a long or endless one the connection ends with the answer. */
function canBeSkipped({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length']) <= skippedBytesMax
}

/** A path with the values that the request's own path has for its parameters. */
function filledPath(template: string, params: Record<string, string>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent((params[name] ?? '').toWellFormed()))
}
