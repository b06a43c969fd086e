/** `<@uid:nora>` in a text names a user. */
const mention = /<@uid:([A-Za-z0-9_-]{1,100})>/g

/** The UIDs that a text names, each once, in lower case. */
export function mentionedIn(text: string): string[] {
  if (!text.includes('<@uid:')) return []
  return [...new Set([...text.matchAll(mention)].map(([, uid = '']) => uid.toLowerCase()))]
}

const link = /\b(?:https?:\/\/|www\.)\S/i

export function hasLink(text: string): boolean {
  return link.test(text)
}
