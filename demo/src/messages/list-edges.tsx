import { Button, Loader } from '@mantine/core'
import type { Messages, PendingMessage } from '@parley/sdk'
import { useStore } from '../state/use-store.ts'
import styles from './message-list.module.css'

/** What stands where the messages begin, and where there are later ones: that they are fetched, or could not be. */

export function EarlierMessages({ messages, isThread }: { messages: Messages<PendingMessage>; isThread: boolean }) {
  const { hasOlder, status } = useStore(messages)
  if (!hasOlder) return isThread ? null : <p className={styles.edge}>This is where it began.</p>
  return <Edge isFailed={status === 'failed'} retry={() => messages.loadOlder()} />
}

export function LaterMessages({ messages }: { messages: Messages<PendingMessage> }) {
  const { atEnd, status } = useStore(messages)
  return atEnd ? null : <Edge isFailed={status === 'failed'} retry={() => messages.loadNewer()} />
}

function Edge({ isFailed, retry }: { isFailed: boolean; retry(): Promise<void> }) {
  if (!isFailed) {
    return (
      <div className={styles.edge}>
        <Loader role="status" size="xs" aria-label="Loading messages" />
      </div>
    )
  }
  return (
    <div className={styles.edge}>
      These messages could not be fetched.
      <Button size="compact-xs" variant="default" onClick={() => void retry().catch(() => {})}>
        Try again
      </Button>
    </div>
  )
}
