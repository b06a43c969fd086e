import type { Validator } from 'typebox/compile'
import { badRequest } from '../kit/errors.ts'
import type { TSchema } from '../kit/schema.ts'
import { isBroken, isReadable } from '../plain/readable.ts'

/** The body without what its schema does not declare, so that nothing unchecked can reach a statement. */
export function declaredFields(schema: TSchema, body: Record<string, unknown>): Record<string, unknown> {
  const { properties } = schema as { properties?: Record<string, TSchema> }
  if (!properties) return body
  const sent = Object.keys(properties).filter((name) => Object.hasOwn(body, name))
  return Object.fromEntries(sent.map((name) => [name, body[name]]))
}

/** Checks a value against a schema, naming every field at fault. The check is compiled when it is first needed. */
export function bodyChecker(schema: TSchema): (body: Record<string, unknown>) => Promise<void> {
  let validator: Validator | undefined
  return async (body) => {
    validator ??= await compiled(schema)
    // Without a prototype: a field may be called `constructor`.
    const details: Record<string, string[]> = Object.create(null)
    if (!isReadable(body)) findUnreadable(body, '', details)
    if (!validator.Check(body)) describe(validator.Errors(withoutExcess(schema, body)), details)
    if (Object.keys(details).length > 0) throw badRequest(details)
  }
}

/** A list that is too long is refused for that; to look for faults in all of its entries would take too long. */
function withoutExcess(schema: TSchema, body: Record<string, unknown>): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { maxItems?: number }> }
  const shortened = Object.entries(properties).flatMap(([name, { maxItems = Number.POSITIVE_INFINITY }]) => {
    const value = body[name]
    return Array.isArray(value) && value.length > maxItems ? [[name, value.slice(0, maxItems + 1)] as const] : []
  })
  return { ...body, ...Object.fromEntries(shortened) }
}

/** The compiler is loaded with its first use: loading it takes about as long as the rest of a start. */
export async function compiled(schema: TSchema): Promise<Validator> {
  const { Compile } = await import('typebox/compile')
  return Compile(schema)
}

interface Problem {
  keyword: string
  instancePath: string
  params: object
  message: string
}

function describe(problems: Iterable<Problem>, details: Record<string, string[]>): void {
  for (const problem of problems) {
    const { requiredProperties } = problem.params as { requiredProperties?: string[] }
    const path = fieldPath(problem.instancePath)
    if (requiredProperties) {
      for (const name of requiredProperties) add(details, path ? `${path}.${name}` : name, 'is required')
    } else {
      add(details, path || 'body', sentenceOf(problem))
    }
  }
}

/** `/tags/0` becomes `tags.0`. */
function fieldPath(instancePath: string): string {
  return instancePath.slice(1).replaceAll('/', '.')
}

// A refusal is not to be larger than what it refuses.
const fieldsToldMax = 50
const fieldCharactersMax = 200

function isFull(details: Record<string, string[]>): boolean {
  return Object.keys(details).length >= fieldsToldMax
}

function add(details: Record<string, string[]>, path: string, sentence: string): void {
  const field = path.slice(0, fieldCharactersMax).toWellFormed()
  if (!details[field] && isFull(details)) return
  details[field] ??= []
  if (!details[field].includes(sentence)) details[field].push(sentence)
}

/** The facts of a failed rule, in our words. */
function sentenceOf({ keyword, params, message }: Problem): string {
  const { type, limit, allowedValues } = params as { type?: string; limit?: number; allowedValues?: unknown[] }
  switch (keyword) {
    case 'type':
      return `must be of type ${type}`
    case 'enum':
      return `must be one of ${allowedValues?.join(', ')}`
    case 'maxLength':
      return `must not be longer than ${limit} characters`
    case 'minLength':
      return 'must not be empty'
    case 'maximum':
      return `must not be more than ${limit}`
    case 'minimum':
      return `must not be less than ${limit}`
    case 'maxItems':
      return `must not have more than ${limit} entries`
    case 'minItems':
      return `must have at least ${limit} entries`
    case 'pattern':
      return 'has characters that are not allowed, or too many'
    case 'const':
    case 'anyOf':
      return 'is not one of the values allowed'
    default:
      return message
  }
}

/** Names all that cannot be stored as it was sent. */
function findUnreadable(value: unknown, path: string, details: Record<string, string[]>): void {
  if (typeof value !== 'object' || value === null) {
    if (!isReadable(value))
      add(details, path, typeof value === 'number' ? 'is too large a number' : 'must be readable text')
    return
  }
  for (const [name, member] of Object.entries(value)) {
    if (isFull(details)) return
    if (isBroken(name)) add(details, path || 'body', 'has a name that is not readable text')
    findUnreadable(member, path ? `${path}.${name}` : name, details)
  }
}
