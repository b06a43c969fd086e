import type { ConversationItem, To } from '@parley/sdk'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'

interface Overview {
  /** Whether the list is there, so that what is not in it is nowhere. */
  isKnown: boolean
  item?: ConversationItem
}

/** What the list of conversations knows of this one: its name, and what is unread. */
export function useOverview(to: To): Overview {
  const { client } = useChat()
  const { items, status } = useStore(client.conversations)
  const item = items.find((each) => isSame(each.to, to))
  const isKnown = items.length > 0 || status === 'ready' || status === 'failed'
  return { isKnown, ...(item && { item }) }
}

function isSame(one: To, other: To): boolean {
  if ('user' in one) return 'user' in other && one.user.toLowerCase() === other.user.toLowerCase()
  return 'group' in other && one.group.toLowerCase() === other.group.toLowerCase()
}
