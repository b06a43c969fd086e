/** A JSON Schema, as far as the declarations use it. */
export interface Shape {
  type?: string
  title?: string
  description?: string
  examples?: unknown[]
  properties?: Record<string, Shape>
  required?: string[]
  patternProperties?: Record<string, Shape>
  items?: Shape
  anyOf?: Shape[]
  enum?: unknown[]
  const?: unknown
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  'x-number'?: true
  'x-empty'?: 'clears' | 'counts'
  'x-also'?: string[]
}

/** What every member of a map looks like, if the shape is a map. */
export function memberOf({ patternProperties }: Shape): Shape | undefined {
  return Object.values(patternProperties ?? {})[0]
}
