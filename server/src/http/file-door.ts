import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { pipeline as flow } from 'node:stream/promises'
import { addressExpired, fileTooLarge, storageFailed } from '../areas/files/errors.ts'
import {
  findStoredFile,
  receiveAnnounced,
  shownAttachment,
  storedAttachment,
  type Ticket,
  thumbnailKey,
  thumbnailType,
  ticketIn,
} from '../areas/files/index.ts'
import { workIn } from '../common/work-in.ts'
import type { Directory } from '../dispatch/directory.ts'
import { answerTo, apiNotFound } from '../dispatch/errors.ts'
import type { Trace } from '../dispatch/trace.ts'
import { uploadMeter } from '../dispatch/uploads.ts'
import { ApiError, badRequest } from '../kit/errors.ts'
import type { Limits } from '../kit/limits.ts'
import type { Tools } from '../kit/ports.ts'
import type { InApp } from '../kit/work.ts'
import type { Database } from '../storage/database.ts'
import { tenantDb } from '../storage/tenant.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import { keptInPart, welcomeBody } from './connection.ts'
import { openToPages } from './cors.ts'
import { watchForCrumbs } from './crumbs.ts'
import { errorText, retryAfterOf } from './errors.ts'
import type { Observer } from './observe.ts'
import { takeTime } from './patience.ts'

/**
 * Where the bytes of files come and go: signed addresses, which need no key. Not operations of the API, whose bodies are
 * JSON. Files come from strangers, so nothing that a browser could run is ever shown as what it is.
 */
export interface FileDoor {
  database: Database
  directory: Directory
  limits: Limits
  observer: Observer
  tools: Tools
}

