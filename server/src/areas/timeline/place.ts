import { conversationId } from '../users/index.ts'

/** Where something is said: between two users, or in a group. */
export type Place =
  | { type: 'user'; conversationId: string; first: string; second: string }
  | { type: 'group'; conversationId: string; first: string; second: '' }

export function placeOfUsers(uid: string, other: string): Place {
  const [first = '', second = ''] = [uid, other].toSorted()
  return { type: 'user', conversationId: conversationId(uid, other), first, second }
}

const groupPrefix = 'group_'

export function placeOfGroup(guid: string): Place {
  return { type: 'group', conversationId: `${groupPrefix}${guid}`, first: guid, second: '' }
}

/** The other side of a one-to-one conversation; of notes to oneself, oneself. */
export function otherSide({ first, second }: { first: string; second: string }, uid: string): string {
  return uid === first ? second : first
}
