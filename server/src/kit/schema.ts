import { type Static, type TSchema, Type } from 'typebox'

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

const tagsMax = 25
const tagCharactersMax = 100

/** The tags of a record, as they may be sent. */
export const Tags = Type.Array(FilledText(tagCharactersMax), {
  maxItems: tagsMax,
  description: 'Replaces all earlier ones; the same tag twice counts once',
})

/** An http or https address. */
export function WebAddress(max: number, description?: string) {
  return Type.Refine(
    Text(max, description),
    (text) => isWebAddress(text),
    () => 'must be an http or https address',
  )
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(text) && !/\s/.test(text) && URL.canParse(text)
}

const wordsMax = 100

/** In a query: several words, of which a record has one. */
export const Words = (description: string) =>
  Type.Optional(Type.Array(Type.String(), { description, maxItems: wordsMax }))

const searchKeyCharactersMax = 500

/** In a query: what to look for. */
export const SearchKey = (description: string) =>
  Type.Optional(Type.String({ description, maxLength: searchKeyCharactersMax }))

export const Seconds = (description: string) =>
  Type.Integer({ description: `${description}, in UNIX seconds`, examples: [1_767_258_000] })

export type { Static, TSchema }
export { Type }
