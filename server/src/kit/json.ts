/**
 * JSON that comes from outside. How deeply it is nested and how many values it has is found out before anything is made of
 * it: whoever walks it later, each in its own way, must not run out of stack or time.
 */

const depthMax = 64
const valuesMax = 16_384

/** What a text says, or why it is not taken. */
export type Reading = { value: unknown } | { problem: string; isJson: boolean }

export function readJson(text: string): Reading {
  const problem = excessIn(text)
  if (problem !== undefined) return { problem, isJson: true }
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { problem: 'must be valid JSON', isJson: false }
  }
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const opening = new Set([0x5b, 0x7b])
const closing = new Set([0x5d, 0x7d])

/** What is too much about a text, if it is JSON. */
function excessIn(text: string): string | undefined {
  // So short a text holds neither.
  if (text.length <= depthMax) return undefined
  let depth = 0
  let values = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === quote) at = endOfString(text, at)
    else if (character === comma) values += 1
    else if (opening.has(character)) {
      depth += 1
      values += 1
      if (depth > depthMax) return 'is nested too deeply'
    } else if (closing.has(character)) depth -= 1
  }
  return values > valuesMax ? `must not have more than ${valuesMax} values` : undefined
}

/** Where a string ends that begins here. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes += 1
    if (escapes % 2 === 0) return end
  }
  return text.length
}
