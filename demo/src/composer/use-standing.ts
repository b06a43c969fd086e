import type { Client, Conversation, ListState, Readable } from '@parley/sdk'
import type { User } from '@parley/sdk/api'
import { useEffect } from 'react'
import { useChat } from '../state/chat.tsx'
import { useGroup } from '../state/use-group.ts'
import { useStore } from '../state/use-store.ts'

/** Whether the user may write here, as far as the page can know; for the rest the server answers. */
export function useStanding(conversation: Conversation): 'in' | 'out' | 'blocked' {
  const { client } = useChat()
  const { to } = conversation
  const { membership } = useStore(conversation.messages)
  const isBlocked = useIsBlocked(client, 'user' in to ? to.user : undefined)
  const group = useGroup(to)
  if (isBlocked) return 'blocked'
  return group?.hasJoined === false || membership === 'out' ? 'out' : 'in'
}

const noList: ListState<User> = { items: [], hasMore: false, status: 'idle' }
const nobody: Readable<ListState<User>> = { get: () => noList, subscribe: () => () => {} }

/** Reads the list to its end, unless they are found before. For a group, nothing is fetched. */
function useIsBlocked({ blocked }: Client, uid: string | undefined): boolean {
  const { items, hasMore, status } = useStore(uid === undefined ? nobody : blocked)
  const isBlocked = items.some((user) => user.uid === uid)
  const reads = !isBlocked && hasMore && status === 'ready'
  useEffect(() => {
    if (reads) blocked.loadMore().catch(() => {})
  })
  return isBlocked
}
