import { usersJoint } from '../users/index.ts'

/** Where something is said: between two users, or in a group. */
export type Place =
  | { type: 'user'; conversationKey: ConversationKey; first: string; second: string }
  | { type: 'group'; conversationKey: ConversationKey; first: string; second: '' }

declare const isKey: unique symbol

/**
 * What a conversation is stored, found and queued under: `user/ada/lin`, `group/crew`. No id has a slash, so no two
 * conversations have one key. That is not so for the id on the wire, where `group_a_user_b` can be a group's or that of
 * two users; neither can stand for the other, and so the key is text to the databases, and no text to the compiler.
 */
export interface ConversationKey {
  readonly [isKey]: true
}

const separator = '/'

function keyOf(...parts: [type: 'user', first: string, second: string] | [type: 'group', guid: string]) {
  return parts.join(separator) as unknown as ConversationKey
}

export function placeOfUsers(uid: string, other: string): Place {
  const [first = '', second = ''] = [uid, other].toSorted()
  return { type: 'user', conversationKey: keyOf('user', first, second), first, second }
}

export function placeOfGroup(guid: string): Place {
  return { type: 'group', conversationKey: keyOf('group', guid), first: guid, second: '' }
}

/** The place that a key is the key of. */
export function placeOfKey(conversationKey: ConversationKey): Place {
  const [type, first = '', second = ''] = `${conversationKey}`.split(separator)
  return type === 'group'
    ? { type, conversationKey, first, second: '' }
    : { type: 'user', conversationKey, first, second }
}

const groupPrefix = 'group_'

/** The id by which a conversation is known on the wire. Others may have the same one; see `placesNamed`. */
export function conversationIdOf(conversationKey: ConversationKey): string {
  const { type, first, second } = placeOfKey(conversationKey)
  return type === 'group' ? `${groupPrefix}${first}` : `${first}${usersJoint}${second}`
}

const idShape = /^[a-z0-9_-]{1,100}$/
const conversationIdMax = 100 + usersJoint.length + 100

/**
 * Every conversation that an id on the wire can mean. As ids of users and groups may hold the words that join them, a
 * text can be cut at several places: at forty or so, as it is not longer than two ids.
 */
export function placesNamed(conversationId: string): Place[] {
  const text = conversationId.toLowerCase()
  if (text.length > conversationIdMax) return []
  const places: Place[] = []
  const guid = text.startsWith(groupPrefix) ? text.slice(groupPrefix.length) : ''
  if (idShape.test(guid)) places.push(placeOfGroup(guid))
  for (let at = text.indexOf(usersJoint); at >= 0; at = text.indexOf(usersJoint, at + 1)) {
    const [first, second] = [text.slice(0, at), text.slice(at + usersJoint.length)]
    // In the other order the two have another id.
    if (first <= second && idShape.test(first) && idShape.test(second)) places.push(placeOfUsers(first, second))
  }
  return places
}

/** The other side of a one-to-one conversation; of notes to oneself, oneself. */
export function otherSide({ first, second }: { first: string; second: string }, uid: string): string {
  return uid === first ? second : first
}
