/** How search compares texts: in any script and letter case, as people read them. */

export const fieldSeparator = '\n'
export const markSeparator = '\n'

/** Text as search compares it: one form of each letter, one letter case, single spaces. */
export function folded(text: string): string {
  if (isPlain(text)) return text.toLowerCase().replaceAll(/\s+/g, ' ')
  return text
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replaceAll('ς', 'σ')
    .replaceAll(/\s+/g, ' ')
}

/** The different words of a text, as search compares them. */
export function wordsIn(text: string): string[] {
  return [...new Set(folded(text).split(' '))].filter((word) => word !== '')
}

/** Most texts have no letter outside ASCII, where folding is nothing but lower case. */
function isPlain(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
  return /^[\x00-\x7f]*$/.test(text)
}

/** Letters without their accents; for lists in which nobody cares about them. Vowel signs of other scripts stay. */
export function withoutAccents(text: string): string {
  if (isPlain(text)) return text
  return text.normalize('NFKD').replaceAll(accents, '$1').normalize('NFKC')
}

const accents = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}])\p{Mn}+/gu

/** A record's texts as its entry keeps them, a line each; their order names the fields. */
export function entryText(texts: string[]): string {
  return texts.map(folded).join(fieldSeparator)
}
