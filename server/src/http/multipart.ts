import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { fileTooLarge, tooManyFiles } from '../areas/files/errors.ts'
import type { Taken } from '../areas/files/index.ts'
import { bodyTooLarge } from '../dispatch/errors.ts'
import type { FileIntake } from '../dispatch/intake.ts'
import { badRequest } from '../kit/errors.ts'
import type { ReceivedFile } from '../kit/operation.ts'
import { connectionOf, keptInPart, welcomeBody } from './connection.ts'
import { watchForCrumbs } from './crumbs.ts'
import type { FormField } from './forms.ts'

// What boundaries, part headers and fields may add to the bytes of the files, and to those of the fields.
const overheadBytes = 1_000_000
const fieldOverheadBytes = 65_536
const fieldsMax = 1_000
const partHeaderBytesMax = 16_384
const filePart = /^files?(\[\d*\])?$/

/** What a form brought. Its files are in the store already. */
export interface Form {
  fields: FormField[]
  files: ReceivedFile[]
  /** Equal for equal files, whatever their keys. */
  digests: string[]
}

/** Whether a body says that it comes in parts, and what stands between them. */
export function isMultipart({ headers }: IncomingMessage): boolean {
  return /^multipart\/form-data\b.*;\s*boundary=/i.test(headers['content-type'] ?? '')
}

const usualStallSeconds = 60

/**
 * Reads a form while it comes in: files go straight to the store, where there is an intake for them, and fields are
 * collected. The first thing wrong with it ends the reading; what was stored until then is the caller's to discard.
 */
export async function readForm(
  request: IncomingMessage,
  fieldBytesMax: number,
  intake?: Pick<FileIntake, 'reception' | 'tools'> | undefined,
): Promise<Form> {
  const limits = intake?.tools.fileLimits
  const bytesMax = limits ? limits.bytesMax + overheadBytes : fieldBytesMax + fieldOverheadBytes
  const tooLarge = () => (limits ? fileTooLarge({ bytesMax: limits.bytesMax }) : bodyTooLarge(fieldBytesMax))
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge()
  const parser = await parserFor(request)
  const fields: FormField[] = []
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
      stalled = setTimeout(() => request.complete || brokenOff(), (limits?.stallSeconds ?? usualStallSeconds) * 1000)
      // What has come, and was not read before its client went away, is lost.
      const gone = () => request.readableEnded || brokenOff()
      request.on('error', gone).on('close', gone)
      if (request.destroyed) gone()
      request.on('data', (chunk: Buffer) => {
        stalled?.refresh()
        bytes += chunk.length
        // All but files is kept until the form is whole.
        if (filesOpen === 0) connection.keep(chunk.length)
        const problem = bytes > bytesMax ? tooLarge() : crumbled(chunk)
        if (problem) reject(problem)
      })
      parser.on('error', () => reject(badRequest({ body: ['must be a form that ends as it should'] })))
      parser.on('finish', resolve)

      const collect = (name: string, content: Readable) => {
        const chunks: Buffer[] = []
        const field: FormField = [name, '']
        fields.push(field)
        if (fields.length > fieldsMax)
          return reject(badRequest({ body: [`must not have more than ${fieldsMax} fields`] }))
        content.on('data', (chunk: Buffer) => {
          fieldBytes += chunk.length
          if (fieldBytes > fieldBytesMax) reject(bodyTooLarge(fieldBytesMax))
          else chunks.push(chunk)
        })
        content.once('end', () => {
          const value = Buffer.concat(chunks)
          if (isUtf8(value)) field[1] = value.toString('utf8')
          else reject(badRequest({ [name || 'body']: ['must be UTF-8'] }))
        })
      }

      const store = (part: string, content: Readable, sent: { name: string; declaredType: string }) => {
        filesOpen += 1
        content.once('end', () => {
          filesOpen -= 1
        })
        if (!intake) return reject(badRequest({ [part || 'body']: ['must be text; files are not taken here'] }))
        if (!filePart.test(part))
          return reject(badRequest({ [part || 'body']: ['files must be called file or files[]'] }))
        const { files, fileLimits } = intake.tools
        if (taking.length >= fileLimits.countMax) return reject(tooManyFiles({ countMax: fileLimits.countMax }))
        const taken = takePart(intake.reception, keptInPart(request, content, files.heldBytes), sent)
        taking.push(taken)
        taken.catch(reject)
      }

      parser.on('file', (part, content, name, _, declaredType) => {
        // Somebody must hear its errors from the first moment on.
        content.on('error', () => {})
        parts.push(content)
        if (isFile(name, declaredType)) store(part ?? '', content, { name: name ?? '', declaredType })
        else collect(part ?? '', content)
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

function isFile(fileName: string | undefined, declaredType: string): boolean {
  return fileName !== undefined || declaredType === 'application/octet-stream'
}

/** Every part comes as its bytes: the parser itself would take whatever is no UTF-8 for something else. */
async function parserFor({ headers }: IncomingMessage) {
  const { Busboy } = await import('@fastify/busboy')
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      limits: { headerSize: partHeaderBytesMax },
      isPartAFile: () => true,
    })
  } catch {
    throw badRequest({ 'Content-Type': ['must name the boundary of the parts'] })
  }
}

/** A form whose file was never chosen has an empty part without a name. */
async function takePart(
  reception: FileIntake['reception'],
  content: AsyncIterable<Buffer>,
  sent: { name: string; declaredType: string },
): Promise<Taken | undefined> {
  const taken = await reception.take(content, sent)
  return taken.file.size === 0 && sent.name === '' ? undefined : taken
}
