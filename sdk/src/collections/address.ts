import type { Message } from '../generated/records.ts'

/** Whom a conversation is with. */
export type To = { readonly user: string } | { readonly group: string }

/** One for each conversation, whatever ids are called; UIDs and GUIDs are known in any letter case. */
export function keyOf(to: To): string {
  return 'user' in to ? `user:${to.user.toLowerCase()}` : `group:${to.group.toLowerCase()}`
}

/** Whom a key names. */
export function addressIn(key: string): To {
  const id = key.slice(key.indexOf(':') + 1)
  return key.startsWith('user:') ? { user: id } : { group: id }
}

export function receiverIn(to: To): { receiver: string; receiverType: 'user' | 'group' } {
  return 'user' in to ? { receiver: to.user, receiverType: 'user' } : { receiver: to.group, receiverType: 'group' }
}

type Addressed = Pick<Message, 'sender' | 'receiver' | 'receiverType'>

/** Where a message stands, for a user. */
export function placeOf({ sender, receiver, receiverType }: Addressed, me: string): To {
  if (receiverType === 'group') return { group: receiver }
  return { user: sender === me ? receiver : sender }
}

/** Ids grow with time, and are too long for numbers. */
export function isAfter(id: string, other: string): boolean {
  return id.length === other.length ? id > other : id.length > other.length
}
