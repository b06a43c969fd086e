import { memberOf, type Shape } from '../../dispatch/shape.ts'

/** A value of a shape: its own example where it declares one, else put together from its parts. */
export function sampleOf(shape: Shape, name = ''): unknown {
  if (shape.examples?.length) return shape.examples[0]
  if (shape.const !== undefined) return shape.const
  if (shape.enum?.length) return shape.enum[0]
  if (shape.anyOf?.[0]) return sampleOf(shape.anyOf[0], name)
  switch (shape.type) {
    case 'object':
      return sampleObject(shape)
    case 'array':
      return shape.items ? [sampleOf(shape.items, name)] : []
    case 'integer':
    case 'number':
      return shape.minimum ?? 0
    case 'boolean':
      return false
    case 'string':
      return name || 'text'
    default:
      return {}
  }
}

function sampleObject(shape: Shape): Record<string, unknown> {
  const member = memberOf(shape)
  if (member) {
    const value = sampleOf(member)
    return isEmpty(value) ? {} : { [keyFor(value)]: value }
  }
  return Object.fromEntries(Object.entries(shape.properties ?? {}).map(([name, each]) => [name, sampleOf(each, name)]))
}

/** The part of a body that must be sent, or, where nothing must, the first field that may be. */
export function leastSampleOf(shape: Shape): Record<string, unknown> {
  if (shape.examples?.length) return shape.examples[0] as Record<string, unknown>
  const { properties = {}, required = [] } = shape
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1)
  return Object.fromEntries(names.map((name) => [name, leastOf(properties[name] ?? {}, name)]))
}

function leastOf(shape: Shape, name: string): unknown {
  if (shape.examples?.length) return shape.examples[0]
  if (shape.properties) return leastSampleOf(shape)
  if (shape.type === 'array' && shape.items) return [leastOf(shape.items, name)]
  return sampleOf(shape, name)
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/** A map's entries go by a text inside them, here: the first. */
function keyFor(value: unknown): string {
  const texts = typeof value === 'object' && value !== null ? Object.values(value) : []
  return texts.find((text) => typeof text === 'string') ?? 'name'
}
