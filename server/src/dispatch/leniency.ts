import type { Operation } from '../kit/operation.ts'
import type { Shape } from './shape.ts'

/**
 * Clients write the same thing in several ways: an unset variable as `null` or as an empty text, an id as a number. Here
 * a body becomes its strict twin, the way of writing it that the schema describes, before anybody looks at it. Nothing is
 * refused here, and nothing is let through: the schema judges the twin.
 */
export type BodyReader = (sent: Record<string, unknown>) => Record<string, unknown>

const updating = ['PUT', 'PATCH']

export function bodyReader({ method, body }: Pick<Operation, 'method' | 'body'>): BodyReader {
  const isUpdate = updating.includes(method)
  return (sent) => objectOf(body as Shape, sent, isUpdate)
}

/** What the schema does not declare stays as it is; whether it is readable is still to be seen. */
function objectOf(shape: Shape, sent: Record<string, unknown>, isUpdate: boolean): Record<string, unknown> {
  const { properties = {}, required = [] } = shape
  const members = Object.entries(sent).flatMap(([name, value]): [string, unknown][] => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!property) return [[name, value]]
    if (value === null) return []
    if (value === '' && !required.includes(name) && !isSaid(property, isUpdate)) return []
    return [[name, readValue(property, value, isUpdate)]]
  })
  return Object.fromEntries(members)
}

/** Whether an empty text in an optional property says something, and does not only stand for one that was not sent. */
function isSaid({ 'x-empty': empty }: Shape, isUpdate: boolean): boolean {
  return empty === 'counts' || (empty === 'clears' && isUpdate)
}

function readValue(shape: Shape, value: unknown, isUpdate: boolean): unknown {
  if (Array.isArray(value)) return shape.items ? listOf(shape.items, value, isUpdate) : value
  if (typeof value === 'number') return shape['x-number'] && isCountable(value) ? String(value) : value
  if (typeof value !== 'object' || value === null) return value
  const described = [shape, ...(shape.anyOf ?? [])].find(({ properties }) => properties)
  return described ? objectOf(described, value as Record<string, unknown>, isUpdate) : value
}

function listOf(items: Shape, values: unknown[], isUpdate: boolean): unknown[] {
  return values.map((value) => readValue(items, value, isUpdate))
}

/** A number beyond these is not the one that was written. */
function isCountable(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}
