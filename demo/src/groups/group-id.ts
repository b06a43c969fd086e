/** The id of a new group, made from its name. */

const longest = 80

/** What of a name can stand in an id; nothing, where no letter of it can. */
export function idFrom(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return plain
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, longest)
    .replace(/^-|-$/g, '')
}

/** For when another group has that id, or there is none. */
export function freshId(name: string): string {
  const tail = crypto.randomUUID().slice(0, 8)
  return `${idFrom(name) || 'group'}-${tail}`
}
