import { badRequest } from '../kit/errors.ts'
import type { TSchema } from '../kit/schema.ts'
import { isBroken } from '../plain/readable.ts'

/** Turns a query string into the typed object a schema describes; unknown names are ignored. */
export type QueryReader = (search: string) => Record<string, unknown>

/** From what was sent under the name, and under the name with numbers in brackets. */
type Read = (values: string[], entries: string[]) => { value: unknown } | { problem: string }

interface PropertySchema {
  type?: string
  minimum?: number
  maxItems?: number
  maxLength?: number
  /** Other names that it goes by; the earlier wins. */
  'x-also'?: string[]
}

export interface QueryHabits {
  /** A boolean that is none is refused; elsewhere it counts as not sent. */
  strictBooleans: boolean
}

const nothing = {}

/** What was sent under one name: as it is or with empty brackets, and with a number in them. */
interface Sent {
  values: string[]
  entries: string[]
}

export function queryReader(schema: TSchema, habits: QueryHabits): QueryReader {
  const properties = Object.entries((schema as { properties?: Record<string, PropertySchema> }).properties ?? {})
  const readers = properties.map(([name, property]) => ({
    name,
    spellings: [name, ...(property['x-also'] ?? [])],
    read: readerFor(property, habits),
  }))

  return (search) => {
    if (search === '' || readers.length === 0) return nothing
    const query: Record<string, unknown> = {}
    const details: Record<string, string[]> = {}
    const all = sentByName(search)
    for (const { name, spellings, read } of readers) {
      const spelling = spellings.find((each) => all.has(each))
      const sent = spelling === undefined ? undefined : all.get(spelling)
      if (!sent || spelling === undefined) continue
      const broken = sent.values.some(isBroken) || sent.entries.some(isBroken)
      const outcome = broken ? { problem: 'must be readable text' } : read(sent.values, sent.entries)
      if ('problem' in outcome) details[spelling] = [outcome.problem]
      else if (outcome.value !== undefined) query[name] = outcome.value
    }
    if (Object.keys(details).length > 0) throw badRequest(details)
    return query
  }
}

/** In one pass, however many there are. What is empty counts as not sent. */
function sentByName(search: string): Map<string, Sent> {
  const sent = new Map<string, Sent>()
  for (const [key, value] of new URLSearchParams(search)) {
    if (!isFilled(value)) continue
    const [, name = key, index] = key.endsWith(']') ? (bracketed.exec(key) ?? []) : []
    const known = sent.get(name) ?? { values: [], entries: [] }
    sent.set(name, known)
    const list = index ? known.entries : known.values
    list.push(value)
  }
  return sent
}

/** `tags[]`, or `tags[0]`, `tags[1]` and so on, as some clients write lists. */
const bracketed = /^([^[]*)\[(\d*)\]$/

/** Of a single value that is sent several times the last counts. */
function readerFor(property: PropertySchema, { strictBooleans }: QueryHabits): Read {
  const single = (read: (text: string) => ReturnType<Read>): Read => {
    return (values, entries) => read(values.at(-1) ?? entries.at(-1) ?? '')
  }
  switch (property.type) {
    case 'integer':
      return single((text) => readInteger(text.trim(), property.minimum))
    case 'boolean':
      return single((text) => readBoolean(text.trim(), strictBooleans))
    case 'array':
      // An entry of its own may hold a comma.
      return (values, entries) =>
        readList([...values.flatMap((value) => value.split(',')), ...entries], property.maxItems)
    default:
      return single((text) => readText(text, property.maxLength))
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

function readBoolean(text: string, isStrict: boolean): ReturnType<Read> {
  const value = booleanIn(text)
  return value === undefined && isStrict ? { problem: 'must be true or false' } : { value }
}

/** `true`, `false`, `1` and `0`, in any letter case; in forms as in queries. */
export function booleanIn(text: string): boolean | undefined {
  if (/^(true|1)$/i.test(text)) return true
  return /^(false|0)$/i.test(text) ? false : undefined
}
