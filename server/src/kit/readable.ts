/** Text that no database stores as it is: NUL characters, and halves of surrogate pairs. */
export function isBroken(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed()
}

/** Deeper data is refused: walking it must not exhaust the stack. */
export const depthMax = 64

/** Whether every text in a value can be stored, names included. */
export function isReadable(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return !isBroken(value)
  if (typeof value !== 'object' || value === null) return true
  if (depth > depthMax) return false
  return Object.entries(value).every(([name, member]) => !isBroken(name) && isReadable(member, depth + 1))
}
