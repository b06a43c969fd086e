import type { Conversation, ConversationItem, Item } from '@parley/sdk'
import { useEffect, useRef, useState } from 'react'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'
import { isAfter } from './content.ts'
import { firstAfter } from './rows.ts'
import { useOverview } from './use-overview.ts'

/** Where reading begins. Nothing is said of it before it is known; then it stays, while what is there is read. */
interface Beginning {
  id?: string
}

export function useFirstUnread({ to, messages }: Conversation): Beginning | undefined {
  const { me } = useChat()
  const { items, status, hasOlder } = useStore(messages)
  const { isKnown, item } = useOverview(to)
  const [beginning, setBeginning] = useState<Beginning>()
  const jumpedFrom = useRef<readonly Item[]>(undefined)

  useEffect(() => {
    if (beginning || !isKnown || status === 'idle' || status === 'loading') return
    const read = item?.conversation.lastReadMessageId
    if (!item || item.unread === 0) return setBeginning({})
    // Until something else is there, the jump is under way.
    if (jumpedFrom.current === items) return
    if (read !== undefined && hasOlder && !jumpedFrom.current && beginsAfter(items, read)) {
      jumpedFrom.current = items
      messages.jumpTo(read).catch(() => setBeginning({}))
      return
    }
    const id = firstUnread(items, item, me.uid)
    setBeginning(id === undefined ? {} : { id })
  }, [beginning, isKnown, item, items, status, hasOlder, messages, me])

  return beginning
}

/** Whether something unread may stand before all that is there. */
function beginsAfter(items: readonly Item[], read: string): boolean {
  const [first] = items
  return first?.state === 'sent' && isAfter(first.message.id, read)
}

/** Who has read nothing yet begins with as many as the server counts. */
function firstUnread(items: readonly Item[], { unread, conversation }: ConversationItem, me: string) {
  const read = conversation.lastReadMessageId
  if (read !== undefined) return firstAfter(items, read, me)
  const ofOthers = items.filter((item) => item.state === 'sent' && item.message.sender !== me)
  return firstAfter(ofOthers.slice(-unread), undefined, me)
}
