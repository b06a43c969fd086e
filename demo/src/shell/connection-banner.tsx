import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'
import styles from './connection-banner.module.css'

const words = {
  offline: 'There is no connection. What you write is sent as soon as there is one.',
  connecting: 'Connecting …',
  catchingUp: 'Fetching what you have missed …',
}

// A moment without a connection is nobody's concern.
const patienceMs = 2_000

/** Says so when the connection is gone. */
export function ConnectionBanner() {
  const { client } = useChat()
  const { state, retryAt } = useStore(client.connection)
  const isLasting = useLasting(state !== 'connected')
  const isOver = state === 'offline' && retryAt === undefined
  return (
    <div className={styles.place} role="status">
      {isLasting && state !== 'connected' && (
        <p className={styles.banner}>
          {isOver ? 'You are not connected any more.' : words[state]}
          {isOver && (
            <Button size="compact-xs" variant="white" onClick={() => void client.login().catch(() => {})}>
              Connect
            </Button>
          )}
        </p>
      )}
    </div>
  )
}

/** Whether something has been so for a while. */
function useLasting(isSo: boolean): boolean {
  const [isLasting, setLasting] = useState(false)
  useEffect(() => {
    if (!isSo) return
    const timer = setTimeout(() => setLasting(true), patienceMs)
    return () => {
      clearTimeout(timer)
      setLasting(false)
    }
  }, [isSo])
  return isLasting
}
