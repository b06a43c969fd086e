import type { Conversation, To } from '@parley/sdk'
import { useCallback } from 'react'
import { Composer } from '../composer/composer.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { useAddress } from '../state/address.ts'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'
import { ConversationHead } from './conversation-head.tsx'
import { MessageList } from './message-list.tsx'
import { Notice } from './notice.tsx'
import { PinnedBar } from './pinned-bar.tsx'
import { TalkProvider } from './talk.tsx'
import { TypingLine } from './typing-line.tsx'
import { useFirstUnread } from './use-first-unread.ts'
import { useOverview } from './use-overview.ts'
import type { Wanted } from './use-shown.ts'
import { useWanted } from './use-wanted.ts'

/** One conversation: its head, its messages, and where to write. */
export function ConversationView({ to }: { to: To }) {
  const { client } = useChat()
  const conversation = client.conversation(to)
  const { panel, message } = useAddress()
  // Beside a thread, the address means one of its replies.
  const [wanted, show] = useWanted(panel?.kind === 'thread' ? undefined : message)
  return (
    <TalkProvider conversation={conversation} show={show}>
      <ConversationHead />
      <PinnedBar />
      <Said conversation={conversation} wanted={wanted} />
      <TypingLine conversation={conversation} />
      <Notice />
      <Composer conversation={conversation} />
    </TalkProvider>
  )
}

function Said({ conversation, wanted }: { conversation: Conversation; wanted: Wanted | undefined }) {
  const { messages, to } = conversation
  const { items, status, membership, error } = useStore(messages)
  const { item } = useOverview(to)
  const beginning = useFirstUnread(conversation)
  const retry = useCallback(() => void messages.jumpToEnd().catch(() => {}), [messages])

  if (membership === 'out') return <Empty what={error?.message ?? 'You are not in this group any more.'} />
  if (items.length === 0 && status === 'failed')
    return <Failed what="The messages could not be fetched." retry={retry} />
  if (!beginning) return <Loading what="messages" />
  if (items.length === 0) return <Empty what="Nothing has been said yet. Write the first message below." />
  return (
    <MessageList
      {...{ conversation, messages, wanted }}
      firstUnread={beginning.id}
      hasUnread={(item?.unread ?? 0) > 0}
    />
  )
}
