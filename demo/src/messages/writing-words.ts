/** "Nora and Kenji are writing"; more than three are several people. */
export function writingWords(writers: readonly { name: string }[]): string {
  if (writers.length > 3) return 'Several people are writing'
  const names = new Intl.ListFormat('en').format(writers.map(({ name }) => `\u2068${name}\u2069`))
  return `${names} ${writers.length === 1 ? 'is' : 'are'} writing`
}
