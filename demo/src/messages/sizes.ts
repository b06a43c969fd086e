const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte']

/** A number of bytes for people; nothing, where it is not known. */
export function sizeOf(bytes: number): string {
  if (!(bytes > 0)) return ''
  const step = Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  const options = { style: 'unit', unit: units[step] ?? 'byte', unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(undefined, options).format(bytes / 1000 ** step)
}
