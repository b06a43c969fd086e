import type { To } from '@parley/sdk'
import { Composer } from '../composer/composer.tsx'
import { useChat } from '../state/chat.tsx'
import { MessageList } from './message-list.tsx'

/** One conversation: its head, its messages, and where to write. */
export function ConversationView({ to }: { to: To }) {
  const { client } = useChat()
  const conversation = client.conversation(to)
  return (
    <>
      <MessageList conversation={conversation} />
      <Composer conversation={conversation} />
    </>
  )
}
