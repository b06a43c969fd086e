import { createHash } from 'node:crypto'
import { badRequest } from '../../kit/errors.ts'
import type { Tools } from '../../kit/ports.ts'
import { fileTooLarge, storageFailed } from './errors.ts'
import { extensionFor } from './names.ts'
import { inPortions } from './portions.ts'
import { TooLate, writtenUntil } from './writers.ts'

// Enough for containers such as office documents, whose kind is told by what lies in them.
const headBytes = 65_536
const mimeShape = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,99}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,99}$/

/** What a stored file turned out to be. */
export interface FileContent {
  mimeType: string
  extension: string
  size: number
  /** SHA-256 of all bytes. */
  digest: string
}

export interface Incoming {
  key: string
  name: string
  declaredType: string
  content: AsyncIterable<Buffer>
  /** Bytes that may still come; shared by the files of one request. */
  allowance: { left: number; bytesMax: number }
  /** When the last of them must have come. */
  until: number
}

/** Brings content to the store as it comes in, and finds out on the way what it is. */
export async function storeContent({ files, clock }: Tools, incoming: Incoming): Promise<FileContent> {
  const { key, name, declaredType, allowance, until } = incoming
  const hash = createHash('sha256')
  let size = 0
  let clientFailure: unknown

  async function* counted(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of inPortions(incoming.content)) {
        size += chunk.length
        allowance.left -= chunk.length
        if (allowance.left < 0) throw fileTooLarge({ bytesMax: allowance.bytesMax })
        hash.update(chunk)
        yield chunk
      }
    } catch (error) {
      clientFailure = error
      throw error
    }
  }

  const source = counted()
  const head = await beginningOf(source)
  const type = await typeOf(head, declaredType, name)
  try {
    await files.put(key, writtenUntil(until, clock, joined(head, source)), { contentType: type.mimeType })
  } catch (error) {
    throw (
      clientFailure ??
      (error instanceof TooLate ? badRequest({ body: ['took too long to come'] }) : storageFailed(error))
    )
  }
  return { ...type, size, digest: hash.digest('base64url') }
}

async function beginningOf(source: AsyncGenerator<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for (let bytes = 0; bytes < headBytes; ) {
    const { done, value } = await source.next()
    if (done) break
    chunks.push(value)
    bytes += value.length
  }
  return Buffer.concat(chunks)
}

async function* joined(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  yield* rest
}

/**
 * The bytes decide. Only where they say nothing is the sender believed, and not in what the bytes would have shown: a
 * PNG without the look of one is none.
 */
async function typeOf(head: Buffer, declared: string, name: string): Promise<{ mimeType: string; extension: string }> {
  const { fileTypeFromBuffer, supportedMimeTypes } = await import('file-type')
  const found = await fileTypeFromBuffer(head).catch(() => undefined)
  if (found) return { mimeType: found.mime, extension: found.ext }
  const claimed = declared.split(';')[0]?.trim().toLowerCase() ?? ''
  const believable = mimeShape.test(claimed) && !supportedMimeTypes.has(claimed as never)
  const fallback = isText(head) ? 'text/plain' : 'application/octet-stream'
  const mimeType = believable ? claimed : fallback
  return { mimeType, extension: extensionFor(name, mimeType) }
}

/** The last character may be cut in two. */
function isText(head: Buffer): boolean {
  if (head.includes(0)) return false
  return !new TextDecoder('utf-8').decode(head, { stream: true }).includes('\ufffd')
}
