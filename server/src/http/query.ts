import { badRequest } from '../kit/errors.ts'
import { isBroken } from '../kit/readable.ts'
import type { TSchema } from '../kit/schema.ts'

/** Turns a query string into the typed object a schema describes; unknown names are ignored. */
export type QueryReader = (search: string) => Record<string, unknown>

/** From what was sent under the name, and under the name with numbers in brackets. */
type Read = (values: string[], entries: string[]) => { value: unknown } | { problem: string }

interface PropertySchema {
  type?: string
  minimum?: number
  maxItems?: number
  maxLength?: number
}

const nothing = {}

export function queryReader(schema: TSchema): QueryReader {
  const properties = Object.entries((schema as { properties?: Record<string, PropertySchema> }).properties ?? {})
  const readers = properties.map(([name, property]) => ({ name, read: readerFor(property) }))

  return (search) => {
    if (search === '' || readers.length === 0) return nothing
    const sent = new URLSearchParams(search)
    const numbered = entriesByName(sent)
    const query: Record<string, unknown> = {}
    const details: Record<string, string[]> = {}
    for (const { name, read } of readers) {
      const values = [...sent.getAll(name), ...sent.getAll(`${name}[]`)].filter(isFilled)
      const entries = (numbered.get(name) ?? []).filter(isFilled)
      if (values.length === 0 && entries.length === 0) continue
      const broken = [...values, ...entries].some(isBroken)
      const outcome = broken ? { problem: 'must be readable text' } : read(values, entries)
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
      return ([value = ''], [entry = '']) => readInteger((value || entry).trim(), property.minimum)
    case 'boolean':
      return ([value = ''], [entry = '']) => readBoolean((value || entry).trim())
    case 'array':
      // An entry of its own may hold a comma.
      return (values, entries) =>
        readList([...values.flatMap((value) => value.split(',')), ...entries], property.maxItems)
    default:
      return ([value], [entry]) => readText(value ?? entry ?? '', property.maxLength)
  }
}

function isFilled(value: string): boolean {
  return value.trim() !== ''
}

/** `tags[0]`, `tags[1]` and so on, as some clients write lists. */
function entriesByName(sent: URLSearchParams): Map<string, string[]> {
  const byName = new Map<string, string[]>()
  for (const [key, value] of sent) {
    const name = /^(.*)\[\d+\]$/s.exec(key)?.[1]
    if (name === undefined) continue
    const entries = byName.get(name) ?? []
    entries.push(value)
    byName.set(name, entries)
  }
  return byName
}

function readText(value: string, most = Number.POSITIVE_INFINITY): ReturnType<Read> {
  return value.length > most ? { problem: `must not be longer than ${most} characters` } : { value }
}

function readList(value: string[], most = Number.POSITIVE_INFINITY): ReturnType<Read> {
  return value.length > most ? { problem: `must not have more than ${most} entries` } : { value }
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
