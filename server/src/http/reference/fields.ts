import { memberOf, type Shape } from '../../dispatch/shape.ts'

/** One line of a field table. */
export interface ReferenceField {
  /** Where it is: `participants[].uid`; `*` stands for any name. */
  path: string
  depth: number
  type: string
  required: boolean
  description: string
  values: string[]
  limits: string[]
}

/** Every field of a shape, nested ones included, in the order they are declared. */
export function fieldsOf(shape: Shape): ReferenceField[] {
  return inside(shape, '', 0)
}

function inside(shape: Shape, prefix: string, depth: number): ReferenceField[] {
  const variants = shape.anyOf?.filter((each) => each.properties)
  if (variants && variants.length > 1) return insideVariants(variants, prefix, depth)
  const { required = [] } = shape
  return Object.entries(shape.properties ?? {}).flatMap(([name, each]) =>
    fieldAndInside(each, `${prefix}${name}`, required.includes(name), depth),
  )
}

function fieldAndInside(shape: Shape, path: string, required: boolean, depth: number): ReferenceField[] {
  const field: ReferenceField = {
    path,
    depth,
    type: typeOf(shape),
    required,
    description: shape.description ?? '',
    values: valuesOf(shape),
    limits: limitsOf(shape),
  }
  return [field, ...below(shape, path, depth + 1)]
}

function below(shape: Shape, path: string, depth: number): ReferenceField[] {
  if (shape.items) return below(shape.items, `${path}[]`, depth)
  const member = memberOf(shape)
  if (member) return below(member, `${path}.*`, depth)
  return inside(shape, `${path}.`, depth)
}

/** The fields of shapes that differ by a constant, merged; a field that only some have says which. */
function insideVariants(variants: Shape[], prefix: string, depth: number): ReferenceField[] {
  const telling = Object.entries(variants[0]?.properties ?? {}).find(([, each]) => each.const !== undefined)?.[0] ?? ''
  const kindOf = (variant: Shape) => String(variant.properties?.[telling]?.const)
  const kind: ReferenceField = {
    path: `${prefix}${telling}`,
    depth,
    type: 'string',
    required: true,
    description: '',
    values: variants.map(kindOf),
    limits: [],
  }
  const names = new Set(variants.flatMap((variant) => Object.keys(variant.properties ?? {})))
  names.delete(telling)
  return [
    kind,
    ...[...names].flatMap((name) => {
      const having = variants.filter((variant) => variant.properties?.[name])
      const required = having.length === variants.length && having.every((each) => each.required?.includes(name))
      const [first, ...rest] = fieldAndInside(having[0]?.properties?.[name] ?? {}, `${prefix}${name}`, required, depth)
      if (!first) return []
      const only = having.length === variants.length ? [] : [`with ${having.map(kindOf).join(', ')}`]
      return [{ ...first, limits: [...first.limits, ...only] }, ...rest]
    }),
  ]
}

export function typeOf(shape: Shape): string {
  if (shape.items) return `${typeOf(shape.items)}[]`
  if (shape['x-number']) return 'string or integer'
  if (memberOf(shape)) return 'map'
  if (shape.anyOf) return [...new Set(shape.anyOf.map(typeOf))].join(' or ')
  return shape.type ?? 'any'
}

function valuesOf(shape: Shape): string[] {
  if (shape.const !== undefined) return [JSON.stringify(shape.const)]
  if (shape.enum) return shape.enum.map(String)
  if (shape.items) return valuesOf(shape.items)
  return shape.anyOf?.every((each) => each.const !== undefined) ? shape.anyOf.flatMap(valuesOf) : []
}

function limitsOf(shape: Shape): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = shape
  return [
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
    ...(minLength === undefined ? [] : [`at least ${minLength} characters`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(minItems === undefined ? [] : [`at least ${minItems} entries`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems} entries`]),
  ]
}
