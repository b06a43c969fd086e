import { veiledUser } from './store.ts'

/** Users inside of what is answered or told, such as a message or a frame: who they are, and the same without some of them. */

export interface UserWithin {
  uid: string
  name: string
  role?: string
}

export function usersWithin(value: object): UserWithin[] {
  const found: UserWithin[] = []
  walk(value, (user) => {
    found.push(user)
    return user
  })
  return found
}

/** The same, with nothing but the UID of some. */
export function withUsersVeiled<Value extends object>(value: Value, isHidden: (uid: string) => boolean): Value {
  return walk(value, (user) => (isHidden(user.uid) ? veiled(user) : user)) as Value
}

const aboutThem = new Set([
  'avatar',
  'link',
  'statusMessage',
  'metadata',
  'tags',
  'lastActiveAt',
  'updatedAt',
  'deactivatedAt',
])

/** What is told of where they are, such as their scope in a group, stays. */
function veiled(user: UserWithin): object {
  const rest = Object.entries(user).filter(([name]) => !aboutThem.has(name))
  return { ...Object.fromEntries(rest), ...veiledUser(user.uid) }
}

// What somebody has written into these is theirs, whatever it looks like.
const ownWords = new Set(['metadata', 'tags'])

/** The same, with something else in place of each user. */
function walk(value: unknown, change: (user: UserWithin) => object): unknown {
  if (Array.isArray(value)) return value.map((each) => walk(each, change))
  if (!isObject(value)) return value
  if (isUser(value)) return change(value)
  return changed(value, (part, name) => {
    if (name === 'data') return holdsEntities(value) ? walkData(value.data, change) : part
    return ownWords.has(name) ? part : walk(part, change)
  })
}

/** Of what a message holds, two parts are the server's. Mentions go by UID, and anything may be one, such as `metadata`. */
function walkData(data: object, change: (user: UserWithin) => object): object {
  return changed(data, (part, name) => {
    if (name === 'entities') return walk(part, change)
    return name === 'mentions' && isObject(part) ? changed(part, (user) => walk(user, change)) : part
  })
}

function changed(value: object, change: (part: unknown, name: string) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, change(part, name)]))
}

/** A message, or the call that one tells of. */
function holdsEntities(value: object): value is { data: object } {
  return ('category' in value || 'sessionid' in value) && 'data' in value && isObject(value.data)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isUser(value: object): value is UserWithin {
  return 'uid' in value && typeof value.uid === 'string' && 'name' in value && typeof value.name === 'string'
}
