import { usageError } from './errors.ts'

/** `https://4be21f90.api-eu.example.org`, without a slash at its end. Over plain HTTP, keys stay on this machine. */
export function originOf(url: string): string {
  const origin = /^(?:https:\/\/[^/?#@\s]+|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?)(?=\/?$)/i.exec(
    url,
  )?.[0]
  if (origin === undefined) throw usageError(`"${url}" is no address of a server, such as https://chat.example.org`)
  return origin
}

export type Values = Record<string, unknown>

/** The path with values for the names in its braces, and the values that are left. */
export function filledPath(template: string, input: Values): { path: string; rest: Values } {
  const rest = { ...input }
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = input[name]
    if (typeof value !== 'number' && (typeof value !== 'string' || value === '')) {
      throw usageError(`${name} must be a text that is not empty`)
    }
    delete rest[name]
    return encodedPart(String(value))
  })
  return { path, rest }
}

/** A part of a path that cannot be taken for another: `..` would lead elsewhere. */
function encodedPart(part: string): string {
  if (part === '.' || part === '..') throw usageError(`"${part}" cannot be part of a path`)
  return encoded(part)
}

/** Lists are written entry by entry, so that an entry may hold a comma. */
export function queryText(values: Values): string {
  const pairs = Object.entries(values).flatMap(([name, value]): [string, unknown][] =>
    Array.isArray(value) ? value.map((entry, n) => [`${name}[${n}]`, entry]) : [[name, value]],
  )
  const sent = pairs.filter(([, value]) => value !== undefined && value !== null)
  return sent.map(([name, value]) => `${encoded(name)}=${encoded(String(value))}`).join('&')
}

function encoded(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    throw usageError('a text has half of a character, which no address can hold')
  }
}
