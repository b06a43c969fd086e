/** Text that no database stores as it is: NUL characters, and halves of surrogate pairs. */
export function isBroken(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed()
}

/** Whether all that JSON has told can be stored and told again: texts and names that are whole, numbers that exist. */
export function isReadable(value: unknown): boolean {
  if (typeof value === 'string') return !isBroken(value)
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isReadable)
  for (const name in value) {
    if (isBroken(name) || !isReadable((value as Record<string, unknown>)[name])) return false
  }
  return true
}
