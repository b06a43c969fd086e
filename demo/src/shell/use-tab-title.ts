import { useEffect } from 'react'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'

/** How much is unread, to be seen on the tab. */
export function useTabTitle(): void {
  const { client } = useChat()
  const { unreadTotal } = useStore(client.conversations)

  useEffect(() => {
    document.title = unreadTotal > 0 ? `(${unreadTotal}) Parley` : 'Parley'
  }, [unreadTotal])

  useEffect(
    () => () => {
      document.title = 'Parley'
    },
    [],
  )
}
