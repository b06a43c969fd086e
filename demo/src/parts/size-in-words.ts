const units = ['bytes', 'KB', 'MB', 'GB'] as const

/** As people read it: "2.4 MB". */
export function sizeInWords(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1)
  const amount = bytes / 1_000 ** power
  const digits = amount < 10 && power > 0 ? 1 : 0
  return `${amount.toLocaleString(undefined, { maximumFractionDigits: digits })} ${units[power]}`
}
