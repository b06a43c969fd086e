import type { Conversation } from '@parley/sdk'
import { useStore } from '../state/use-store.ts'

export function MessageList({ conversation }: { conversation: Conversation }) {
  const { items } = useStore(conversation.messages)
  return (
    <ol style={{ flex: 1, overflow: 'auto' }}>
      {items.map((item) => (
        <li key={item.key}>{item.state === 'sent' ? String(item.message.data.text) : item.state}</li>
      ))}
    </ol>
  )
}
