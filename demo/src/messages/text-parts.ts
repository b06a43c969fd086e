import { mark } from '../state/mentions.ts'

/** A text in parts: what is plain, what is code, what leads somewhere, and who is mentioned. */

export type TextPart =
  | { kind: 'plain' | 'code' | 'block'; text: string }
  | { kind: 'link'; text: string; href: string }
  | { kind: 'mention'; uid: string; name: string }

// In this order: nothing inside code is anything else.
const block = /```(?:\w*\n)?([\s\S]+?)```/
const code = /`([^`\n]+)`/
const address = /((?:https?:\/\/|www\.)[^\s<>"]+)/
const special = new RegExp([block, code, mark, address].map(({ source }) => source).join('|'), 'gi')

export function partsOf(text: string, mentions: ReadonlyMap<string, string>): TextPart[] {
  const parts: TextPart[] = []
  let at = 0
  for (const match of text.matchAll(special)) {
    const part = partOf(match, mentions)
    if (!part) continue
    if (match.index > at) parts.push({ kind: 'plain', text: text.slice(at, match.index) })
    parts.push(part)
    at = match.index + (part.kind === 'link' ? part.text.length : match[0].length)
  }
  if (at < text.length) parts.push({ kind: 'plain', text: text.slice(at) })
  return parts
}

function partOf([, lines, line, uid, found]: RegExpExecArray, mentions: ReadonlyMap<string, string>) {
  if (lines !== undefined) return { kind: 'block', text: lines.replace(/\n$/, '') } as const
  if (line !== undefined) return { kind: 'code', text: line } as const
  if (found !== undefined) return linkOf(found)
  const name = mentions.get(String(uid).toLowerCase())
  return name === undefined ? undefined : ({ kind: 'mention', uid: String(uid), name } as const)
}

/** What ends the sentence is not part of the address; a bracket is, if it was opened there. */
function linkOf(found: string) {
  let text = found
  for (;;) {
    const last = text.slice(-1)
    const isClosing = last === ')' && !text.includes('(')
    if (!isClosing && !/[.,;:!?'*_~]/.test(last)) break
    text = text.slice(0, -1)
  }
  const href = safeAddress(/^www\./i.test(text) ? `https://${text}` : text)
  return href === undefined ? undefined : ({ kind: 'link', text, href } as const)
}

/** An address that a page may lead to or show: of the web, or of a file of this window. */
export function safeAddress(address: string): string | undefined {
  try {
    const { protocol, href } = new URL(address)
    return ['https:', 'http:', 'blob:'].includes(protocol) ? href : undefined
  } catch {
    return undefined
  }
}

const emoji = /^(?:\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Emoji_Modifier}|\u200d|\ufe0f|\s)+$/u
const emojiMax = 24

/** A few emoji and nothing else are shown large. */
export function isEmojiOnly(text: string): boolean {
  const trimmed = text.trim()
  return trimmed.length > 0 && trimmed.length <= emojiMax && emoji.test(trimmed)
}
