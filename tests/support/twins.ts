import type { Operation } from '../../server/src/kit/operation.ts'
import type { TSchema } from '../../server/src/kit/schema.ts'
import type { Sending } from './http.ts'
import { countsAsNotSent } from './samples.ts'

/** One request in two ways of writing it: as the schema describes it, and as clients write it too. */
export interface Twins {
  way: string
  strict: Sending
  lenient: Sending
}

type Body = Record<string, unknown>

interface Described {
  properties?: Record<string, TSchema>
  required?: string[]
  items?: TSchema
  'x-number'?: true
  'x-empty'?: 'clears' | 'counts'
}

const boundary = 'between-the-parts'
const someId = 9_000_123

export function twinsOf({ method, body: schema }: Operation, body: Body): Twins[] {
  const { properties = {}, required = [] } = schema as Described
  const absent = Object.keys(properties).filter((name) => !required.includes(name) && !(name in body))
  const isUpdate = method === 'PUT' || method === 'PATCH'
  const isSilent = (name: string) => {
    const property = properties[name] as TSchema
    const clears = isUpdate && (property as Described)['x-empty'] === 'clears'
    return countsAsNotSent(property, '') && !clears
  }
  const filledWith = (names: string[], value: unknown) => Object.fromEntries(names.map((name) => [name, value]))
  const without = (name: string) => Object.fromEntries(Object.entries(body).filter(([each]) => each !== name))
  const strict = { body }
  return [
    { way: 'null', strict, lenient: { body: { ...filledWith(absent, null), ...body } } },
    { way: 'an empty text', strict, lenient: { body: { ...filledWith(absent.filter(isSilent), ''), ...body } } },
    ...required.map((name) => ({
      way: `null as ${name}, which is required,`,
      strict: { body: without(name) },
      lenient: { body: { ...body, [name]: null } },
    })),
    ...required.map((name) => ({
      way: `a form with nothing as ${name}`,
      strict: { body: { ...body, [name]: '' } },
      lenient: urlencoded(fieldsOf({ ...body, [name]: '' })),
    })),
    { way: 'text/plain', strict, lenient: { raw: JSON.stringify(body), headers: { 'content-type': 'text/plain' } } },
    { way: 'no content type', strict, lenient: { raw: JSON.stringify(body), headers: { 'content-type': '' } } },
    { way: 'a form', strict, lenient: urlencoded(fieldsOf(body)) },
    { way: 'a form in parts', strict, lenient: multipart(fieldsOf(body)) },
    ...(isAllText(body) ? [{ way: 'a form with brackets', strict, lenient: urlencoded(bracketsOf(body)) }] : []),
    ...Object.entries(properties).flatMap(([name, property]) => idTwins(name, property as Described, body)),
    { way: '[]', strict: { raw: '' }, lenient: { raw: '[]' } },
  ]
}

/** An id and a list of ids, as text and as a number; whether they name anybody does not matter. */
function idTwins(name: string, property: Described, body: Body): Twins[] {
  const items = property.items as Described | undefined
  if (!property['x-number'] && !items?.['x-number']) return []
  const asSent = (id: unknown) => (items ? [id] : id)
  const text = { ...body, [name]: asSent(String(someId)) }
  return [
    { way: `a number as ${name}`, strict: { body: text }, lenient: { body: { ...body, [name]: asSent(someId) } } },
    // Whatever a text looks like, in a form it is a text.
    {
      way: `1e3 in a form as ${name}`,
      strict: { body: { ...body, [name]: asSent('1e3') } },
      lenient: urlencoded(fieldsOf({ ...body, [name]: asSent('1e3') })),
    },
  ]
}

type Fields = [name: string, value: string][]

/** Each property as one field: what is no text, as JSON. */
function fieldsOf(body: Body): Fields {
  return Object.entries(body).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])
}

/** The same with names and places in brackets. */
function bracketsOf(value: unknown, path = ''): Fields {
  if (typeof value !== 'object' || value === null) return [[path, String(value)]]
  return Object.entries(value).flatMap(([name, member]) => bracketsOf(member, path ? `${path}[${name}]` : name))
}

/** Brackets cannot write anything but texts, nor what is empty. */
function isAllText(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'string'
  const members = Object.values(value)
  return members.length > 0 && members.every(isAllText)
}

export function urlencoded(fields: Fields): Sending {
  const raw = new URLSearchParams(fields).toString()
  return { raw, headers: { 'content-type': 'application/x-www-form-urlencoded' } }
}

export function multipart(fields: Fields): Sending {
  const parts = fields.map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  return { raw: `${parts.join('')}--${boundary}--\r\n`, headers }
}

/**
 * What is left of an answer or a row once everything is gone that differs between two that say the same: ids, times,
 * secrets. Words, structure, what is there and what is not are left.
 */
export function gist(value: unknown): unknown {
  if (typeof value === 'number') return value === 0 ? 0 : 'number'
  if (typeof value === 'string') return isMadeUp.test(value) ? inside(value) : value
  if (Array.isArray(value)) return value.map(gist)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [String(gist(name)), gist(member)] as const)
  return Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Has a digit, or is too long for a word: an id, a time, a secret or the key of a file, which may do without digits. */
const isMadeUp = /\d|[\w-]{24}/

function inside(text: string): unknown {
  if (!/^[{[]/.test(text)) return 'text'
  try {
    return gist(JSON.parse(text))
  } catch {
    return 'text'
  }
}
