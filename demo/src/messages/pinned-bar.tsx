import { Pin } from 'lucide-react'
import { useStore } from '../state/use-store.ts'
import { senderOf, summaryOf } from './content.ts'
import styles from './pinned-bar.module.css'
import { useTalk } from './talk.tsx'

/** What was pinned last; leads to it. */
export function PinnedBar() {
  const { conversation, show } = useTalk()
  const [latest] = useStore(conversation.pinned).items
  if (!latest) return null
  return (
    <button type="button" className={styles.bar} onClick={() => show(latest.id)}>
      <Pin size={14} aria-label="Pinned" />
      <bdi className={styles.name}>{senderOf(latest).name}</bdi>
      <span className={styles.text} dir="auto">
        {summaryOf(latest)}
      </span>
    </button>
  )
}
