/** What the SDK calls areas and their operations. */

/** `api-keys` is `apiKeys`. */
export function groupName(area: string): string {
  return area.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** In the group of its area an operation need not repeat what it is about: `listUsers` is `users.list`. */
export function methodName(area: string, id: string): string {
  const plural = groupName(area).replace(/^\w/, (letter) => letter.toUpperCase())
  const noun = plural.replace(/s$/, '')
  return id.replace(new RegExp(`^([a-z]+)${noun}s?(?=[A-Z]|$)`), '$1')
}
