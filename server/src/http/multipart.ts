import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { fileTooLarge, tooManyFiles } from '../areas/files/errors.ts'
import type { Reception, Taken } from '../areas/files/index.ts'
import { badRequest } from '../kit/errors.ts'
import { readJson } from '../kit/json.ts'
import type { ReceivedFile } from '../kit/operation.ts'
import type { Tools } from '../kit/ports.ts'
import type { TSchema } from '../kit/schema.ts'
import { connectionOf, keptInPart, welcomeBody } from './connection.ts'
import { watchForCrumbs } from './crumbs.ts'
import { bodyTooLarge } from './errors.ts'

// What boundaries, part headers and fields may add to the bytes of the files.
const overheadBytes = 1_000_000
const fieldsMax = 100
const partHeaderBytesMax = 16_384
const filePart = /^files?(\[\d*\])?$/

type Field = [name: string, value: string]

/** What a form brought. Its files are in the store already. */
export interface Form {
  fields: Field[]
  files: ReceivedFile[]
  /** Equal for equal files, whatever their keys. */
  digests: string[]
}

export function isMultipart({ headers }: IncomingMessage): boolean {
  return /^multipart\/form-data\b/i.test(headers['content-type'] ?? '')
}

/**
 * Reads a form while it comes in: files go straight to the store, fields are collected. The first thing wrong with it
 * ends the reading; what was stored until then is the caller's to discard.
 */
export async function readForm(
  request: IncomingMessage,
  reception: Reception,
  { files, fileLimits: { bytesMax, countMax, stallSeconds } }: Pick<Tools, 'files' | 'fileLimits'>,
  fieldBytesMax: number,
): Promise<Form> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax + overheadBytes) throw fileTooLarge({ bytesMax })
  const parser = await parserFor(request, fieldBytesMax)
  const fields: Field[] = []
  const parts: Readable[] = []
  const taking: Promise<Taken | undefined>[] = []
  const connection = connectionOf(request)
  const crumbled = watchForCrumbs()
  let filesOpen = 0
  let fieldBytes = 0
  let bytes = 0
  let stalled: NodeJS.Timeout | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      const brokenOff = () => reject(badRequest({ body: ['must be sent to its end'] }))
      stalled = setTimeout(() => request.complete || brokenOff(), stallSeconds * 1000)
      // What has come, and was not read before its client went away, is lost.
      const gone = () => request.readableEnded || brokenOff()
      request.on('error', gone).on('close', gone)
      if (request.destroyed) gone()
      request.on('data', (chunk: Buffer) => {
        stalled?.refresh()
        bytes += chunk.length
        // All but files is kept until the form is whole.
        if (filesOpen === 0) connection.keep(chunk.length)
        const problem = bytes > bytesMax + overheadBytes ? fileTooLarge({ bytesMax }) : crumbled(chunk)
        if (problem) reject(problem)
      })
      parser.on('error', () => reject(badRequest({ body: ['must be a form that ends as it should'] })))
      parser.on('finish', resolve)
      for (const limit of ['partsLimit', 'fieldsLimit'] as const) {
        parser.on(limit, () => reject(badRequest({ body: [`must not have more than ${fieldsMax} fields`] })))
      }
      parser.on('field', (name, value, _, truncated) => {
        fieldBytes += Buffer.byteLength(value)
        if (truncated || fieldBytes > fieldBytesMax) reject(bodyTooLarge(fieldBytesMax))
        else fields.push([name, value])
      })
      parser.on('file', (part, content, name, _, declaredType) => {
        // Somebody must hear its errors from the first moment on.
        content.on('error', () => {})
        filesOpen += 1
        content.once('end', () => {
          filesOpen -= 1
        })
        parts.push(content)
        if (!filePart.test(part ?? ''))
          reject(badRequest({ [part || 'body']: ['files must be called file or files[]'] }))
        else if (parts.length > countMax) reject(tooManyFiles({ countMax }))
        else {
          const kept = keptInPart(request, content, files.heldBytes)
          const taken = takePart(reception, kept, { name: name ?? '', declaredType })
          taking.push(taken)
          taken.catch(reject)
        }
      })
      welcomeBody(request)
      request.pipe(parser)
    })
    const taken = (await Promise.all(taking)).filter((each) => each !== undefined)
    return { fields, files: taken.map(({ file }) => file), digests: taken.map(({ digest }) => digest) }
  } catch (error) {
    request.unpipe(parser)
    for (const part of parts) part.destroy(new Error('The form was given up.'))
    await Promise.allSettled(taking)
    throw error
  } finally {
    clearTimeout(stalled)
  }
}

async function parserFor({ headers }: IncomingMessage, fieldBytesMax: number) {
  const { Busboy } = await import('@fastify/busboy')
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      limits: { fields: fieldsMax, fieldSize: fieldBytesMax, headerSize: partHeaderBytesMax },
    })
  } catch {
    throw badRequest({ 'Content-Type': ['must name the boundary of the parts'] })
  }
}

/** A form whose file was never chosen has an empty part without a name. */
async function takePart(
  reception: Reception,
  content: AsyncIterable<Buffer>,
  sent: { name: string; declaredType: string },
): Promise<Taken | undefined> {
  const taken = await reception.take(content, sent)
  return taken.file.size === 0 && sent.name === '' ? undefined : taken
}

/**
 * Fields as a JSON body would have them: what the schema does not want as text is JSON. A list may also come as several
 * fields of one name, or of a name that ends in `[]`.
 */
export function bodyOfFields(schema: TSchema, fields: Field[]): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> }
  const byName = Map.groupBy(fields, ([name]) => name.replace(/\[\]$/, ''))
  return Object.fromEntries(
    [...byName].map(([name, sent]) => {
      const [sentName, last] = sent.at(-1) ?? [name, '']
      const type = properties[name]?.type
      if (type === 'array' && (sent.length > 1 || sentName !== name)) return [name, sent.map(([, text]) => text)]
      return [name, type === 'string' ? last : jsonOrText(name, last)]
    }),
  )
}

/** Text that is no JSON is left for the schema to refuse. */
function jsonOrText(name: string, text: string): unknown {
  const reading = readJson(text)
  if ('value' in reading) return reading.value
  if (reading.isJson) throw badRequest({ [name]: [reading.problem] })
  return text
}
