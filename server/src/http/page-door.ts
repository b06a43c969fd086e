import type { IncomingMessage, ServerResponse } from 'node:http'
import { apiNotFound } from '../dispatch/errors.ts'
import type { ApiError } from '../kit/errors.ts'
import { openToPages } from './cors.ts'
import { errorText } from './errors.ts'
import type { Observer } from './observe.ts'
import type { PageFile, PageFiles } from './page-files.ts'

/** Pages that browsers open: files that are the same for everybody, all under one path, and held to one policy. */
export interface PageSet {
  /** The path, such as `/docs`. It is one word, and everything under it is the set's. */
  at: string
  /** What its pages may do beyond nothing, as directives of a content security policy. */
  policy: ContentPolicy
  files: PageFiles
  /** Pages of other origins may not read them; unless this is said, they may, as all of the API. */
  forOwnOrigin?: boolean
  /** Where browsers are led that were given nothing but the host. */
  isFront?: boolean
}

export type ContentPolicy = Record<string, string>

/** What holds unless a set says otherwise: nothing is loaded or sent anywhere, and no page is shown inside another one. */
const strictest: ContentPolicy = {
  'default-src': "'none'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
}

/**
 * The one door for pages. A name that is asked for is looked up among those that a set has and never becomes a path of the
 * disk, so there is no way of writing one that leads out of it.
 */
export function createPageDoor(observer: Observer, sets: PageSet[]) {
  const byPath = new Map(sets.map((set) => [set.at, { ...set, headers: headersOf(set) }]))
  // One that begins like a version would not be looked for here.
  for (const { at } of sets) if (!/^\/[a-uw-z][a-z.-]*$/.test(at)) throw new Error(`No pages can be at "${at}".`)
  if (byPath.size < sets.length) throw new Error('Two sets of pages are at the same path.')
  const front = [...byPath.values()].find(({ isFront }) => isFront)

  return function pageFor(request: IncomingMessage): ((response: ServerResponse) => Promise<void>) | undefined {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    const [, at = '', name = ''] = /^(\/[^/?]*)([^?]*)/.exec(request.url ?? '') ?? []
    const isLed = at === '/' && name === '' && isBrowser(request)
    const set = isLed ? front : byPath.get(at)
    if (!set) return undefined
    return async (response) => {
      const trace = observer.begin()
      trace.operation = set.at
      const status = isLed ? lead(set, 302, response) : await show(set, decoded(name), request, response)
      observer.end(trace, request.method ?? '', status)
    }
  }
}

type OpenSet = PageSet & { headers: Record<string, string> }

function headersOf({ policy, forOwnOrigin = false }: PageSet): Record<string, string> {
  const directives = Object.entries({ ...strictest, ...policy, 'frame-ancestors': strictest['frame-ancestors'] }).map(
    ([name, sources]) => `${name} ${sources}`,
  )
  return {
    ...(forOwnOrigin ? { 'Cross-Origin-Resource-Policy': 'same-origin' } : openToPages),
    'Content-Security-Policy': directives.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  }
}

async function show(
  { at, files, headers }: OpenSet,
  name: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<number> {
  const file = name === undefined ? undefined : files.get(name)
  if (file) return showFile(file, headers, request, response)
  // Pages name what belongs to them as seen from their folder, which a path without its last slash is not in.
  if (name === '' && files.has('/')) return lead({ at, headers }, 308, response)
  return refuse(apiNotFound(), headers, response)
}

function lead({ at, headers }: Pick<OpenSet, 'at' | 'headers'>, status: 302 | 308, response: ServerResponse): number {
  response.writeHead(status, { ...headers, 'Cache-Control': 'no-cache', Location: `${at}/`, 'Content-Length': 0 }).end()
  return status
}

/** Programs ask for data, or take whatever comes. */
const isBrowser = ({ headers: { accept = '' } }: IncomingMessage) => accept.includes('text/html')

async function showFile(
  { type, keep, content }: PageFile,
  headers: Record<string, string>,
  { method, headers: asked }: IncomingMessage,
  response: ServerResponse,
): Promise<number> {
  const { bytes, etag } = await content()
  const known = { ...headers, 'Cache-Control': keep, ETag: etag }
  if (isKnown(asked['if-none-match'], etag)) {
    response.writeHead(304, known).end()
    return 304
  }
  response.writeHead(200, { ...known, 'Content-Type': type, 'Content-Length': bytes.length })
  response.end(method === 'HEAD' ? undefined : bytes)
  return 200
}

/** Whether the browser has it already; a proxy that packs contents says so by a `W/` before the tag. */
function isKnown(tags: string | undefined, etag: string): boolean {
  if (tags === undefined) return false
  return tags.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}

function refuse(error: ApiError, headers: Record<string, string>, response: ServerResponse): number {
  const text = errorText(error, 'chat-api')
  response.writeHead(error.status, {
    ...headers,
    'Cache-Control': 'no-cache',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
  return error.status
}

/** A name as it is meant, if it can be read. */
function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name)
  } catch {
    return undefined
  }
}
