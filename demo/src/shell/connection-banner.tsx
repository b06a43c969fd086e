import { useDebouncedValue } from '@mantine/hooks'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'
import styles from './connection-banner.module.css'

const words = {
  offline: 'You are offline. What you write is sent as soon as there is a connection.',
  connecting: 'Connecting …',
  catchingUp: 'Fetching what you have missed …',
}

/** Says so when the connection is gone; a moment without one is nobody's concern. */
export function ConnectionBanner() {
  const { client } = useChat()
  const { state } = useStore(client.connection)
  const [lasting] = useDebouncedValue(state, 2_000)
  const isShown = state !== 'connected' && lasting !== 'connected'
  return (
    <div className={styles.place} role="status">
      {isShown && <p className={styles.banner}>{words[state]}</p>}
    </div>
  )
}
