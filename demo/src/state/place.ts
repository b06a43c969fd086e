import type { To } from '@parley/sdk'
import type { Message } from '@parley/sdk/api'

/** Where a message stands, for whoever reads it. */
export function placeOf({ sender, receiver, receiverType }: Message, me: string): To {
  if (receiverType === 'group') return { group: receiver }
  return { user: sender === me ? receiver : sender }
}

/** Ids are the same in capitals and in small letters. */
export function isSamePlace(one: To | undefined, other: To): boolean {
  if (!one) return false
  if ('user' in one) return 'user' in other && isSameId(one.user, other.user)
  return 'group' in other && isSameId(one.group, other.group)
}

const isSameId = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
