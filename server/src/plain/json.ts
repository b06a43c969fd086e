/**
 * JSON that comes from outside. How deeply it is nested and how many values it has is found out before anything is made of
 * it: whoever walks it later, each in its own way, must not run out of stack or time.
 */

export const depthMax = 64
export const valuesMax = 16_384
export const tooDeep = 'is nested too deeply'
export const tooMany = `must not have more than ${valuesMax} values`

/** What a text says, or why it is not taken. */
export type Reading = { value: unknown } | { problem: string; isJson: boolean }

export function readJson(text: string): Reading {
  // So short a text is neither deep nor long.
  return text.length <= depthMax ? parsed(text) : jsonReader()(text)
}

/** Reads texts that belong together, such as the fields of a form: they may not hold more than one text could. */
export function jsonReader(valuesBefore = 0): (text: string) => Reading {
  let values = valuesBefore
  return (text) => {
    const extent = extentOf(text)
    values += extent.values
    if (extent.depth > depthMax) return { problem: tooDeep, isJson: true }
    if (values > valuesMax) return { problem: tooMany, isJson: true }
    return parsed(text)
  }
}

function parsed(text: string): Reading {
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

/** How deep a text is, and how many values it has, if it is JSON; what is too deep is not looked at to its end. */
function extentOf(text: string): { depth: number; values: number } {
  let depth = 0
  let values = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === quote) at = endOfString(text, at)
    else if (character === comma) values += 1
    else if (opening.has(character)) {
      depth += 1
      values += 1
      if (depth > depthMax) break
    } else if (closing.has(character)) depth -= 1
  }
  return { depth, values }
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