const address = /^\/files\/([^/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/

/** The way to a file, if the request asks for one. */
export function createFileDoor(door: FileDoor) {
  return function fileFor(request: IncomingMessage): ((response: ServerResponse) => Promise<void>) | undefined {
    const [, token, name, search] = address.exec(request.url ?? '') ?? []
    if (token === undefined) return undefined
    const act = actFor(request, token, name, search ?? '')
    return act && ((response) => answered(door, act, request, response))
  }
}

interface Act {
  operation: string
  run(door: FileDoor, request: IncomingMessage, response: ServerResponse): Promise<number>
}

function actFor({ method }: IncomingMessage, token: string, name: string | undefined, search: string): Act | undefined {
  if (method === 'PUT' && name === undefined) {
    return { operation: 'uploadFile', run: (door, request, response) => upload(door, token, request, response) }
  }
  if ((method === 'GET' || method === 'HEAD') && name !== undefined) {
    const small = new URLSearchParams(search).has('thumbnail')
    return {
      operation: 'downloadFile',
      run: (door, request, response) => download(door, token, small, request, response),
    }
  }
  return undefined
}

/** Whoever has the address may use it from any page, and show what is there. */
const usableAnywhere = { ...openToPages, 'Cross-Origin-Resource-Policy': 'cross-origin' }

async function answered(door: FileDoor, act: Act, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const trace = door.observer.begin()
  trace.operation = act.operation
  let status: number
  try {
    status = await act.run(door, request, response)
  } catch (error) {
    status = refuse(error, trace, request, response)
  }
  door.observer.end(trace, request.method ?? '', status)
}

function refuse(error: unknown, trace: Trace, request: IncomingMessage, response: ServerResponse): number {
  const known = answerTo(error, trace)
  const retryAfter = retryAfterOf(known)
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return known.status
  }
  const text = errorText(known, 'chat-api')
  response.writeHead(known.status, {
    ...usableAnywhere,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'X-Request-Id': trace.id,
    ...(retryAfter !== undefined && { 'Retry-After': retryAfter }),
    ...(request.complete ? {} : { Connection: 'close' }),
  })
  response.end(text)
  return known.status
}

/** An address that we did not sign, or whose app is gone, leads nowhere. */
async function requireTicket(
  { directory, tools }: FileDoor,
  purpose: 'download' | 'upload',
  token: string,
): Promise<Ticket> {
  const ticket = ticketIn(tools, purpose, token)
  if (!ticket || !(await directory.app(ticket.appId))) throw apiNotFound()
  if (ticket.expiresAt <= tools.clock.now()) throw addressExpired()
  return ticket
}

/** Types that a browser shows without running anything. All others are handed over as files to save. */
const shownTypes = /^(image\/(jpeg|png|gif|webp|avif|apng|bmp|heic)|(audio|video)\/[\w.+-]+)$/

async function download(
  door: FileDoor,
  token: string,
  small: boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<number> {
  const { tools, database } = door
  const ticket = await requireTicket(door, 'download', token)
  const { appId } = ticket
  const file = await database.read((connection) => findStoredFile(tenantDb(connection, appId), ticket.key), appId)
  if (!file) throw apiNotFound()
  const asThumbnail = small && file.has_thumbnail === 1
  const key = asThumbnail ? thumbnailKey(file.key) : file.key
  const type = asThumbnail ? thumbnailType : file.mime
  const shown = shownTypes.test(type)
  // The small picture may be made any moment; what stands in for it is not to be kept.
  const keep = small && !asThumbnail ? 'no-store' : `max-age=${ticket.expiresAt - tools.clock.now()}, immutable`
  const headers = {
    ...usableAnywhere,
    'Content-Type': shown ? type : 'application/octet-stream',
    'Content-Disposition': `${shown ? 'inline' : 'attachment'}; ${namedAs(file.name)}`,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cache-Control': `private, ${keep}`,
    ETag: `"${key}"`,
  }
  if (request.headers['if-none-match'] === headers.ETag) {
    response.writeHead(304, headers).end()
    return 304
  }
  // How large a thumbnail is only the store knows; it is small enough to be sent whole.
  if (asThumbnail) return send(tools, request, response, 200, headers, key)
  const range = rangeIn(request, headers.ETag, file.size)
  if (range === 'unsatisfiable') {
    response.writeHead(416, { ...headers, 'Content-Range': `bytes */${file.size}` }).end()
    return 416
  }
  const { start, end } = range ?? { start: 0, end: file.size - 1 }
  const sized = { ...headers, 'Accept-Ranges': 'bytes', 'Content-Length': end - start + 1 }
  if (!range) return send(tools, request, response, 200, sized, key)
  return send(
    tools,
    request,
    response,
    206,
    { ...sized, 'Content-Range': `bytes ${start}-${end}/${file.size}` },
    key,
    range,
  )
}

async function send(
  { files }: Tools,
  { method }: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Record<string, string | number>,
  key: string,
  range?: { start: number; end: number },
): Promise<number> {
  if (method === 'HEAD' || headers['Content-Length'] === 0) {
    response.writeHead(status, headers).end()
    return status
  }
  const content = await files.get(key, range)
  if (!content) throw apiNotFound()
  response.writeHead(status, headers)
  // A client that goes away in the middle is no fault of ours; one of the store's shows as a connection that breaks off.
  await flow(content, response).catch(() => response.destroy())
  return status
}

/** The name in ASCII for old clients, and as it is for all others. */
function namedAs(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const exact = encodeURIComponent(name).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
  return `filename="${plain}"; filename*=UTF-8''${exact}`
}

type Range = { start: number; end: number }

/** One range of bytes, if that is what is asked for; anything more complicated is answered with the whole. */
function rangeIn({ headers }: IncomingMessage, etag: string, size: number): Range | 'unsatisfiable' | undefined {
  if (headers['if-range'] !== undefined && headers['if-range'] !== etag) return undefined
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.range ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (start >= size || start > end)
    return first !== '' && last !== '' && Number(last) < start ? undefined : 'unsatisfiable'
  return { start, end }
}

/** Takes the bytes of an announced file. An upload that fails may be tried again. */
async function upload(
  door: FileDoor,
  token: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<number> {
  const { database, tools, limits } = door
  const { appId, key } = await requireTicket(door, 'upload', token)
  const inApp: InApp = (work) => database.write((connection) => work(workIn(connection, appId, tools)), appId)
  const { stallSeconds } = tools.fileLimits
  const file = await receiveAnnounced(tools, inApp, key, ({ size: bytesMax, uploader }) => {
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw fileTooLarge({ bytesMax })
    takeTime(request)
    const metered = uploadMeter(limits, appId, uploader ?? undefined).bytes(wholeBody(request, stallSeconds))
    return keptInPart(request, metered, tools.files.heldBytes)
  }).catch((error) => {
    throw error instanceof ApiError || error instanceof DatabaseUnavailable ? error : storageFailed(error)
  })
  if (!file) throw badRequest({ uploadUrl: ['was used before'] })
  const text = JSON.stringify({ data: shownAttachment(tools, appId, storedAttachment(file)) })
  response.writeHead(200, {
    ...usableAnywhere,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
  return 200
}

/** The body as it comes in; one that breaks off, comes to a halt, in crumbs, or is empty is no body. */
async function* wholeBody(request: IncomingMessage, stallSeconds: number): AsyncGenerator<Buffer> {
  // In between, since whoever reads a request in a loop does not see the pieces that it comes in.
  const content = new PassThrough()
  const giveUp = (problem: ApiError) => {
    request.unpipe(content)
    content.destroy(problem)
  }
  const brokenOff = () => request.readableEnded || giveUp(badRequest({ body: ['must be sent to its end'] }))
  const stalled = setTimeout(brokenOff, stallSeconds * 1000)
  const crumbled = watchForCrumbs()
  request.on('data', (chunk: Buffer) => {
    stalled.refresh()
    const problem = crumbled(chunk)
    if (problem) giveUp(problem)
  })
  request.on('error', brokenOff).on('close', brokenOff)
  if (request.destroyed) brokenOff()
  welcomeBody(request)
  let empty = true
  try {
    for await (const chunk of request.pipe(content)) {
      empty = false
      yield chunk
    }
  } finally {
    clearTimeout(stalled)
  }
  if (empty) throw badRequest({ body: ['must not be empty'] })
}
