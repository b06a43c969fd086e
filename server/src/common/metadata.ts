import { Type } from '../kit/schema.ts'
import { readJson } from '../plain/json.ts'
import { isReadable } from '../plain/readable.ts'

/** An app's own data on a record, as it is answered: always an object. */
export const Metadata = Type.Record(Type.String(), Type.Unknown(), { description: 'Data of your own' })
export type Metadata = Record<string, unknown>

/** The same as it may be sent: an object, or the text of one. */
export function MetadataInput(bytesMax = Number.POSITIVE_INFINITY) {
  const fits = Type.Refine(
    Type.Union([Metadata, Type.String()], { description: 'Data of your own; an object, or one as JSON text' }),
    (value) => readMetadata(value) !== undefined,
    () => 'must be a JSON object of readable text',
  )
  if (bytesMax === Number.POSITIVE_INFINITY) return fits
  return Type.Refine(
    fits,
    (value) => Buffer.byteLength(JSON.stringify(readMetadata(value)) ?? '') <= bytesMax,
    () => `must not be larger than ${bytesMax} bytes`,
  )
}

/** What is stored for a value that `MetadataInput` has let through. */
export function metadataText(value: unknown): string {
  return JSON.stringify(readMetadata(value))
}

/** The object that was sent, as such or as text; nothing, if it is none. */
export function readMetadata(value: unknown): Metadata | undefined {
  const read = typeof value === 'string' ? jsonIn(value) : value
  if (typeof value === 'string' && !isReadable(read)) return undefined
  return typeof read === 'object' && read !== null && !Array.isArray(read) ? (read as Metadata) : undefined
}

function jsonIn(text: string): unknown {
  const reading = readJson(text)
  return 'value' in reading ? reading.value : undefined
}
