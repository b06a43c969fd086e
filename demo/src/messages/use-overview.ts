import type { ConversationItem, To } from '@parley/sdk'
import { useChat } from '../state/chat.tsx'
import { isSamePlace } from '../state/place.ts'
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
  const item = items.find((each) => isSamePlace(each.to, to))
  const isKnown = items.length > 0 || status === 'ready' || status === 'failed'
  return { isKnown, ...(item && { item }) }
}
