/** The largest values that fields and filters take, and the ones that cost most to look for. */

/** One or two letters each begin very many grams of the search index; more different words are refused. */
export const shortWords = 'a i o u e n t r s l d m in on at it'

const searchCharactersMax = 500

/** One letter that is eighteen when it is folded, in four words. */
export const foldingWords = 'ﷺ'.repeat(searchCharactersMax)

/** A word as long as a search takes, all of whose grams are common. */
export const longWord = 'ana'.repeat(searchCharactersMax).slice(0, searchCharactersMax)

const wordsMax = 100
/** As many as a filter takes, of which the last ones are given. */
export function words(...last: string[]): string {
  return [...Array.from({ length: wordsMax - last.length }, (_, n) => `nothing-${n}`), ...last].join()
}

const tagsMax = 25
const tagCharactersMax = 100
export function tags(n: number): string[] {
  return Array.from({ length: tagsMax }, (_, k) => `${n}-${k}-`.padEnd(tagCharactersMax, 'tag'))
}

/** Shorter ones, where the body has to hold something else. */
export const shortTags = (n: number) => Array.from({ length: tagsMax }, (_, k) => `tag-${k}-${n}`)

const metadataBytes = 5_000
/** Free data of many small values. */
export function metadata(n: number): Record<string, number> {
  const entries = Array.from({ length: 380 }, (_, k) => [`${k}`.padStart(4, 'm'), (n + k) % 10_000] as const)
  const made = Object.fromEntries(entries)
  if (JSON.stringify(made).length > metadataBytes) throw new Error('This is more than metadata may have.')
  return made
}

export const webAddress = `https://example.org/${'a'.repeat(1_000)}`

const textBytesMax = 9_800
/** A text of different words that names as many users as a message may. */
export function longText(n: number, mentioned: string[], bytesMax = textBytesMax): string {
  const named = mentioned.map((uid) => `<@uid:${uid}>`).join(' ')
  let text = named
  for (let k = 0; text.length < bytesMax - 10; k += 1) text += ` ${(n * 7_919 + k * 104_729).toString(36)}`
  return text
}
