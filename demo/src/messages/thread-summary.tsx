import type { Message } from '@parley/sdk/api'
import { MessagesSquare } from 'lucide-react'
import { goTo } from '../state/address.ts'
import { useTabIndex } from './inside.ts'
import { useTalk } from './talk.tsx'
import styles from './thread-summary.module.css'

/** How many have replied; leads to their thread. */
export function ThreadSummary({ message }: { message: Message }) {
  const { conversation, thread } = useTalk()
  const tabIndex = useTabIndex()
  const { id, replyCount = 0, unreadRepliesCount = 0 } = message
  if (replyCount === 0 || thread !== undefined) return null
  return (
    <button
      type="button"
      className={styles.summary}
      tabIndex={tabIndex}
      onClick={() => goTo({ to: conversation.to, panel: { kind: 'thread', id } })}
    >
      <MessagesSquare size={14} aria-hidden />
      {replyCount === 1 ? '1 reply' : `${replyCount} replies`}
      {unreadRepliesCount > 0 && <span className={styles.unread}>{unreadRepliesCount} new</span>}
    </button>
  )
}
