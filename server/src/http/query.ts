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

/** What was sent under one name: as it is, with empty brackets, and with a number in them. */
interface Sent {
  plain: string[]
  bracketed: string[]
  entries: string[]
}

export function queryReader(schema: TSchema): QueryReader {
  const properties = Object.entries((schema as { properties?: Record<string, PropertySchema> }).properties ?? {})
  const readers = new Map(properties.map(([name, property]) => [name, readerFor(property)]))

  return (search) => {
    if (search === '' || readers.size === 0) return nothing
    const query: Record<string, unknown> = {}
    const details: Record<string, string[]> = {}
    for (const [name, { plain, bracketed, entries }] of sentByName(search)) {
      const read = readers.get(name)
      const values = [...plain, ...bracketed].filter(isFilled)
      const numbered = entries.filter(isFilled)
      if (!read || values.length + numbered.length === 0) continue
      const broken = values.some(isBroken) || numbered.some(isBroken)
      const outcome = broken ? { problem: 'must be readable text' } : read(values, numbered)
      if ('problem' in outcome) details[name] = [outcome.problem]
      else query[name] = outcome.value
    }
    if (Object.keys(details).length > 0) throw badRequest(details)
    return query
  }
}

/** In one pass, however many there are. */
function sentByName(search: string): Map<string, Sent> {
  const sent = new Map<string, Sent>()
  for (const [key, value] of new URLSearchParams(search)) {
    const [, name = key, index] = key.endsWith(']') ? (bracketed.exec(key) ?? []) : []
    const known = sent.get(name) ?? { plain: [], bracketed: [], entries: [] }
    sent.set(name, known)
    const list = index === undefined ? known.plain : index === '' ? known.bracketed : known.entries
    list.push(value)
  }
  return sent
}

/** `tags[]`, or `tags[0]`, `tags[1]` and so on, as some clients write lists. */
const bracketed = /^([^[]*)\[(\d*)\]$/

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
