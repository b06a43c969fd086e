import type { To } from '@parley/sdk'
import type { Message } from '@parley/sdk/api'

/** Where a message stands, for whoever reads it. */
export function placeOf({ sender, receiver, receiverType }: Message, me: string): To {
  if (receiverType === 'group') return { group: receiver }
  return { user: sender === me ? receiver : sender }
}

export function isSamePlace(one: To | undefined, other: To): boolean {
  if (!one) return false
  if ('user' in one) return 'user' in other && one.user === other.user
  return 'group' in other && one.group === other.group
}
