import { fieldSeparator, folded } from './search-text.ts'

/**
 * What the index behind a search is asked.
 *
 * The grams of a text begin at each of its characters and are three long, or shorter at the end. A key of one or two
 * characters is the beginning of a gram; one of three is a gram; a longer one must hold all of its grams, side by side.
 *
 * The index is asked for the longest words, and for few grams of each; all that it was not asked is looked up in the text
 * of what it finds. A word of one or two characters begins very many grams: the index is asked for one, and only where
 * there is no longer word.
 */
const gramCharactersMax = 3
const wordsAskedMax = 4
const gramsAskedMax = 16

/** What an entry's field must hold: these grams in this order, or one that begins with the only one. */
export interface WantedGrams {
  field: number
  grams: string[]
  asBeginning: boolean
}

/** What an entry must hold: all that one of the alternatives wants, and all marks. */
export interface WantedEntry {
  alternatives: WantedGrams[][]
  marks: readonly string[]
}

/** A question to a list: all words in one of some fields, among the entries with all marks. */
export interface Search {
  list: string
  words: readonly string[]
  /** By their order in the entries; absent where these have one text. */
  fields?: readonly number[]
  marks?: readonly string[]
}

/** What the index is asked; the text of what it finds settles the rest. */
export function wantedBy(search: Search): WantedEntry {
  const { fields = [0], marks = [] } = search
  const wanted = wordsAsked(wordsOf(search)).map(gramsOfWord)
  return { alternatives: fields.map((field) => wanted.map((grams) => ({ field, ...grams }))), marks }
}

/** A word by its characters. */
type Word = string[]

/** The words of a search, as they are compared. */
export function wordsOf({ words }: Search): Word[] {
  return [...new Set(words.map(folded))].map((word) => [...word])
}

const isShort = ({ length }: Word) => length < gramCharactersMax

/** Whether the index can only be asked for a word that begins very many grams. */
export function hasShortWordsOnly(search: Search): boolean {
  return wordsOf(search).every(isShort)
}

function wordsAsked(words: Word[]): Word[] {
  const longestFirst = words.toSorted((a, b) => b.length - a.length)
  const long = longestFirst.filter((word) => !isShort(word))
  return long.length > 0 ? long.slice(0, wordsAskedMax) : longestFirst.slice(0, 1)
}

/** Whether every record with the grams that are asked for has the words; `inOrder`, where the index knows their order. */
export function gramsSettle(search: Search, inOrder: boolean): boolean {
  const words = wordsOf(search)
  const settledCharacters = inOrder ? gramsAskedMax + gramCharactersMax - 1 : gramCharactersMax
  return wordsAsked(words).length === words.length && words.every(({ length }) => length <= settledCharacters)
}

function gramsOfWord(word: Word): Omit<WantedGrams, 'field'> {
  const width = Math.min(gramCharactersMax, word.length)
  const grams = word.slice(width - 1, width - 1 + gramsAskedMax).map((_, at) => word.slice(at, at + width).join(''))
  return { grams, asBeginning: isShort(word) }
}

/** The grams of an entry's text in their order, field by field, with each character written as told. */
export function gramsOf(text: string, written: (character: string) => string): string[][] {
  return text.split(fieldSeparator).map((line) => {
    const characters = Array.from(line, written)
    return characters.map((each, at) => each + (characters[at + 1] ?? '') + (characters[at + 2] ?? ''))
  })
}
