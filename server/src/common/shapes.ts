import { Clearable, FilledText, Text, Type } from '../kit/schema.ts'

/** What records and queries of several areas have. */

const tagsMax = 25
const tagCharactersMax = 100

/** The tags of a record, as they may be sent. */
export const Tags = Type.Array(FilledText(tagCharactersMax), {
  maxItems: tagsMax,
  description: 'Replaces all earlier ones; the same tag twice counts once',
})

/** An http or https address that an empty text clears. */
export function WebAddress(max: number, description?: string) {
  return Type.Refine(
    Clearable(Text(max, description)),
    (text) => text === '' || isWebAddress(text),
    () => 'must be an http or https address',
  )
}

export function isWebAddress(text: string): boolean {
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
