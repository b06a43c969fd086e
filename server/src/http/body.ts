import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { bodyTooLarge } from '../dispatch/errors.ts'
import { badRequest } from '../kit/errors.ts'
import { readJson } from '../plain/json.ts'
import { connectionOf, welcomeBody } from './connection.ts'
import { watchForCrumbs } from './crumbs.ts'

/** Reads a body up to its limit; an endless one is refused as soon as it is too large. */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw bodyTooLarge(bytesMax)
  const connection = connectionOf(request)
  const received = createGatherer()
  const crumbled = watchForCrumbs()
  welcomeBody(request)
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      connection.keep(chunk.length)
      const problem = received.add(chunk) > bytesMax ? bodyTooLarge(bytesMax) : crumbled(chunk)
      if (!problem) return
      request.pause()
      reject(problem)
    })
    request.on('end', resolve)
    // A client that goes away in the middle is no fault of ours, and must not be logged as one.
    const cutOff = () => {
      if (!request.readableEnded) reject(badRequest({ body: ['must be sent to its end'] }))
    }
    request.on('error', cutOff)
    request.on('close', cutOff)
    // One that went before anybody listened is not heard of again.
    if (request.destroyed) cutOff()
  })
  const body = received.all()
  // Bytes that are no text would be stored as something else than what was sent.
  if (!isUtf8(body)) throw badRequest({ body: ['must be UTF-8'] })
  return body.toString('utf8')
}

/** Gathers bytes in one piece that grows: kept apart, a body sent byte by byte would take a hundred times its size. */
function createGatherer(): { add(chunk: Buffer): number; all(): Buffer } {
  let gathered: Buffer = Buffer.alloc(0)
  let length = 0
  return {
    add(chunk) {
      if (length === 0) gathered = chunk
      else {
        if (length + chunk.length > gathered.length) gathered = enlarged(gathered, length + chunk.length)
        gathered.set(chunk, length)
      }
      length += chunk.length
      return length
    },
    all: () => gathered.subarray(0, length),
  }
}

function enlarged(bytes: Buffer, lengthMin: number): Buffer {
  const larger = Buffer.allocUnsafe(2 * lengthMin)
  larger.set(bytes)
  return larger
}

/** Whether a text would be JSON, whatever its content type says: no form begins so. */
export function looksLikeJson(text: string): boolean {
  return /^\s*[{[]/.test(text)
}

/** The JSON object in a body. Nothing is an empty object, and so is `[]`: some languages write an empty map that way. */
export function parseBody(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  const reading = readJson(text)
  if (!('value' in reading)) throw badRequest({ body: [reading.problem] })
  const { value } = reading
  if (Array.isArray(value) && value.length === 0) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest({ body: ['must be a JSON object'] })
  }
  return value as Record<string, unknown>
}
