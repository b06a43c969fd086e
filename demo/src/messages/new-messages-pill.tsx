import { ArrowDown } from 'lucide-react'
import styles from './message-list.module.css'

/** Leads back to the end, and counts what has come there meanwhile. */
export function NewMessagesPill({ count, go }: { count: number; go(): void }) {
  const words = count === 1 ? '1 new message' : `${count} new messages`
  return (
    <button
      type="button"
      className={styles.pill}
      onClick={go}
      aria-label={count > 0 ? undefined : 'To the latest message'}
    >
      <ArrowDown size={16} aria-hidden />
      {count > 0 && words}
    </button>
  )
}
