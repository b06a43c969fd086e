import { type Static, type TSchema, Type } from 'typebox'

/**
 * What the reader of bodies must know of a property beyond its type. Marks stand in the schema, so that one reader decides
 * for all operations, and the OpenAPI document can tell.
 */
interface Marks {
  /** An id: a whole number is taken as its decimal text. */
  'x-number'?: true
  /** What an empty text does where the property is optional; unless said, it counts as not sent. */
  'x-empty'?: 'clears' | 'counts'
}

function marked<Schema extends TSchema>(schema: Schema, marks: Marks): Schema {
  const own = Object.getOwnPropertyDescriptors(schema)
  return Object.defineProperties({}, { ...own, ...Object.getOwnPropertyDescriptors(marks) }) as Schema
}

/** An id. Whoever counts in whole numbers may send one as such; it is stored and answered as text. */
export const Id = <Schema extends TSchema>(schema: Schema) => marked(schema, { 'x-number': true })

/** A text that can be taken away again: an update with an empty one clears it. */
export const Clearable = <Schema extends TSchema>(schema: Schema) => marked(schema, { 'x-empty': 'clears' })

/** What is looked at even when it is empty, and then refused. */
export const NeverEmpty = <Schema extends TSchema>(schema: Schema) => marked(schema, { 'x-empty': 'counts' })

/** Text of at most `max` UTF-16 code units; an emoji counts two, as in JavaScript. */
export function Text(max: number, description?: string) {
  return Type.Refine(
    Type.String({ maxLength: max, ...(description && { description }) }),
    (text) => text.length <= max,
    () => `must not be longer than ${max} characters`,
  )
}

/** The same, and not blank. */
export function FilledText(max: number, description?: string) {
  return Type.Refine(
    Text(max, description),
    (text) => text.trim() !== '',
    () => 'must not be empty',
  )
}

/** One of a few words. In a query, a word that is none of them is allowed and matches nothing. */
export function OneOf<const Words extends readonly string[]>(words: Words, description?: string) {
  return Type.Unsafe<Words[number]>({ type: 'string', enum: [...words], ...(description && { description }) })
}

export const Seconds = (description: string) =>
  Type.Integer({ description: `${description}, in UNIX seconds`, examples: [1_767_258_000] })

export type { Static, TSchema }
export { Type }
