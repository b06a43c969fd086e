import { Empty, Failed, Loading } from '../parts/states.tsx'
import { goTo } from '../state/address.ts'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'

export function ConversationList() {
  const { client } = useChat()
  const { items, status } = useStore(client.conversations)
  if (items.length === 0 && status === 'failed') return <Failed what="Your conversations could not be fetched." />
  if (items.length === 0 && status !== 'ready') return <Loading what="conversations" />
  if (items.length === 0) return <Empty what="Nobody has written to you yet." />
  return (
    <ul>
      {items.map(({ key, to, unread }) => (
        <li key={key}>
          <button type="button" onClick={() => goTo({ to })}>
            {key} {unread}
          </button>
        </li>
      ))}
    </ul>
  )
}
