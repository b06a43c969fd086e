import { badRequest } from '../kit/errors.ts'
import type { TSchema } from '../kit/schema.ts'

/** Turns a query string into the typed object a schema describes; unknown names are ignored. */
export type QueryReader = (search: string) => Record<string, unknown>

type Read = (values: string[]) => { value: unknown } | { problem: string }

interface PropertySchema {
  type?: string
  minimum?: number
}

const nothing = {}

export function queryReader(schema: TSchema): QueryReader {
  const properties = Object.entries((schema as { properties?: Record<string, PropertySchema> }).properties ?? {})
  const readers = properties.map(([name, property]) => ({ name, read: readerFor(property) }))

  return (search) => {
    if (search === '' || readers.length === 0) return nothing
    const sent = new URLSearchParams(search)
    const query: Record<string, unknown> = {}
    const details: Record<string, string[]> = {}
    for (const { name, read } of readers) {
      const values = [...sent.getAll(name), ...sent.getAll(`${name}[]`)].filter((value) => value.trim() !== '')
      if (values.length === 0) continue
      const outcome = values.some(isBroken) ? { problem: 'must be readable text' } : read(values)
      if ('problem' in outcome) details[name] = [outcome.problem]
      else query[name] = outcome.value
    }
    if (Object.keys(details).length > 0) throw badRequest(details)
    return query
  }
}

function readerFor(property: PropertySchema): Read {
  switch (property.type) {
    case 'integer':
      return ([value = '']) => readInteger(value.trim(), property.minimum)
    case 'boolean':
      return ([value = '']) => readBoolean(value.trim())
    case 'array':
      return (values) => ({ value: values.flatMap((value) => value.split(',')) })
    default:
      return ([value]) => ({ value })
  }
}

function readInteger(text: string, minimum: number | undefined): ReturnType<Read> {
  const value = Number(text)
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(value)) return { problem: 'must be an integer' }
  if (minimum !== undefined && value < minimum) return { problem: `must not be less than ${minimum}` }
  return { value }
}

function readBoolean(text: string): ReturnType<Read> {
  if (/^(true|1)$/i.test(text)) return { value: true }
  if (/^(false|0)$/i.test(text)) return { value: false }
  return { problem: 'must be true or false' }
}

/** Text that no database stores as it is: NUL characters, and halves of surrogate pairs. */
export function isBroken(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed()
}
